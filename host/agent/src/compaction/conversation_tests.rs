use super::*;
use crate::compaction::talk_tests::result;
use crate::scripted_tests::{assistant, call, user};
use capstan_ports::message::UserMessage;
use capstan_ports::{CustomMessage, StopReason};
use serde_json::json;

fn thought_and_called() -> Arc<Message> {
    let thinking = |text: &str| Content::Thinking {
        thinking: text.into(),
        thinking_signature: Some("sig".into()),
        redacted: false,
    };
    let content = vec![
        thinking("first"),
        Content::text("Let me look."),
        thinking("second"),
        Content::ToolCall(call("a", "read", json!({"limit": 5, "path": "a.rs"}))),
        Content::ToolCall(call("b", "ls", json!({}))),
    ];
    Arc::new(assistant(content, StopReason::ToolUse).into())
}

// 001-150: the form in which a conversation is summarized.
#[test]
fn every_part_of_a_conversation_has_its_mark() {
    let note = Arc::new(Message::Custom(CustomMessage::new("note", "from outside")));
    let messages = [user("please"), note, thought_and_called(), result("a", "fn main".into())];
    assert_eq!(
        written(&messages, MAX_RESULT_CHARS),
        "[User]: please\n\n\
         [User]: from outside\n\n\
         [Assistant thinking]: first\nsecond\n\n\
         [Assistant]: Let me look.\n\n\
         [Assistant tool calls]: read(limit=5, path=\"a.rs\"); ls()\n\n\
         [Tool result]: fn main"
    );
}

#[test]
fn long_results_are_cut_with_a_note_and_pictures_are_named() {
    let text = written(&[result("a", "é".repeat(2010))], MAX_RESULT_CHARS);
    assert_eq!(text, format!("[Tool result]: {}\n\n[... 10 more characters]", "é".repeat(2000)));
    let picture = Content::Image { data: "aGk=".into(), mime_type: "image/png".into() };
    let shown = Message::User(UserMessage { content: vec![Content::text("see"), picture], timestamp: 0 });
    assert_eq!(written(&[Arc::new(shown)], 9), "[User]: see\n[pictures: 1]");
}

#[test]
fn what_does_not_fit_loses_results_first_and_then_its_middle() {
    let messages = [user("please"), result("a", "r".repeat(5000)), user("thanks")];
    let tight = fitting(&messages, 600);
    assert!(tight.contains("[... 4600 more characters]") && tight.ends_with("[User]: thanks"), "{tight}");
    let tighter = fitting(&messages, 80);
    assert!(tighter.starts_with("[User]: please") && tighter.ends_with("[User]: thanks"), "{tighter}");
    assert!(tighter.contains("characters left out ...]"), "{tighter}");
}
