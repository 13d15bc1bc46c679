use crate::scripted::wire::{anthropic_sse, error_body, error_status, openai_sse};
use crate::test_server::{Act, TestServer, reply, stream_of};
use crate::{Answer, Api, ProviderConfig, Secret, model};
use capstan_ports::{
    AssistantMessage, Content, Message, ModelError, ModelErrorKind, ModelEvent, ModelRequest, SessionId,
    StopReason, ThinkingLevel, ToolDefinition, ToolResultMessage,
};
use futures::StreamExt;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

const KEY: &str = "sk-test-canary-0123456789";

const APIS: [Api; 2] = [Api::OpenAiChat, Api::AnthropicMessages];

fn config(api: Api, base: &str) -> ProviderConfig {
    ProviderConfig {
        api_key: Some(Secret::new(KEY)),
        api_key_env: Some("LOCAL_KEY".into()),
        idle_timeout: Duration::from_secs(5),
        ..ProviderConfig::new("local", api, base)
    }
}

fn request() -> ModelRequest {
    let call = AssistantMessage {
        content: vec![Content::ToolCall(capstan_ports::ToolCall {
            id: "call_a".into(),
            name: "read".into(),
            arguments: json!({"path": "x"}),
            malformed: None,
        })],
        stop_reason: StopReason::ToolUse,
        ..AssistantMessage::default()
    };
    let result = ToolResultMessage {
        tool_call_id: "call_a".into(),
        tool_name: "read".into(),
        content: vec![Content::text("file text")],
        details: Some(json!({"canary": "details-stay-here"})),
        is_error: false,
        timestamp: 0,
    };
    ModelRequest {
        system: "Be brief.".into(),
        messages: vec![
            Message::user("hello").into(),
            Message::from(call).into(),
            Message::from(result).into(),
        ]
        .into(),
        tools: Arc::new([ToolDefinition {
            name: "read".into(),
            label: "label-stays-here".into(),
            description: "Reads a file.\n\"Verbatim\" – exactly.".into(),
            parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "x-own": [1.5, null]}),
            execution: capstan_ports::Execution::Parallel,
        }]),
        thinking: ThinkingLevel::Off,
        max_output_tokens: None,
        session_id: Some(SessionId::new("session-7")),
        ..ModelRequest::default()
    }
}

struct Outcome {
    folded: AssistantMessage,
    end: Result<AssistantMessage, ModelError>,
}

impl Outcome {
    fn error(self) -> ModelError {
        self.end.expect_err("the request should have failed")
    }
}

/// Asks, folds the updates, and checks what every stream promises.
async fn ask(config: &ProviderConfig) -> Outcome {
    let model = model(config, "test-model").unwrap();
    let mut stream = model.stream(request());
    let mut folded = AssistantMessage::default();
    while let Some(event) = stream.next().await {
        let end = match event {
            ModelEvent::Update(update) => {
                folded.apply(&update);
                continue;
            }
            ModelEvent::Done(message) => {
                assert_eq!(folded.content, message.content, "folding the events gives the message");
                Ok(*message)
            }
            ModelEvent::Failed(error) => {
                let shown = format!("{error} {error:?}");
                assert!(!shown.contains("canary"), "a key shows: {shown}");
                assert!(error.message.contains("local/test-model at http"), "{}", error.message);
                Err(error)
            }
        };
        assert!(stream.next().await.is_none(), "the end is the end");
        return Outcome { folded, end };
    }
    panic!("the stream ended without a last event");
}

fn events_of(api: Api, answer: &Answer) -> String {
    match api {
        Api::AnthropicMessages => anthropic_sse(answer, "test-model").concat(),
        Api::OpenAiChat | Api::Scripted => openai_sse(answer, "test-model").concat(),
    }
}

fn rich_answer() -> Answer {
    Answer::text("Grüße, look: 🦀")
        .with_thinking("first, think")
        .and_call_with_id("c1", "read", json!({"path": "a b, c"}))
        .and_call_with_id("c2", "read", json!({}))
}

// 000-011, 000-012, 000-013, 000-166, 000-167, 000-169
#[tokio::test]
async fn a_request_holds_the_tool_verbatim_the_result_the_key_and_nothing_internal() {
    for api in APIS {
        let server = TestServer::start(vec![stream_of(events_of(api, &Answer::text("hi")))]).await;
        let base = format!("{}/proxy/v1/", server.base);
        assert_eq!(ask(&config(api, &base)).await.end.unwrap().text(), "hi");

        let [sent] = &server.requests()[..] else { panic!("one request") };
        let tool = &request().tools[0];
        let (path, key, tool_sent, result_text) = match api {
            Api::AnthropicMessages => (
                "POST /proxy/v1/messages HTTP/1.1",
                sent.header("x-api-key").map(str::to_owned),
                (&sent.body["tools"][0]["description"], &sent.body["tools"][0]["input_schema"]),
                &sent.body["messages"][2]["content"][0]["content"][0]["text"],
            ),
            Api::OpenAiChat | Api::Scripted => (
                "POST /proxy/v1/chat/completions HTTP/1.1",
                sent.header("authorization")
                    .and_then(|value| value.strip_prefix("Bearer "))
                    .map(str::to_owned),
                (
                    &sent.body["tools"][0]["function"]["description"],
                    &sent.body["tools"][0]["function"]["parameters"],
                ),
                &sent.body["messages"][3]["content"],
            ),
        };
        assert_eq!(sent.head.lines().next(), Some(path));
        assert_eq!(key.as_deref(), Some(KEY));
        assert_eq!(tool_sent, (&json!(tool.description), &tool.parameters));
        assert_eq!(result_text, "file text");
        assert_eq!(sent.header("x-session-id"), Some("session-7"));
        assert!(sent.header("user-agent").unwrap().starts_with("capstan/"));
        assert_eq!(sent.body["stream"], true);
        let text = sent.body.to_string();
        assert!(!text.contains("stays-here") && !text.contains("stay-here"), "{text}");
    }
}

#[tokio::test]
async fn thinking_text_and_parallel_calls_arrive_in_order_with_usage_and_reason() {
    for api in APIS {
        let usage = capstan_ports::Usage { input: 10, output: 5, cache_read: 3, ..Default::default() };
        let answer = rich_answer().with_usage(usage);
        let server = TestServer::start(vec![stream_of(events_of(api, &answer))]).await;
        let message = ask(&config(api, &server.base)).await.end.unwrap();
        let [
            Content::Thinking { thinking, .. },
            Content::Text { text },
            Content::ToolCall(a),
            Content::ToolCall(b),
        ] = &message.content[..]
        else {
            panic!("{:?}", message.content)
        };
        assert_eq!((thinking.as_str(), text.as_str()), ("first, think", "Grüße, look: 🦀"));
        assert_eq!((a.id.as_str(), &a.arguments), ("c1", &json!({"path": "a b, c"})));
        assert_eq!((b.id.as_str(), &b.arguments), ("c2", &json!({})));
        assert_eq!(message.stop_reason, StopReason::ToolUse);
        assert_eq!((message.usage.input, message.usage.output, message.usage.cache_read), (10, 5, 3));
        assert_eq!(message.usage.total_tokens, 18);
        assert_eq!((message.provider.as_str(), message.model.as_str()), ("local", "test-model"));
        assert_eq!(message.api, api.as_str());
        assert!(message.timestamp > 0);
    }
}

// P10
#[tokio::test]
async fn the_same_answer_cut_at_every_byte_gives_the_same_message() {
    use crate::exchange::{Decoder, Progress};
    let scripted = crate::ScriptedModel::new([]);
    let info = capstan_ports::Model::info(&scripted).clone();
    for api in APIS {
        let bytes = events_of(api, &rich_answer()).replace('\n', "\r\n").into_bytes();
        let mut wanted = None;
        for cut in 0..bytes.len() {
            let chunks = [bytes[..cut].to_vec(), bytes[cut..].to_vec()];
            let body = futures::stream::iter(chunks).map(|chunk| Ok(bytes::Bytes::from(chunk)));
            let limits = crate::sse::Limits::with_idle(Duration::from_secs(5));
            let mut events = crate::sse::Events::new(body.boxed(), limits);
            let mut decoder: Box<dyn Decoder> = match api {
                Api::AnthropicMessages => crate::anthropic::decoder_for_tests(&info),
                Api::OpenAiChat | Api::Scripted => crate::openai::decoder_for_tests(&info),
            };
            let mut updates = Vec::new();
            while let Some(event) = events.next().await {
                let data = event.unwrap().data.unwrap();
                if data == "[DONE]"
                    || decoder.event(&serde_json::from_str(&data).unwrap()).unwrap() == Progress::Ended
                {
                    break;
                }
                updates.extend(decoder.draft().drain());
            }
            let stop_reason = decoder.stop_reason();
            let message = decoder.draft().finish(stop_reason);
            updates.extend(decoder.draft().drain());
            let got = (updates, message.content, message.stop_reason);
            assert_eq!(wanted.get_or_insert_with(|| got.clone()), &got, "cut at {cut}");
        }
    }
}

// P3, X-08
#[tokio::test]
async fn refused_requests_become_errors_of_their_kind_that_say_what_to_do() {
    for (status, body, kind, wanted) in [
        (
            "401 Unauthorized",
            format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#),
            ModelErrorKind::Auth,
            "check LOCAL_KEY",
        ),
        ("403 Forbidden", "no".into(), ModelErrorKind::Auth, "LOCAL_KEY"),
        ("404 Not Found", "<html>nothing here</html>".into(), ModelErrorKind::InvalidRequest, "base URL"),
        (
            "400 Bad Request",
            r#"{"error":{"message":"unknown field","type":"invalid_request_error"}}"#.into(),
            ModelErrorKind::InvalidRequest,
            "unknown field",
        ),
        (
            "400 Bad Request",
            r#"{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}"#.into(),
            ModelErrorKind::ContextOverflow,
            "compact",
        ),
        ("413 Payload Too Large", String::new(), ModelErrorKind::ContextOverflow, "HTTP 413"),
        (
            "429 Too Many Requests",
            r#"{"error":{"message":"slow down"}}"#.into(),
            ModelErrorKind::RateLimited,
            "slow down",
        ),
        ("500 Internal Server Error", "oops".into(), ModelErrorKind::Server, "oops"),
        ("503 Service Unavailable", String::new(), ModelErrorKind::Server, "HTTP 503"),
        (
            "529 Overloaded",
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#.into(),
            ModelErrorKind::Server,
            "Overloaded",
        ),
    ] {
        for api in APIS {
            let server = TestServer::start(vec![reply(status, "retry-after: 7\r\n", &body)]).await;
            let error = ask(&config(api, &server.base)).await.error();
            assert_eq!(error.kind, kind, "{status}: {error}");
            assert!(error.message.contains(wanted), "{status}: {error}");
            assert!(error.message.contains("HTTP "), "{error}");
            assert_eq!(error.retry_after, Some(Duration::from_secs(7)));
            assert_eq!(server.requests().len(), 1, "trying again is the agent's business");
        }
    }
}

// P15
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other =
        TestServer::start(vec![stream_of(events_of(Api::OpenAiChat, &Answer::text("got your key")))]).await;
    let location = format!("location: {}/elsewhere\r\n", other.base);
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let server = TestServer::start(vec![reply(status, &location, "")]).await;
        let error = ask(&config(Api::OpenAiChat, &server.base)).await.error();
        assert_eq!(error.kind, ModelErrorKind::InvalidRequest);
        assert!(error.message.contains("redirect to http"), "{error}");
    }
    assert!(other.requests().is_empty());
}

// P4
#[tokio::test]
async fn an_unreachable_server_is_named_with_its_address() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    for api in APIS {
        let error = ask(&config(api, &format!("http://user:pass-canary@127.0.0.1:{port}/v1?key=canary")))
            .await
            .error();
        assert_eq!(error.kind, ModelErrorKind::Network);
        assert!(error.kind.is_transient());
        assert!(error.message.contains(&format!("http://127.0.0.1:{port}/v1: cannot connect")), "{error}");
        assert!(error.message.to_lowercase().contains("refused"), "{error}");
    }
}

// P5, P6, P7, 000-152
#[tokio::test]
async fn a_stream_that_ends_early_fails_as_a_network_error_and_finishes_no_call() {
    for api in APIS {
        let whole = events_of(api, &Answer::call("read", json!({"path": "a b c d e f"})));
        let before_first = String::new();
        let inside_json = whole[..whole.find("a b").or(whole.find("b ")).unwrap()].to_owned();
        let no_end = events_of(api, &rich_answer().cut_off());
        for text in [before_first, inside_json, no_end] {
            let server = TestServer::start(vec![stream_of(&text)]).await;
            let outcome = ask(&config(api, &server.base)).await;
            for call in outcome.folded.tool_calls().filter(|call| call.malformed.is_none()) {
                assert!(
                    call.arguments == json!({}) || call.arguments == json!({"path": "a b, c"}),
                    "{call:?}"
                );
            }
            let error = outcome.error();
            assert_eq!(error.kind, ModelErrorKind::Network);
            assert!(error.message.contains("stream ended without terminal message"), "{error}");
        }
    }
}

// P5, 000-152
#[tokio::test]
async fn a_connection_that_breaks_in_the_middle_fails_as_a_network_error_with_its_cause() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";
    for api in APIS {
        let text = events_of(api, &Answer::text("hello there").cut_off());
        let server = TestServer::start(vec![vec![Act::Bytes(head.into()), Act::Bytes(text.into())]]).await;
        let outcome = ask(&config(api, &server.base)).await;
        assert_eq!(outcome.folded.text(), "hello there", "what came is kept");
        let error = outcome.error();
        assert_eq!(error.kind, ModelErrorKind::Network);
        assert!(error.message.contains("stream ended without terminal message"), "{error}");
        assert!(std::error::Error::source(&error).is_some());
    }
}

// P12
#[tokio::test]
async fn html_json_and_unlabelled_text_with_status_200_are_recognised() {
    let html = format!("<html>\n\u{1b}[31m{}</html>", "login ".repeat(500));
    for api in APIS {
        for reply in [
            reply("200 OK", "content-type: text/html; charset=utf-8\r\n", &html),
            reply("200 OK", "", &html),
            reply("200 OK", "content-type: application/json\r\n", r#"{"choices":[]}"#),
        ] {
            let server = TestServer::start(vec![reply]).await;
            let error = ask(&config(api, &server.base)).await.error();
            assert_eq!(error.kind, ModelErrorKind::Protocol, "{error}");
            assert!(error.message.contains("instead of an event stream"), "{error}");
            assert!(error.message.len() < 700 && !error.message.contains(['\u{1b}', '\n']), "{error}");
        }
        let body = r#"{"error":{"message":"The model is overloaded","type":"overloaded_error"}}"#;
        let server =
            TestServer::start(vec![reply("200 OK", "content-type: application/json\r\n", body)]).await;
        let error = ask(&config(api, &server.base)).await.error();
        assert_eq!(error.kind, ModelErrorKind::Server);
        assert!(error.message.contains("The model is overloaded"), "{error}");
    }
}

// P12
#[tokio::test]
async fn an_event_that_is_no_json_object_is_a_protocol_error_with_an_excerpt() {
    for api in APIS {
        for data in ["{\"choices\": [", "42", "not json at all", "\"text\""] {
            let server = TestServer::start(vec![stream_of(format!("data: {data}\n\n"))]).await;
            let error = ask(&config(api, &server.base)).await.error();
            assert_eq!(error.kind, ModelErrorKind::Protocol);
            assert!(error.message.contains(data), "{error}");
        }
    }
}

// P12
#[tokio::test]
async fn an_error_inside_the_stream_keeps_what_came_before_and_its_kind() {
    for api in APIS {
        for kind in [
            ModelErrorKind::RateLimited,
            ModelErrorKind::Server,
            ModelErrorKind::ContextOverflow,
            ModelErrorKind::InvalidRequest,
            ModelErrorKind::Auth,
        ] {
            let answer =
                Answer { error: Answer::error(kind, "told by the server").error, ..Answer::text("partial") };
            let server = TestServer::start(vec![stream_of(events_of(api, &answer))]).await;
            let outcome = ask(&config(api, &server.base)).await;
            assert_eq!(outcome.folded.text(), "partial");
            let error = outcome.error();
            assert_eq!(error.kind, kind);
            assert!(error.message.contains("told by the server"), "{error}");
        }
    }
}

#[tokio::test]
async fn scripted_errors_as_http_answers_come_back_as_the_same_kind() {
    for api in APIS {
        let error = Answer::error(ModelErrorKind::RateLimited, "later").error.unwrap();
        let status = format!("{} X", error_status(error.kind));
        let body = error_body(api, &error).to_string();
        let server =
            TestServer::start(vec![reply(&status, "content-type: application/json\r\n", &body)]).await;
        assert_eq!(ask(&config(api, &server.base)).await.error().kind, ModelErrorKind::RateLimited);
    }
}

// P11
#[tokio::test]
async fn silence_times_out_before_the_head_and_in_the_stream() {
    for api in APIS {
        let mut config = config(api, "");
        config.idle_timeout = Duration::from_millis(200);
        let pause = Act::Pause(Duration::from_secs(30));
        let mut stuck = stream_of(events_of(api, &Answer::text("one two").cut_off()));
        stuck.push(pause.clone());
        for acts in [vec![pause], stuck] {
            let server = TestServer::start(vec![acts]).await;
            config.base_url.clone_from(&server.base);
            let started = Instant::now();
            let error = ask(&config).await.error();
            assert_eq!(error.kind, ModelErrorKind::TimedOut, "{error}");
            assert!(started.elapsed() < Duration::from_secs(5));
        }
    }
}

#[tokio::test]
async fn an_answer_is_complete_at_its_end_mark_though_the_connection_stays_open() {
    for api in APIS {
        let mut acts = stream_of(events_of(api, &Answer::text("done")));
        acts.push(Act::Pause(Duration::from_secs(30)));
        let server = TestServer::start(vec![acts]).await;
        let started = Instant::now();
        assert_eq!(ask(&config(api, &server.base)).await.end.unwrap().text(), "done");
        assert!(started.elapsed() < Duration::from_secs(3));
    }
}

// P17
#[tokio::test]
async fn a_stop_reason_without_an_end_mark_is_an_end() {
    for api in APIS {
        let whole = events_of(api, &Answer::text("done"));
        let end =
            whole.find(if api == Api::OpenAiChat { "data: [DONE]" } else { "event: message_stop" }).unwrap();
        let server = TestServer::start(vec![stream_of(&whole[..end])]).await;
        let message = ask(&config(api, &server.base)).await.end.unwrap();
        assert_eq!((message.text().as_str(), message.stop_reason), ("done", StopReason::Stop));
    }
}

// 000-161
#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let mut acts = stream_of(events_of(Api::OpenAiChat, &Answer::text("one two").cut_off()));
    acts.push(Act::Pause(Duration::from_secs(30)));
    let server = TestServer::start(vec![acts]).await;
    let model = model(&config(Api::OpenAiChat, &server.base), "m").unwrap();
    let mut stream = model.stream(request());
    assert!(matches!(stream.next().await, Some(ModelEvent::Update(_))));
    drop(stream);
    tokio::time::timeout(Duration::from_secs(5), server.client_left()).await.unwrap();
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = TestServer::start(vec![stream_of("")]).await;
    let model = model(&config(Api::OpenAiChat, &server.base), "m").unwrap();
    drop(model.stream(request()));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(server.requests().is_empty());
}
