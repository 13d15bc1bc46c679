use super::*;
use capstan_ports::message::Usage;
use serde_json::json;

fn answer() -> AssistantMessage {
    AssistantMessage {
        content: vec![
            Content::Thinking {
                thinking: "hm".to_owned(),
                thinking_signature: Some("proof".to_owned()),
                redacted: false,
            },
            Content::text("I look."),
            Content::ToolCall(ToolCall {
                id: "c1".to_owned(),
                name: "read".to_owned(),
                arguments: json!({"path": "a"}),
                malformed: None,
            }),
        ],
        provider: "p".to_owned(),
        usage: Usage { input: 7, ..Usage::default() },
        stop_reason: StopReason::ToolUse,
        timestamp: 5,
        ..AssistantMessage::default()
    }
}

fn conversation() -> Vec<Arc<Message>> {
    let result = ToolResultMessage {
        tool_call_id: "c1".to_owned(),
        tool_name: "read".to_owned(),
        content: vec![Content::text("secret")],
        details: Some(json!({"lines": 1})),
        is_error: true,
        timestamp: 6,
    };
    [Message::user("go"), Message::Assistant(answer()), Message::ToolResult(result)].map(Arc::new).to_vec()
}

#[test]
fn untouched_messages_stay_the_very_same() {
    let given = conversation();
    let forms: Vec<_> = given.iter().map(|message| message_to_guest(message)).collect();
    let back = messages_from_guest(forms, &given).unwrap();
    assert!(back.iter().zip(&given).all(|(back, given)| Arc::ptr_eq(back, given)));
}

#[test]
fn a_changed_message_keeps_what_the_contract_has_no_word_for() {
    let given = conversation();
    let mut forms: Vec<_> = given.iter().map(|message| message_to_guest(message)).collect();
    forms[1].content.truncate(1);
    forms[2].content = vec![types::Content::Text("[redacted]".to_owned())];
    let back = messages_from_guest(forms, &given).unwrap();
    assert!(Arc::ptr_eq(&back[0], &given[0]));
    let Message::Assistant(changed) = &*back[1] else { panic!("an answer") };
    assert_eq!((changed.provider.as_str(), changed.usage.input, changed.timestamp), ("p", 7, 5));
    assert_eq!(changed.content[0], answer().content[0], "the proof of origin stays with the thinking");
    let Message::ToolResult(result) = &*back[2] else { panic!("a result") };
    assert_eq!(result.content, [Content::text("[redacted]")]);
    assert!(result.is_error && result.details.is_some());
}

#[test]
fn dropped_and_new_messages_are_taken_as_they_are() {
    let given = conversation();
    let forms = vec![message_to_guest(&Message::user("new")), message_to_guest(&given[0])];
    let back = messages_from_guest(forms, &given).unwrap();
    assert_eq!((back[0].text().as_str(), back.len()), ("new", 2));
    assert!(Arc::ptr_eq(&back[1], &given[0]));
}

#[test]
fn what_makes_no_message_is_garbage() {
    let mut system = message_to_guest(&Message::user("x"));
    system.role = types::Role::System;
    let mut orphan = message_to_guest(&Message::user("x"));
    orphan.role = types::Role::Tool;
    let mut broken = message_to_guest(&Message::Assistant(answer()));
    broken.tool_calls[0].arguments = "{".to_owned();
    for message in [system, orphan, broken] {
        assert!(matches!(messages_from_guest(vec![message], &[]), Err(CallError::Garbage { .. })));
    }
}
