use super::*;
use capstan_ports::SessionLog;
use capstan_ports::message::{AssistantMessage, Content, ToolCall, Usage};
use capstan_session::MemorySession;
use serde_json::json;

#[tokio::test]
async fn everything_counts_also_what_is_on_other_branches() {
    let session = MemorySession::new(Path::new("/work"));
    let call = ToolCall { id: "1".into(), name: "read".into(), arguments: json!({}), malformed: None };
    let mut answer = AssistantMessage {
        content: vec![Content::ToolCall(call)],
        usage: Usage { input: 3, output: 5, cache_read: 7, cache_write: 11, ..Usage::default() },
        ..AssistantMessage::default()
    };
    answer.usage.cost.total = 0.25;
    for _ in 0..2 {
        session.branch(None).unwrap();
        session.append_message(Arc::new(Message::user("go"))).await.unwrap();
        session.append_message(Arc::new(Message::Assistant(answer.clone()))).await.unwrap();
    }
    let expected = Counts {
        user: 2,
        assistant: 2,
        calls: 2,
        results: 0,
        input: 6,
        output: 10,
        cache_read: 14,
        cache_write: 22,
        cost: 0.5,
    };
    assert_eq!(Counts::of(&session.entries()), expected);
}
