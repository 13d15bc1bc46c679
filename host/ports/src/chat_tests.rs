use super::*;
use crate::message::Message;
use crate::model::ModelErrorKind;
use serde_json::json;

struct Chat(ModelInfo, ModelResponse);

#[async_trait]
impl ChatModel for Chat {
    fn info(&self) -> &ModelInfo {
        &self.0
    }

    async fn chat(&self, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
        if request.messages.is_empty() {
            return Err(ModelError::new(ModelErrorKind::InvalidRequest, "nothing to answer"));
        }
        Ok(self.1.clone())
    }
}

fn info() -> ModelInfo {
    ModelInfo {
        provider: "p".into(),
        api: "a".into(),
        id: "m".into(),
        context_window: 1,
        max_output_tokens: 1,
        accepts_images: false,
    }
}

fn ask(response: ModelResponse, messages: Vec<Arc<Message>>) -> Vec<ModelEvent> {
    let model = ChatAdapter(Arc::new(Chat(info(), response)));
    let request = ModelRequest { messages: messages.into(), ..ModelRequest::default() };
    // Nothing here waits, so every event is there at once.
    let mut stream = model.stream(request);
    std::iter::from_fn(|| stream.next().now_or_never().flatten()).collect()
}

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.into(), name: "t".into(), arguments: json!({"a": {"b": [1, null]}}), malformed: None }
}

fn answer(events: Vec<ModelEvent>) -> (AssistantMessage, AssistantMessage) {
    let mut folded = AssistantMessage::default();
    for event in events {
        match event {
            ModelEvent::Update(update) => folded.apply(&update),
            ModelEvent::Done(message) => return (folded, *message),
            ModelEvent::Failed(error) => panic!("{error}"),
        }
    }
    panic!("no end")
}

// 003-046, 003-060, 003-061
#[test]
fn a_model_that_only_chats_streams_its_answer_and_keeps_all_its_parts() {
    let counts = TokenCounts { input: Some(3), output: Some(2), total: None };
    let response = ModelResponse {
        content: vec![Content::text("hello")],
        tool_calls: vec![call("a")],
        finish_reason: FinishReason::ToolCalls,
        usage: Some(counts),
        reasoning_summary: Some("because".into()),
    };
    let (folded, message) = answer(ask(response.clone(), vec![Arc::new(Message::user("hi"))]));
    assert_eq!((folded.text(), message.text()), ("hello".to_owned(), "hello".to_owned()));
    assert_eq!((message.stop_reason, message.usage.total_tokens), (StopReason::ToolUse, 5));
    let counts = TokenCounts { total: Some(5), ..counts };
    assert_eq!(ModelResponse::from(&message), ModelResponse { usage: Some(counts), ..response });
    let failed = ask(ModelResponse::default(), vec![]);
    assert!(matches!(&failed[..], [ModelEvent::Failed(error)] if error.message == "nothing to answer"));
}

// 003-051: the calls of the response count; what the content claims beside them does not.
#[test]
fn the_calls_that_are_executed_are_the_calls_that_are_recorded() {
    let content = vec![Content::ToolCall(call("claimed")), Content::text("x")];
    let response = ModelResponse { content, tool_calls: vec![call("real")], ..ModelResponse::default() };
    let (_, message) = answer(ask(response, vec![Arc::new(Message::user("hi"))]));
    let ids: Vec<&str> = message.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!((ids, message.stop_reason), (vec!["real"], StopReason::ToolUse));
}

// 003-047
#[test]
fn an_unknown_reason_keeps_its_words() {
    assert_eq!(FinishReason::parse("content_filter"), FinishReason::Other("content_filter".into()));
    let known = ["end_turn", "max_tokens", "tool_use"].map(FinishReason::parse);
    assert_eq!(known, [FinishReason::Stop, FinishReason::Length, FinishReason::ToolCalls]);
}

// 003-048
#[test]
fn a_count_that_was_not_given_is_absent() {
    let message =
        AssistantMessage { usage: Usage { input: 3, ..Usage::default() }, ..AssistantMessage::default() };
    let counts = TokenCounts { input: Some(3), output: None, total: None };
    assert_eq!(ModelResponse::from(&message).usage, Some(counts));
    assert_eq!(ModelResponse::from(&AssistantMessage::default()).usage, None);
}
