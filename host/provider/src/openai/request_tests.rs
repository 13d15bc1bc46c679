use super::*;
use capstan_ports::{Execution, SessionId, StopReason, ToolCall, ToolResultMessage};
use std::sync::Arc;

fn info(images: bool) -> ModelInfo {
    ModelInfo {
        provider: "p".into(),
        api: "openai-completions".into(),
        id: "m".into(),
        context_window: 1000,
        max_output_tokens: 100,
        accepts_images: images,
    }
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: String::new(),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::new([]),
        thinking: ThinkingLevel::Off,
        max_output_tokens: None,
        ..ModelRequest::default()
    }
}

fn sent(messages: Vec<Message>, images: bool) -> Value {
    body(&info(images), false, &request(messages))["messages"].take()
}

fn user(content: Vec<Content>) -> Message {
    Message::User(capstan_ports::message::UserMessage { content, timestamp: 0 })
}

fn image() -> Content {
    Content::Image { data: "QUJD".into(), mime_type: "image/png".into() }
}

fn call(id: &str, arguments: Value) -> Content {
    Content::ToolCall(ToolCall { id: id.into(), name: "t".into(), arguments, malformed: None })
}

fn own(content: Vec<Content>) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        provider: "p".into(),
        model: "m".into(),
        api: "openai-completions".into(),
        stop_reason: StopReason::ToolUse,
        ..AssistantMessage::default()
    })
}

fn result(id: &str, content: Vec<Content>) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "t".into(),
        content,
        details: Some(json!({"secret": true})),
        is_error: false,
        timestamp: 0,
    })
}

fn thinking(signature: Option<&str>) -> Content {
    Content::Thinking {
        thinking: "hm".into(),
        thinking_signature: signature.map(str::to_owned),
        redacted: false,
    }
}

#[test]
fn a_plain_request_holds_only_what_is_set() {
    let got = body(&info(true), true, &request(vec![Message::user("hi")]));
    let wanted = json!({
        "model": "m", "messages": [{"role": "user", "content": "hi"}],
        "stream": true, "stream_options": {"include_usage": true},
    });
    assert_eq!(got, wanted);
}

#[test]
fn limit_and_cache_key_go_by_the_names_that_each_server_knows() {
    let request = ModelRequest {
        max_output_tokens: Some(9),
        session_id: Some(SessionId::new("s")),
        system: "sys".into(),
        tools: Arc::new([ToolDefinition {
            name: "t".into(),
            label: "L".into(),
            description: "d".into(),
            parameters: json!({"type": "object"}),
            execution: Execution::Sequential,
        }]),
        ..request(vec![])
    };
    let vendor = body(&info(true), true, &request);
    assert_eq!((&vendor["max_completion_tokens"], &vendor["prompt_cache_key"]), (&json!(9), &json!("s")));
    assert_eq!(vendor["max_tokens"], Value::Null);
    let other = body(&info(true), false, &request);
    assert_eq!((&other["max_tokens"], &other["prompt_cache_key"]), (&json!(9), &Value::Null));
    assert_eq!(other["messages"][0], json!({"role": "system", "content": "sys"}));
    let tool = json!({"type": "function", "function": {"name": "t", "description": "d", "parameters": {"type": "object"}}});
    assert_eq!(other["tools"], json!([tool]));
}

// 000-072
#[test]
fn off_sends_no_reasoning_option_and_each_level_its_own() {
    use ThinkingLevel::{High, Low, Medium, Minimal, Off, XHigh};
    let efforts = [Off, Minimal, Low, Medium, High, XHigh].map(|thinking| {
        body(&info(true), false, &ModelRequest { thinking, ..request(vec![]) })
            .get("reasoning_effort")
            .cloned()
    });
    let wanted = [None, Some("minimal"), Some("low"), Some("medium"), Some("high"), Some("xhigh")];
    assert_eq!(efforts, wanted.map(|word| word.map(Value::from)));
}

// 000-103
#[test]
fn an_image_reaches_a_model_that_sees_and_a_placeholder_one_that_does_not() {
    let prompt = || vec![user(vec![Content::text("look"), image()])];
    let url = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}});
    assert_eq!(sent(prompt(), true)[0]["content"], json!([{"type": "text", "text": "look"}, url]));
    assert_eq!(sent(prompt(), false)[0]["content"][1], json!({"type": "text", "text": IMAGE_OMITTED}));
}

#[test]
fn images_of_results_follow_the_whole_batch_in_a_user_message() {
    let messages = vec![
        Message::user("go"),
        own(vec![call("a", json!({})), call("b", json!({}))]),
        result("a", vec![Content::text("shot"), image()]),
        result("b", vec![]),
        Message::user("next"),
    ];
    let got = sent(messages.clone(), true);
    let roles: Vec<_> =
        got.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user", "user"]);
    assert_eq!((&got[2]["content"], &got[3]["content"]), (&json!("shot"), &json!(NO_CONTENT)));
    assert_eq!(got[4]["content"][1]["type"], "image_url");
    let blind = sent(messages, false);
    assert_eq!(blind.as_array().unwrap().len(), 5);
    assert_eq!(blind[2]["content"], format!("shot\n{IMAGE_OMITTED}"));
}

// 000-166
#[test]
fn calls_and_results_keep_their_pairing_and_details_stay_home() {
    let messages = vec![
        Message::user("go"),
        own(vec![Content::text("a"), call("x|1", json!({"k": [1]})), Content::text("b")]),
        result("x|1", vec![Content::text("r")]),
    ];
    let got = sent(messages, true);
    assert_eq!(got[1]["content"], "ab");
    let sent_call = &got[1]["tool_calls"][0];
    assert_eq!(sent_call["function"], json!({"name": "t", "arguments": "{\"k\":[1]}"}));
    assert_eq!(sent_call["id"], got[2]["tool_call_id"]);
    assert!(!got.to_string().contains("secret"));
}

#[test]
fn thinking_goes_back_only_to_its_model_and_only_inside_the_turn() {
    let turn = |signature| own(vec![thinking(signature), call("a", json!({}))]);
    let done = || result("a", vec![]);
    let inside = sent(vec![Message::user("go"), turn(Some("reasoning_content")), done()], true);
    assert_eq!(inside[1]["reasoning_content"], "hm");
    let earlier = vec![Message::user("go"), turn(Some("reasoning_content")), done(), Message::user("next")];
    let foreign_signature = vec![Message::user("go"), turn(Some("c2lnbmF0dXJl")), done()];
    let mut foreign = vec![Message::user("go"), turn(Some("reasoning_content")), done()];
    if let Message::Assistant(message) = &mut foreign[1] {
        message.model = "other".into();
    }
    for messages in [earlier, foreign_signature, foreign] {
        assert!(!sent(messages, true).to_string().contains("hm"));
    }
}

#[test]
fn an_answer_of_which_nothing_can_be_sent_is_left_out() {
    let got = sent(vec![Message::user("go"), own(vec![thinking(None)]), Message::user("on")], true);
    assert_eq!(got.as_array().unwrap().len(), 2);
}

fn with_tool(choice: ToolChoice) -> ModelRequest {
    let tool = ToolDefinition {
        name: "t".into(),
        label: "L".into(),
        description: "d".into(),
        parameters: json!({"type": "object"}),
        execution: Execution::Parallel,
    };
    ModelRequest { tools: Arc::new([tool]), tool_choice: choice, ..request(vec![]) }
}

// 003-005, 003-007
#[test]
fn temperature_and_tool_choice_are_sent_where_they_say_something() {
    use ToolChoice::{Auto, NamedTool, NoTool, Required};
    let choices = [Auto, NoTool, Required, NamedTool("t".into())]
        .map(|choice| body(&info(true), false, &with_tool(choice)).get("tool_choice").cloned());
    let named = json!({"type": "function", "function": {"name": "t"}});
    assert_eq!(choices, [None, Some("none".into()), Some("required".into()), Some(named)]);
    let without_tools = ModelRequest { tool_choice: Required, ..request(vec![]) };
    assert_eq!(body(&info(true), false, &without_tools).get("tool_choice"), None);

    let warm = |temperature| {
        let request = ModelRequest { temperature, ..request(vec![]) };
        body(&info(true), false, &request).get("temperature").cloned()
    };
    assert_eq!(warm(None), None);
    assert_eq!(warm(Some(f32::NAN)), None);
    assert_eq!(warm(Some(0.7)).unwrap().to_string(), "0.7");
}

// 000-160, 000-168
#[test]
fn a_custom_message_counts_as_the_users_and_an_unknown_transport_is_ignored() {
    let custom = capstan_ports::CustomMessage {
        display: false,
        details: Some(json!({"secret": true})),
        ..capstan_ports::CustomMessage::new("note", "hello")
    };
    assert_eq!(sent(vec![Message::Custom(custom)], true), json!([{"role": "user", "content": "hello"}]));
    let carried = ModelRequest { transport: Some("pigeon".into()), ..request(vec![]) };
    assert_eq!(body(&info(true), true, &carried), body(&info(true), true, &request(vec![])));
}
