use super::*;
use crate::entry::{
    BranchSummary, Compaction, Custom, CustomMessageEntry, ModelChange, TextOrPieces, ThinkingLevelChange,
};
use crate::message::AssistantMessage;

fn entry(id: &str, kind: EntryKind) -> Arc<Entry> {
    let timestamp = "2026-01-02T03:04:05.678Z".to_owned();
    Arc::new(Entry { id: EntryId::new(id), parent_id: None, timestamp, kind })
}

fn message(id: &str) -> Arc<Entry> {
    entry(id, EntryKind::message(Arc::new(Message::user(id))))
}

fn compaction(id: &str, summary: &str, first_kept: &str) -> Arc<Entry> {
    entry(
        id,
        EntryKind::Compaction(Compaction {
            summary: summary.into(),
            first_kept_entry_id: EntryId::new(first_kept),
            tokens_before: 1,
            details: None,
            from_hook: None,
            messages: None,
        }),
    )
}

fn context(branch: &[Arc<Entry>]) -> SessionContext {
    SessionContext::of_branch(&branch.iter().collect::<Vec<_>>())
}

fn texts(context: &SessionContext) -> Vec<String> {
    context.messages.iter().map(|message| message.text()).collect()
}

fn bash(output: &str) -> BashExecution {
    BashExecution {
        command: "ls".into(),
        output: output.into(),
        exit_code: Some(0),
        cancelled: false,
        truncated: false,
        full_output_path: None,
        exclude_from_context: false,
        timestamp: 7,
    }
}

// 001-002, 001-003, 001-035, 001-036
#[test]
fn the_last_settings_on_the_branch_count() {
    let level = |id, level: &str| {
        entry(id, EntryKind::ThinkingLevelChange(ThinkingLevelChange { thinking_level: level.into() }))
    };
    let model = |id, model: &str| {
        let change = ModelChange { provider: "p".into(), model_id: model.into() };
        entry(id, EntryKind::ModelChange(change))
    };
    let context = context(&[level("a", "low"), model("b", "one"), level("c", "high"), model("d", "two")]);
    assert_eq!(context.thinking, Some(ThinkingLevel::High));
    assert_eq!(context.model.unwrap().model_id, "two");
    assert!(context.messages.is_empty());
}

#[test]
fn a_level_that_is_not_known_leaves_the_one_before_it() {
    let level = |id, level: &str| {
        entry(id, EntryKind::ThinkingLevelChange(ThinkingLevelChange { thinking_level: level.into() }))
    };
    assert_eq!(context(&[level("a", "low"), level("b", "galactic")]).thinking, Some(ThinkingLevel::Low));
}

#[test]
fn an_answer_says_which_model_the_branch_was_continued_with() {
    let answer = AssistantMessage { provider: "p".into(), model: "m".into(), ..AssistantMessage::default() };
    let answered = entry("a", EntryKind::message(Arc::new(Message::Assistant(answer))));
    let model = context(&[answered]).model.unwrap();
    assert_eq!((model.provider.as_str(), model.model_id.as_str()), ("p", "m"));
}

// 001-006, 001-007, 001-010, 001-033, 001-050: what is private stays private, what is contributed is shown.
#[test]
fn contributions_are_shown_unchanged_and_private_records_are_not() {
    let content =
        vec![Content::text("seen"), Content::Image { data: "AA==".into(), mime_type: "image/png".into() }];
    let contributed = entry(
        "b",
        EntryKind::CustomMessage(CustomMessageEntry {
            custom_type: "note".into(),
            content: TextOrPieces::Pieces(content.clone()),
            display: false,
            details: None,
        }),
    );
    let private = entry("c", EntryKind::Custom(Custom { custom_type: "state".into(), data: None }));
    let context = context(&[message("a"), contributed, private]);
    assert_eq!(context.sources, [EntryId::new("a"), EntryId::new("b")]);
    let Message::Custom(custom) = context.messages[1].as_ref() else { panic!("{context:?}") };
    assert_eq!(custom.to_user().content, content);
    assert_eq!(custom.timestamp, 1_767_323_045_678);
}

// 001-011, 001-012, 001-013, 001-014, 001-015
#[test]
fn a_shell_command_reads_as_what_was_run_and_what_came_of_it() {
    assert_eq!(bash("hi").to_text(), "Ran `ls`\n```\nhi\n```");
    assert_eq!(bash("hi\n").to_text(), "Ran `ls`\n```\nhi\n```");
    assert_eq!(bash("").to_text(), "Ran `ls`\n(no output)");
    let failed = BashExecution { exit_code: Some(2), ..bash("x") };
    assert_eq!(failed.to_text(), "Ran `ls`\n```\nx\n```\n\nCommand exited with code 2");
    let cancelled = BashExecution { cancelled: true, ..failed };
    assert_eq!(cancelled.to_text(), "Ran `ls`\n```\nx\n```\n\n(command cancelled)");
    let cut = BashExecution { truncated: true, ..bash("x") };
    assert_eq!(cut.to_text(), "Ran `ls`\n```\nx\n```\n\n[Output truncated]");
    let kept = BashExecution { full_output_path: Some("/o.log".into()), ..cut };
    assert_eq!(kept.to_text(), "Ran `ls`\n```\nx\n```\n\n[Output truncated. Full output: /o.log]");
}

// 001-016
#[test]
fn output_cannot_end_its_own_fence() {
    for output in ["a\n```\nb", "````", "`x`", "``` \n`````\n"] {
        let text = bash(output).to_text();
        let (_, fenced) = text.split_once('\n').unwrap();
        let (fence, rest) = fenced.split_once('\n').unwrap();
        let end = format!("\n{fence}");
        let (inside, after) = rest.split_at(rest.find(&end).unwrap());
        assert_eq!((inside, after), (output.trim_end_matches('\n'), end.as_str()), "{text}");
    }
}

// 001-017
#[test]
fn an_excluded_shell_command_is_not_shown() {
    let ran = |id, exclude_from_context| {
        let bash = BashExecution { exclude_from_context, ..bash("hi") };
        entry(id, EntryKind::Message(MessageEntry { message: MessageBody::Bash(bash) }))
    };
    let context = context(&[ran("a", true), ran("b", false)]);
    assert_eq!(context.sources, [EntryId::new("b")]);
}

// 001-018, 001-019, 001-043, 001-044, 001-170, 001-171
#[test]
fn summaries_stand_for_what_they_summarize() {
    let summary = |id, summary: &str| {
        let (from_id, summary) = ("x".into(), summary.into());
        entry(
            id,
            EntryKind::BranchSummary(BranchSummary { from_id, summary, details: None, from_hook: None }),
        )
    };
    let branch =
        [message("a"), message("b"), compaction("c", "so far", "b"), summary("d", "elsewhere"), message("e")];
    let context = context(&branch);
    assert_eq!(
        texts(&context),
        [
            "The conversation history before this point was compacted into the following summary:\n\n<summary>\nso \
             far\n</summary>",
            "b",
            "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n\
             elsewhere</summary>",
            "e",
        ]
    );
    assert_eq!(context.sources, ["c", "b", "d", "e"].map(EntryId::new));
}

// 001-045
#[test]
fn of_two_compactions_the_newest_counts() {
    let branch = [
        message("a"),
        compaction("c1", "one", "a"),
        message("b"),
        compaction("c2", "two", "b"),
        message("d"),
    ];
    let context = context(&branch);
    assert!(texts(&context)[0].contains("two"));
    assert_eq!(context.sources, ["c2", "b", "d"].map(EntryId::new));
}

#[test]
fn an_entry_that_is_not_on_the_branch_keeps_nothing() {
    let context = context(&[message("a"), compaction("c", "all", "c"), message("b")]);
    assert_eq!(context.sources, ["c", "b"].map(EntryId::new));
}

#[test]
fn a_context_says_how_much_of_it_the_last_compaction_left() {
    let branch = [message("one"), message("two"), compaction("c", "s", "two"), message("three")];
    assert_eq!(context(&branch).compacted, 2);
    assert_eq!(context(&branch[..2]).compacted, 0);
    assert_eq!(context(&branch[..3]).compacted, 2);
}

#[test]
fn messages_of_an_extension_take_the_place_of_the_summary() {
    let mut kept = compaction("c", "text for others", "a");
    let kind = &mut Arc::get_mut(&mut kept).unwrap().kind;
    let EntryKind::Compaction(compaction) = kind else { unreachable!() };
    compaction.messages = Some(vec![Message::user("one"), Message::user("two")]);
    let context = context(&[message("a"), kept, message("b")]);
    assert_eq!(texts(&context), ["one", "two", "a", "b"]);
    assert_eq!(context.sources, ["c", "c", "a", "b"].map(EntryId::new));
}
