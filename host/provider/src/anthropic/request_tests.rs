use super::*;
use capstan_ports::{Execution, StopReason, ToolCall};
use std::sync::Arc;

const STYLES: [ThinkingStyle; 3] =
    [ThinkingStyle::Budget, ThinkingStyle::AdaptiveToMax, ThinkingStyle::Adaptive];

fn info() -> ModelInfo {
    ModelInfo {
        provider: "p".into(),
        api: "anthropic-messages".into(),
        id: "m".into(),
        context_window: 200_000,
        max_output_tokens: 64_000,
        accepts_images: true,
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

fn sent(messages: Vec<Message>) -> Value {
    body(&info(), ThinkingStyle::Budget, &request(messages))["messages"].take()
}

fn assistant(model: &str, content: Vec<Content>) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        provider: "p".into(),
        model: model.into(),
        api: "anthropic-messages".into(),
        stop_reason: StopReason::ToolUse,
        ..AssistantMessage::default()
    })
}

fn call(id: &str) -> Content {
    Content::ToolCall(ToolCall {
        id: id.into(),
        name: "t".into(),
        arguments: json!({"a": 1}),
        malformed: None,
    })
}

fn thinking(signature: Option<&str>, redacted: bool) -> Content {
    Content::Thinking { thinking: "hm".into(), thinking_signature: signature.map(str::to_owned), redacted }
}

fn result(id: &str, content: Vec<Content>, is_error: bool) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "t".into(),
        content,
        details: Some(json!("secret")),
        is_error,
        timestamp: 0,
    })
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        label: "L".into(),
        description: "d".into(),
        parameters: json!({"type": "object"}),
        execution: Execution::Parallel,
    }
}

fn image() -> Content {
    Content::Image { data: "QUJD".into(), mime_type: "image/png".into() }
}

#[test]
fn a_plain_request_holds_only_what_is_set() {
    let got = body(&info(), ThinkingStyle::Budget, &request(vec![Message::user("hi")]));
    let block = json!({"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}});
    let wanted = json!({
        "model": "m", "max_tokens": 32_000, "stream": true,
        "messages": [{"role": "user", "content": [block]}],
    });
    assert_eq!(got, wanted);
}

#[test]
fn system_prompt_last_tool_and_last_user_block_are_marked_for_the_cache() {
    let messages = vec![
        Message::user("go"),
        assistant("m", vec![call("a"), call("b")]),
        result("a", vec![Content::text("1")], false),
        result("b", vec![Content::text("2")], true),
    ];
    let request =
        ModelRequest { system: "sys".into(), tools: Arc::new([tool("x"), tool("y")]), ..request(messages) };
    let got = body(&info(), ThinkingStyle::Budget, &request);
    let mark = json!({"type": "ephemeral"});
    assert_eq!(got["system"], json!([{"type": "text", "text": "sys", "cache_control": mark}]));
    assert_eq!(got["tools"][0], json!({"name": "x", "description": "d", "input_schema": {"type": "object"}}));
    assert_eq!(got["tools"][1]["cache_control"], mark);
    assert_eq!(got["messages"][2]["content"][1]["cache_control"], mark);
    assert_eq!(got.to_string().matches("cache_control").count(), 3);
}

// 000-166
#[test]
fn all_results_of_an_answer_stand_in_one_message_in_order_without_details() {
    let got = sent(vec![
        Message::user("go"),
        assistant("m", vec![Content::text("  "), call("a"), call("b")]),
        result("a", vec![Content::text("1"), image()], false),
        result("b", vec![Content::text("")], true),
        Message::user("steer"),
    ]);
    assert_eq!(got.as_array().unwrap().len(), 4);
    assert_eq!(got[1]["content"][0], json!({"type": "tool_use", "id": "a", "name": "t", "input": {"a": 1}}));
    let results = &got[2]["content"];
    assert_eq!((&results[0]["tool_use_id"], &results[0]["is_error"]), (&json!("a"), &json!(false)));
    assert_eq!(
        results[0]["content"][1]["source"],
        json!({"type": "base64", "media_type": "image/png", "data": "QUJD"})
    );
    assert_eq!((&results[1]["tool_use_id"], &results[1]["is_error"]), (&json!("b"), &json!(true)));
    assert_eq!(results[1]["content"], json!([{"type": "text", "text": NO_CONTENT}]));
    assert!(!got.to_string().contains("secret"));
}

// 000-103
#[test]
fn an_image_becomes_a_placeholder_for_a_model_that_does_not_see() {
    let message = Message::User(capstan_ports::message::UserMessage { content: vec![image()], timestamp: 0 });
    let blind = ModelInfo { accepts_images: false, ..info() };
    let got = body(&blind, ThinkingStyle::Budget, &request(vec![message]));
    assert_eq!(got["messages"][0]["content"][0]["text"], IMAGE_OMITTED);
}

#[test]
fn own_thinking_goes_back_as_it_came_and_other_thinking_not_at_all() {
    let pieces = || {
        vec![
            thinking(Some("sig"), false),
            thinking(Some("blob"), true),
            thinking(None, false),
            Content::text("a"),
        ]
    };
    let own = sent(vec![Message::user("go"), assistant("m", pieces())]);
    let wanted = json!([
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "blob"},
        {"type": "text", "text": "a"},
    ]);
    assert_eq!(own[1]["content"], wanted);
    let other = sent(vec![Message::user("go"), assistant("other", pieces())]);
    assert_eq!(other[1]["content"], json!([{"type": "text", "text": "a"}]));
    let nothing_left = sent(vec![Message::user("go"), assistant("other", vec![thinking(Some("s"), false)])]);
    assert_eq!(nothing_left.as_array().unwrap().len(), 1);
}

// 000-072
#[test]
fn off_sends_no_thinking_option_and_each_level_its_own() {
    use ThinkingLevel::{High, Low, Medium, Minimal, Off, XHigh};
    let option = |style, thinking| {
        let request = ModelRequest { thinking, ..request(vec![Message::user("hi")]) };
        let body = body(&info(), style, &request);
        assert!(body["max_tokens"].as_u64().unwrap() <= 64_000);
        (
            body["thinking"]["budget_tokens"].as_u64(),
            body["output_config"]["effort"].as_str().map(str::to_owned),
        )
    };
    for style in STYLES {
        assert_eq!(option(style, Off), (None, None));
    }
    let budgets =
        [Minimal, Low, Medium, High, XHigh].map(|level| option(ThinkingStyle::Budget, level).0.unwrap());
    assert_eq!(budgets, [1024, 2048, 8192, 16_384, 32_768]);
    let words =
        [Minimal, Low, Medium, High, XHigh].map(|level| option(ThinkingStyle::Adaptive, level).1.unwrap());
    assert_eq!(words, ["low", "low", "medium", "high", "xhigh"]);
    assert_eq!(option(ThinkingStyle::AdaptiveToMax, XHigh).1.as_deref(), Some("max"));
}

#[test]
fn the_budget_always_leaves_room_for_the_answer() {
    for (own_limit, asked, wanted) in [
        (64_000, None, (48_384, Some(16_384))),
        (20_000, None, (20_000, Some(16_384))),
        (8_192, None, (8_192, Some(7_168))),
        (64_000, Some(1_000), (17_384, Some(16_360))),
        (2_000, None, (2_000, None)),
    ] {
        let info = ModelInfo { max_output_tokens: own_limit, ..info() };
        let request = ModelRequest {
            thinking: ThinkingLevel::High,
            max_output_tokens: asked,
            ..request(vec![Message::user("hi")])
        };
        let got = body(&info, ThinkingStyle::Budget, &request);
        let budget = got["thinking"]["budget_tokens"].as_u64();
        assert_eq!((got["max_tokens"].as_u64().unwrap(), budget), wanted, "{own_limit} {asked:?}");
    }
}

#[test]
fn a_turn_that_another_model_began_is_finished_without_a_thinking_budget() {
    let turn = |model, first: Vec<Content>| {
        let messages = vec![
            Message::user("go"),
            assistant(model, [first, vec![call("a")]].concat()),
            result("a", vec![], false),
            assistant("m", vec![call("b")]),
            result("b", vec![], false),
        ];
        let request = ModelRequest { thinking: ThinkingLevel::Medium, ..request(messages) };
        STYLES.map(|style| body(&info(), style, &request).get("thinking").is_some())
    };
    assert_eq!(turn("m", vec![thinking(Some("s"), false)]), [true, true, true]);
    assert_eq!(turn("other", vec![thinking(Some("s"), false)]), [false, true, true]);
    assert_eq!(turn("m", vec![]), [false, true, true]);
}

// 003-005, 003-007
#[test]
fn temperature_and_tool_choice_are_sent_unless_thinking_forbids_it() {
    use ToolChoice::{Auto, NamedTool, NoTool, Required};
    let all = [Auto, NoTool, Required, NamedTool("x".into())];
    let ask = |style, thinking, tool_choice: &ToolChoice| {
        let request = ModelRequest {
            thinking,
            tool_choice: tool_choice.clone(),
            temperature: Some(0.7),
            tools: Arc::new([tool("x")]),
            ..request(vec![Message::user("hi")])
        };
        body(&info(), style, &request)
    };
    let choices = all.each_ref().map(|choice| {
        let body = ask(ThinkingStyle::Budget, ThinkingLevel::Off, choice);
        assert_eq!(body["temperature"].to_string(), "0.7");
        body.get("tool_choice").cloned()
    });
    let [none, any] = ["none", "any"].map(|kind| json!({ "type": kind }));
    assert_eq!(choices, [None, Some(none), Some(any), Some(json!({"type": "tool", "name": "x"}))]);
    for style in STYLES {
        // A forced tool call is not thought about, so there the temperature counts again.
        let thinks = all.each_ref().map(|choice| {
            let body = ask(style, ThinkingLevel::High, choice);
            assert_ne!(body.get("thinking").is_some(), body.get("temperature").is_some());
            body.get("thinking").is_some()
        });
        assert_eq!(thinks, [true, true, false, false]);
    }
    let without_tools = ModelRequest { tool_choice: Required, ..request(vec![Message::user("hi")]) };
    assert_eq!(body(&info(), ThinkingStyle::Budget, &without_tools).get("tool_choice"), None);
}

// 000-160, 000-168
#[test]
fn a_custom_message_counts_as_the_users_and_an_unknown_transport_is_ignored() {
    let custom = || Message::Custom(capstan_ports::CustomMessage::new("note", "hello"));
    let plain = request(vec![Message::user("hello")]);
    let other = ModelRequest { transport: Some("pigeon".into()), ..request(vec![custom()]) };
    assert_eq!(body(&info(), ThinkingStyle::Budget, &other), body(&info(), ThinkingStyle::Budget, &plain));
}
