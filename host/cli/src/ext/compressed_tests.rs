use super::*;

#[test]
fn a_message_is_written_as_it_is_read() {
    for written in [
        json!("hello"),
        json!({"role": "assistant", "content": "hi", "stopReason": "stop"}),
        json!({
            "role": "assistant", "stopReason": "toolUse",
            "content": [{"type": "toolCall", "id": "1", "name": "read", "arguments": {}}],
        }),
        json!({"role": "toolResult", "toolCallId": "1", "toolName": "read", "content": "text", "isError": false}),
    ] {
        let read = message(written.clone()).unwrap();
        assert_eq!(brief(&read).unwrap(), written);
    }
    // What nobody wants to write each time.
    for short in [
        json!({"role": "assistant", "content": "hi"}),
        json!({"role": "toolResult", "toolCallId": "1", "toolName": "read", "content": "text"}),
        json!({"role": "user", "content": "hello"}),
    ] {
        message(short).unwrap();
    }
    message(json!({"role": "assistant"})).unwrap_err();
}

#[test]
fn actions_say_what_they_are() {
    let one = || vec![Arc::new(Message::user("kept"))];
    assert_eq!(written(&CompressAction::None).unwrap(), json!({"action": "none"}));
    assert_eq!(
        written(&CompressAction::Replace(one())).unwrap(),
        json!({"action": "replace", "messages": ["kept"]})
    );
    let summarize = CompressAction::Summarize { first_kept: 2, instructions: "names".into() };
    assert_eq!(
        written(&summarize).unwrap(),
        json!({"action": "summarize", "first_kept": 2, "instructions": "names"})
    );
    let moved = CompressAction::NewSession {
        messages: one(),
        session_id: Some(capstan_ports::session::SessionId::new("next")),
    };
    assert_eq!(
        written(&moved).unwrap(),
        json!({"action": "new-session", "messages": ["kept"], "session_id": "next"})
    );
}
