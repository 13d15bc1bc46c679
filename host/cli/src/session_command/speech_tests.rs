use super::*;
use capstan_ports::EntryId;
use capstan_ports::entry::{BranchSummary, Custom, Label, SessionInfo};
use capstan_ports::message::{AssistantMessage, ToolResultMessage};
use serde_json::json;
use std::sync::Arc;

fn entry(kind: EntryKind) -> Entry {
    Entry { id: EntryId::new("e"), parent_id: None, timestamp: String::new(), kind }
}

fn bash(change: impl FnOnce(&mut BashExecution)) -> Entry {
    let mut bash = BashExecution {
        command: "make\ntest".into(),
        output: String::new(),
        exit_code: Some(0),
        cancelled: false,
        truncated: false,
        full_output_path: None,
        exclude_from_context: false,
        timestamp: 0,
    };
    change(&mut bash);
    entry(EntryKind::Message(MessageEntry { message: MessageBody::Bash(bash) }))
}

fn remarks(entry: &Entry) -> Vec<String> {
    let pieces = of(entry).unwrap().pieces;
    pieces
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Remark(text) => Some(text),
            _ => None,
        })
        .collect()
}

#[test]
fn how_a_command_ended_is_said() {
    assert!(remarks(&bash(|_| {})).is_empty());
    assert_eq!(remarks(&bash(|bash| bash.exit_code = Some(2))), ["It ended with exit code 2."]);
    let all = bash(|bash| {
        bash.cancelled = true;
        bash.exit_code = Some(1);
        bash.truncated = true;
        bash.full_output_path = Some("/tmp/all".into());
        bash.exclude_from_context = true;
    });
    let remarks = remarks(&all);
    assert_eq!(remarks.len(), 3);
    assert!(remarks[1].contains("/tmp/all"), "{remarks:?}");
}

#[test]
fn why_an_answer_broke_off_is_said() {
    for (stop_reason, error_message, expected) in [
        (StopReason::Error, Some("overloaded"), "The request failed: overloaded"),
        (StopReason::Aborted, None, "It was stopped."),
        (StopReason::Length, None, "It ran into the limit of its length."),
    ] {
        let error_message = error_message.map(str::to_owned);
        let answer = AssistantMessage { stop_reason, error_message, ..AssistantMessage::default() };
        let entry = entry(EntryKind::message(Arc::new(Message::Assistant(answer))));
        assert_eq!(remarks(&entry), [expected]);
    }
}

#[test]
fn a_failed_tool_is_told_from_one_that_did_its_work() {
    for (is_error, who, title) in [(true, Who::FailedTool, "read failed"), (false, Who::Tool, "read")] {
        let result = ToolResultMessage {
            tool_call_id: "c".into(),
            tool_name: "read".into(),
            content: vec![Content::text("x")],
            details: Some(json!({"not": "shown"})),
            is_error,
            timestamp: 0,
        };
        let entry = entry(EntryKind::message(Arc::new(Message::ToolResult(result))));
        let speech = of(&entry).unwrap();
        assert_eq!((speech.who, speech.title.as_ref()), (who, title));
        assert_eq!(speech.pieces, [Piece::Output("x".into())]);
    }
}

#[test]
fn calls_that_were_not_complete_are_shown_as_the_model_wrote_them() {
    let call = ToolCall {
        id: "c".into(),
        name: "bash".into(),
        arguments: json!({}),
        malformed: Some("{\"command\": \"rm".into()),
    };
    let answer = AssistantMessage { content: vec![Content::ToolCall(call)], ..AssistantMessage::default() };
    let entry = entry(EntryKind::message(Arc::new(Message::Assistant(answer))));
    let (who, text) = in_short(&entry);
    assert_eq!(who, "assistant");
    assert!(text.starts_with("bash {\"command\": \"rm"), "{text}");
}

#[test]
fn every_entry_has_a_line_and_only_what_is_said_is_part_of_the_conversation() {
    let id = EntryId::new("t");
    for (kind, who, text, is_said) in [
        (EntryKind::Custom(Custom { custom_type: "mine".into(), data: None }), "record", "mine", false),
        (
            EntryKind::Label(Label { target_id: id.clone(), label: Some("here".into()) }),
            "label",
            "here on t",
            false,
        ),
        (EntryKind::Label(Label { target_id: id, label: None }), "label", "(removed) on t", false),
        (EntryKind::SessionInfo(SessionInfo { name: None }), "name", "(removed)", false),
        (
            EntryKind::BranchSummary(BranchSummary {
                from_id: "root".into(),
                summary: "\n went".into(),
                details: None,
                from_hook: None,
            }),
            "summary of a branch that was left",
            "went",
            true,
        ),
        (
            EntryKind::Unknown(json!({"type": "new"})),
            "entry of an unknown kind (new)",
            "{\n  \"type\": \"new\"\n}",
            true,
        ),
    ] {
        let entry = entry(kind);
        assert_eq!(in_short(&entry), (who.to_owned(), text.to_owned()));
        assert_eq!(of(&entry).is_some(), is_said);
    }
    assert_eq!(in_short(&bash(|_| {})).1, "$ make test");
}
