use super::*;
use crate::{Api, ProviderConfig, catalog};
use serde_json::json;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

fn endpoint() -> Endpoint {
    let config = ProviderConfig::new("local", Api::OpenAiChat, "http://127.0.0.1:9/v1");
    Endpoint::new(&config, catalog::info(&config, "m")).unwrap()
}

// P1
#[test]
fn retry_after_is_read_in_all_its_forms_and_capped() {
    let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
    for (pairs, wanted) in [
        (vec![("retry-after", "2")], Some(Duration::from_secs(2))),
        (vec![("retry-after", "0.5")], Some(Duration::from_millis(500))),
        (vec![("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")], Some(Duration::from_secs(30))),
        (vec![("retry-after", "Wed, 21 Oct 2020 07:28:30 GMT")], Some(Duration::ZERO)),
        (vec![("retry-after", "1000000000")], Some(MAX_RETRY_AFTER)),
        (vec![("retry-after", "Wed, 21 Oct 2099 07:28:30 GMT")], Some(MAX_RETRY_AFTER)),
        (vec![("retry-after", "1e400")], Some(MAX_RETRY_AFTER)),
        (vec![("retry-after", "-3")], None),
        (vec![("retry-after", "NaN")], None),
        (vec![("retry-after", "soon")], None),
        (vec![("retry-after", "7"), ("retry-after-ms", "250")], Some(Duration::from_millis(250))),
        (vec![("retry-after", "7"), ("retry-after-ms", "?")], Some(Duration::from_secs(7))),
        (vec![], None),
    ] {
        assert_eq!(retry_after(&headers(&pairs), now), wanted, "{pairs:?}");
    }
}

// P3
#[test]
fn overflow_is_recognised_in_the_words_of_many_servers() {
    for text in [
        "prompt is too long: 213462 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Please reduce the length of the messages or completion.",
        "This endpoint's maximum context length is 1048576 tokens. However, you requested about 1293741 tokens",
        "prompt token count of 140000 exceeds the limit of 128000",
        "the request exceeds the available context size, try increasing it",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "invalid params, context window exceeds limit (2013)",
        "Your request exceeded model token limit: 262144 (requested: 300000)",
        "Context length exceeded",
    ] {
        let report = Report { status: Some(400), code: String::new(), message: text.to_owned() };
        assert_eq!(report.kind(), ModelErrorKind::ContextOverflow, "{text}");
    }
    let by_code = Report { status: Some(400), code: "context_length_exceeded".into(), message: "no".into() };
    assert_eq!(by_code.kind(), ModelErrorKind::ContextOverflow);
}

#[test]
fn speed_limits_and_empty_accounts_are_no_overflow() {
    let kind = |status, code: &str, message: &str| {
        Report { status: Some(status), code: code.into(), message: message.into() }.kind()
    };
    assert_eq!(
        kind(429, "tokens", "Rate limit reached: too many tokens per minute"),
        ModelErrorKind::RateLimited
    );
    assert_eq!(
        kind(400, "", "ThrottlingException: Too many tokens, please wait"),
        ModelErrorKind::InvalidRequest
    );
    assert_eq!(kind(429, "insufficient_quota", "You exceeded your quota"), ModelErrorKind::InvalidRequest);
    assert_eq!(kind(504, "", "gateway"), ModelErrorKind::TimedOut);
}

#[test]
fn error_objects_of_every_shape_are_read_and_ordinary_events_are_not() {
    for (value, kind, message) in [
        (json!({"error": {"message": "m", "type": "rate_limit_error"}}), ModelErrorKind::RateLimited, "m"),
        (json!({"error": {"message": "m", "code": 502}}), ModelErrorKind::Server, "m"),
        (json!({"error": {"message": "m", "code": "401"}}), ModelErrorKind::Auth, "m"),
        (json!({"error": "plain words"}), ModelErrorKind::Server, "plain words"),
        (json!({"object": "error", "message": "m", "code": 400}), ModelErrorKind::InvalidRequest, "m"),
        (
            json!({"error": {"code": -3, "message": null}}),
            ModelErrorKind::Server,
            r#"{"code":-3,"message":null}"#,
        ),
    ] {
        let report = Report::from_json(&value).unwrap();
        assert_eq!((report.kind(), report.message.as_str()), (kind, message), "{value}");
    }
    for value in [json!({"choices": [], "error": null}), json!({"type": "ping"}), json!([]), json!(3)] {
        assert!(Report::from_json(&value).is_none(), "{value}");
    }
}

#[test]
fn a_bare_400_means_that_the_conversation_is_too_long() {
    let error = of_status(&endpoint(), 400, &HeaderMap::new(), " ");
    assert_eq!(error.kind, ModelErrorKind::ContextOverflow);
}

#[test]
fn without_a_key_a_401_says_which_variable_to_set() {
    let error = of_status(&endpoint(), 401, &HeaderMap::new(), "{}");
    assert_eq!(
        error.message,
        "local/m at http://127.0.0.1:9/v1: HTTP 401: {}. The server wants a key: set LOCAL_API_KEY"
    );
}

// P4
#[tokio::test]
async fn a_server_without_tls_behind_an_https_address_is_a_network_error() {
    use futures::StreamExt;
    use tokio::io::AsyncWriteExt;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}/v1", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        socket
    });
    let model = crate::model(&ProviderConfig::new("local", Api::OpenAiChat, base), "m").unwrap();
    let request = capstan_ports::ModelRequest {
        system: String::new(),
        messages: capstan_ports::Messages::default(),
        tools: std::sync::Arc::new([]),
        thinking: capstan_ports::ThinkingLevel::Off,
        max_output_tokens: None,
        ..capstan_ports::ModelRequest::default()
    };
    let first = model.stream(request).next().await;
    let Some(capstan_ports::ModelEvent::Failed(error)) = first else { panic!("no failure") };
    assert_eq!(error.kind, ModelErrorKind::Network, "{error}");
    assert!(error.message.contains("cannot connect"), "{error}");
    server.await.unwrap();
}
