use super::*;
use capstan_ports::EntryId;
use capstan_ports::entry::{BashExecution, BranchSummary, Compaction, Label};
use capstan_ports::message::{AssistantMessage, Content, ToolCall, ToolResultMessage};

fn branch(kinds: impl IntoIterator<Item = EntryKind>) -> Vec<Arc<Entry>> {
    let entry = |(n, kind)| {
        let parent = (n > 0).then(|| EntryId::new(format!("e{}", n - 1)));
        let timestamp = "1970-01-01T00:00:05.000Z".to_owned();
        Arc::new(Entry { id: EntryId::new(format!("e{n}")), parent_id: parent, timestamp, kind })
    };
    kinds.into_iter().enumerate().map(entry).collect()
}

fn said(message: Message) -> EntryKind {
    EntryKind::message(Arc::new(message))
}

fn answer(content: Vec<Content>, usage: Usage) -> EntryKind {
    said(Message::Assistant(AssistantMessage { content, usage, ..AssistantMessage::default() }))
}

fn bash() -> EntryKind {
    let bash = BashExecution {
        command: "ls".into(),
        output: "a\n".into(),
        exit_code: Some(0),
        cancelled: false,
        truncated: false,
        full_output_path: None,
        exclude_from_context: true,
        timestamp: 3,
    };
    EntryKind::Message(MessageEntry { message: MessageBody::Bash(bash) })
}

fn compaction(first_kept: &str) -> EntryKind {
    EntryKind::Compaction(Compaction {
        summary: "so far".into(),
        first_kept_entry_id: EntryId::new(first_kept),
        tokens_before: 9,
        details: None,
        from_hook: None,
        messages: None,
    })
}

fn roles(path: &[Arc<Entry>]) -> Vec<String> {
    let role = |entry: &Arc<Entry>| message(entry).unwrap()["role"].as_str().unwrap().to_owned();
    shown(path).into_iter().map(role).collect()
}

#[test]
fn a_client_sees_messages_commands_and_summaries_but_no_records() {
    let label = EntryKind::Label(Label { target_id: EntryId::new("e0"), label: Some("x".into()) });
    let summary = EntryKind::BranchSummary(BranchSummary {
        from_id: "e0".into(),
        summary: "tried".into(),
        details: None,
        from_hook: None,
    });
    let path = branch([said(Message::user("hi")), label, bash(), summary]);
    assert_eq!(roles(&path), ["user", "bashExecution", "branchSummary"]);
    let summary = message(&path[3]).unwrap();
    assert_eq!(
        summary,
        json!({"role": "branchSummary", "summary": "tried", "fromId": "e0", "timestamp": 5000})
    );
}

#[test]
fn after_a_compaction_the_summary_comes_first_and_then_what_was_kept() {
    let user = |text: &str| said(Message::user(text));
    let kinds = [user("a"), user("b"), compaction("e1"), user("c"), compaction("e3"), user("d")];
    let path = branch(kinds);
    assert_eq!(roles(&path[..4]), ["compactionSummary", "user", "user"]);
    assert_eq!(roles(&path), ["compactionSummary", "user", "user"]);
    let shown: Vec<_> = shown(&path).iter().map(|entry| entry.id.as_str().to_owned()).collect();
    assert_eq!(shown, ["e4", "e3", "e5"]);
    assert_eq!(message(&path[4]).unwrap()["tokensBefore"], 9);
}

#[test]
fn forks_begin_at_messages_of_the_user_also_before_a_compaction() {
    let path = branch([said(Message::user("a")), answer(vec![], Usage::default()), compaction("x"), bash()]);
    assert_eq!(fork_points(&path), [json!({"entryId": "e0", "text": "a"})]);
}

#[test]
fn the_last_text_is_that_of_the_last_answer() {
    assert_eq!(last_text(&[]), None);
    let said_ = |text| answer(vec![Content::text(text)], Usage::default());
    let path = branch([said_("one"), said_("two"), said(Message::user("x"))]);
    assert_eq!(last_text(&path).as_deref(), Some("two"));
}

#[test]
fn counts_are_of_the_whole_branch_and_the_context_of_its_last_answer() {
    let usage = Usage { input: 10, output: 5, cache_read: 3, cache_write: 2, ..Usage::default() };
    let call = ToolCall { id: "c".into(), name: "read".into(), arguments: json!({}), malformed: None };
    let result = Message::ToolResult(ToolResultMessage {
        tool_call_id: "c".into(),
        tool_name: "read".into(),
        content: vec![],
        details: None,
        is_error: false,
        timestamp: 0,
    });
    let mut kinds = vec![
        said(Message::user("a")),
        answer(vec![Content::ToolCall(call)], usage.clone()),
        said(result),
        bash(),
    ];
    let data = Counts::of(&branch(kinds.clone())).data(100);
    for (field, n) in [
        ("userMessages", 1),
        ("assistantMessages", 1),
        ("toolCalls", 1),
        ("toolResults", 1),
        ("totalMessages", 4),
    ] {
        assert_eq!(data[field], n, "{field}");
    }
    let tokens = json!({"input": 10, "output": 5, "cacheRead": 3, "cacheWrite": 2, "total": 20});
    assert_eq!(data["tokens"], tokens);
    assert_eq!(data["contextUsage"], json!({"tokens": 20, "contextWindow": 100, "percent": 20.0}));
    kinds.push(compaction("e1"));
    let data = Counts::of(&branch(kinds)).data(100);
    assert_eq!(data["contextUsage"], json!({"tokens": null, "contextWindow": 100, "percent": null}));
    assert_eq!(data["tokens"], tokens);
}
