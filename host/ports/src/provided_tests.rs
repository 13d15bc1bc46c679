use super::*;
use crate::message::{AssistantMessage, Content, text_of};
use serde_json::json;

fn call() -> ToolCall {
    ToolCall { id: "id".into(), name: "t".into(), arguments: json!({"a": {"b": [1, null]}}), malformed: None }
}

// 003-118, 003-119
#[test]
fn messages_of_results_and_errors_have_one_shape() {
    let good = build_tool_result_message(&call(), &ToolOutcome::text("done"));
    let bad = build_error_message(&call(), &RuntimeError::failed("broken"));
    for (message, text, is_error) in [(good, "done", false), (bad, "broken", true)] {
        let Message::ToolResult(result) = message else { panic!("another role") };
        assert_eq!((result.tool_call_id.as_str(), result.tool_name.as_str()), ("id", "t"));
        assert_eq!((result.content, result.is_error), (vec![Content::text(text)], is_error));
    }
}

// 003-131
#[test]
fn a_runtimes_error_keeps_its_cause_on_the_way_to_the_model() {
    let source = Some("wire cut".into());
    let error = ToolError::from(RuntimeError::Transport { message: "no answer".into(), source });
    assert_eq!(error.to_string(), "the tool could not be reached: no answer");
    let inner = std::error::Error::source(&error).and_then(|error| error.source());
    assert_eq!(inner.map(ToString::to_string).as_deref(), Some("wire cut"));
    assert_eq!(RuntimeError::UnknownTool { name: "x".into() }.to_string(), "Tool x not found");
}

// 003-040, 003-041, 003-042, 003-043, 003-044, 003-050
#[test]
fn the_core_types_survive_json() {
    let image = Content::Image { data: "aGk=".into(), mime_type: "image/png".into() };
    let answer = AssistantMessage {
        content: vec![Content::text("x"), Content::ToolCall(call())],
        ..AssistantMessage::default()
    };
    let mut user = Message::user("hello");
    assert_eq!((user.role(), user.content()), ("user", &[Content::text("hello")][..]));
    if let Message::User(user) = &mut user {
        user.content.push(image);
    }
    let result = build_tool_result_message(&call(), &ToolOutcome::text("done"));
    for message in [user, Message::Assistant(answer), result] {
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message);
    }
    let definition = ToolDefinition {
        name: "t".into(),
        label: "T".into(),
        description: "d".into(),
        parameters: json!({"type": "object", "x-own": [1.5, null]}),
        execution: crate::tool::Execution::Parallel,
    };
    let text = serde_json::to_string(&definition).unwrap();
    assert_eq!(serde_json::from_str::<ToolDefinition>(&text).unwrap(), definition);
    assert_eq!(text_of(&[Content::text("a"), Content::text("b")]), "ab");
}

// 000-002
#[test]
fn the_calls_of_an_answer_are_its_calls_in_order_and_nothing_else() {
    let thinking = Content::Thinking { thinking: "hm".into(), thinking_signature: None, redacted: false };
    let [a, b] = ["a", "b"].map(|id| Content::ToolCall(ToolCall { id: id.into(), ..call() }));
    let answer =
        AssistantMessage { content: vec![Content::text("x"), a, thinking, b], ..AssistantMessage::default() };
    let ids: Vec<&str> = answer.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!((ids, answer.reasoning().as_deref()), (vec!["a", "b"], Some("hm")));
}

// 000-160
#[test]
fn a_custom_message_has_the_json_form_of_pi() {
    let line = r#"{"role":"custom","customType":"note","content":"hello","display":false,"details":{"k":1},"timestamp":5}"#;
    let message: crate::Message = serde_json::from_str(line).unwrap();
    assert_eq!((message.role(), message.text().as_str()), ("custom", "hello"));
    let pieces = line.replace(r#""hello""#, r#"[{"type":"text","text":"hello"}]"#);
    assert_eq!(serde_json::to_string(&message).unwrap(), pieces);
    assert_eq!(serde_json::from_str::<crate::Message>(&pieces).unwrap(), message);
}
