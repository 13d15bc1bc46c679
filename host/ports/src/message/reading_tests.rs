use super::*;
use serde_json::json;

fn read<T: for<'de> Deserialize<'de>>(json: &Value) -> Result<T, serde_json::Error> {
    serde_json::from_str(&json.to_string())
}

#[test]
fn the_field_that_says_what_it_is_may_stand_anywhere() {
    let first = r#"{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":7}"#;
    let last = r#"{"timestamp":7,"content":[{"text":"hi","type":"text"}],"role":"user"}"#;
    let middle = r#"{"odd":[1.5,{}],"role":"user","content":"hi","timestamp":7}"#;
    let message: Message = serde_json::from_str(first).unwrap();
    assert_eq!(message.text(), "hi");
    for other in [last, middle] {
        assert_eq!(serde_json::from_str::<Message>(other).unwrap(), message, "{other}");
        assert_eq!(serde_json::from_value::<Message>(serde_json::from_str(other).unwrap()).unwrap(), message);
    }
}

#[test]
fn every_role_and_every_piece_is_read_as_it_is_written() {
    let image = Content::Image { data: "AA==".into(), mime_type: "image/png".into() };
    let thinking =
        Content::Thinking { thinking: String::new(), thinking_signature: Some("s".into()), redacted: true };
    let call = ToolCall { id: "c".into(), name: "t".into(), arguments: json!({"a": 1}), malformed: None };
    let answer = AssistantMessage {
        content: vec![thinking, Content::text("é\n"), Content::ToolCall(call)],
        error_message: Some("e".into()),
        ..AssistantMessage::default()
    };
    let result = ToolResultMessage {
        tool_call_id: "c".into(),
        tool_name: "t".into(),
        content: vec![image],
        details: Some(json!([1])),
        is_error: true,
        timestamp: 3,
    };
    for message in [
        Message::user("u"),
        Message::Assistant(answer),
        Message::ToolResult(result),
        Message::Custom(CustomMessage::new("note", "c")),
    ] {
        let json = serde_json::to_value(&message).unwrap();
        assert_eq!(read::<Message>(&json).unwrap(), message);
        assert_eq!(serde_json::from_value::<Message>(json).unwrap(), message);
    }
}

#[test]
fn what_is_not_known_or_not_whole_is_an_error() {
    for json in [
        json!({"role": "weather", "content": []}),
        json!({"content": "no role"}),
        json!({"role": "user"}),
        json!({"role": "user", "content": [{"type": "hologram"}]}),
        json!({"role": "user", "content": [{"text": "no type"}]}),
        json!({"role": "user", "content": 7}),
        json!({"role": "toolResult", "toolCallId": "c", "toolName": "t", "isError": false, "content": "text"}),
        json!({"content": [{"type": "hologram"}], "role": "user"}),
        json!(["user"]),
        json!("user"),
    ] {
        assert!(read::<Message>(&json).is_err(), "{json}");
    }
}
