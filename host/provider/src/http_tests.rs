use super::*;
use crate::{catalog, model};

fn endpoint(config: &ProviderConfig) -> Result<Endpoint, ProviderError> {
    Endpoint::new(config, catalog::info(config, "m"))
}

fn config(api: Api, base: &str) -> ProviderConfig {
    ProviderConfig::new("mine", api, base)
}

#[test]
fn base_urls_are_completed_however_they_are_written() {
    for (api, base, wanted) in [
        (Api::OpenAiChat, "http://h:1/v1", "http://h:1/v1/chat/completions"),
        (Api::OpenAiChat, " http://h/v1/ ", "http://h/v1/chat/completions"),
        (Api::OpenAiChat, "http://h", "http://h/chat/completions"),
        (Api::OpenAiChat, "http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        (Api::OpenAiChat, "http://h/x?api-version=2", "http://h/x/chat/completions?api-version=2"),
        (Api::AnthropicMessages, "http://h", "http://h/v1/messages"),
        (Api::AnthropicMessages, "http://h/v1", "http://h/v1/messages"),
        (Api::AnthropicMessages, "http://h/a/v1/", "http://h/a/v1/messages"),
        (Api::AnthropicMessages, "http://h/v1/messages", "http://h/v1/messages"),
    ] {
        assert_eq!(endpoint(&config(api, base)).unwrap().url.as_str(), wanted, "{base}");
    }
}

#[test]
fn a_missing_key_is_an_error_only_at_the_vendors_own_address() {
    for (api, vendor) in [
        (Api::OpenAiChat, "https://api.openai.com/v1"),
        (Api::AnthropicMessages, "https://api.anthropic.com/v1"),
    ] {
        let error = model(&config(api, vendor), "m").err().unwrap().to_string();
        assert!(error.contains("mine") && error.contains("MINE_API_KEY"), "{error}");
        assert!(model(&config(api, "http://localhost:1/v1"), "m").is_ok());
        let with_key = ProviderConfig { api_key: Some("sk".into()), ..config(api, vendor) };
        assert!(model(&with_key, "m").is_ok());
        let own_header = vec![("Authorization".to_owned(), Secret::new("Bearer x"))];
        assert!(model(&ProviderConfig { headers: own_header, ..config(api, vendor) }, "m").is_ok());
    }
}

//
#[test]
fn unusable_configurations_are_named_without_their_secrets() {
    let bad_key = ProviderConfig { api_key: Some("ca\nnary".into()), ..config(Api::OpenAiChat, "http://h") };
    let header = |name: &str, value: &str| ProviderConfig {
        headers: vec![(name.into(), value.into())],
        ..config(Api::OpenAiChat, "http://h")
    };
    for (config, wanted) in [
        (config(Api::OpenAiChat, "localhost:1/canary"), "localhost:…"),
        (config(Api::OpenAiChat, "u@h:canary"), "not usable"),
        (config(Api::OpenAiChat, "ftp://u:canary@h/v1"), "ftp://h/v1"),
        (config(Api::OpenAiChat, "canary"), "not usable"),
        (config(Api::OpenAiChat, ""), "not usable"),
        (bad_key, "header authorization"),
        (header("x-y", "canary\u{1}"), "header x-y"),
        (header("x y", "canary"), "no HTTP header name"),
    ] {
        let error = endpoint(&config).err().unwrap();
        let shown = format!("{error} {error:?}");
        assert!(shown.contains(wanted), "{shown}");
        assert!(!shown.contains("nary"), "{shown}");
    }
}

#[test]
fn a_configured_header_replaces_ours() {
    let config = ProviderConfig {
        api_key: Some("sk".into()),
        headers: vec![("Anthropic-Version".into(), "2030-01-01".into()), ("x-more".into(), "1".into())],
        ..config(Api::AnthropicMessages, "http://h")
    };
    let headers = endpoint(&config).unwrap().headers;
    assert_eq!(headers.get_all("anthropic-version").iter().count(), 1);
    assert_eq!(headers["anthropic-version"], "2030-01-01");
    assert_eq!((&headers["x-more"], &headers["x-api-key"]), (&"1".parse().unwrap(), &"sk".parse().unwrap()));
    assert!(!format!("{headers:?}").contains("sk"), "values are marked as sensitive");
}

//
#[test]
fn an_excerpt_is_short_printable_and_never_ends_in_half_a_key() {
    let key = "sk-canary-abcdefghijklmnopqrstuvwxyz";
    let config = ProviderConfig { api_key: Some(key.into()), ..config(Api::OpenAiChat, "http://h") };
    let endpoint = endpoint(&config).unwrap();
    for pad in 270..310 {
        let text = format!("{}{key}\u{1b}[2J\r\nnext", "é".repeat(pad));
        let excerpt = endpoint.excerpt(&text);
        assert!(excerpt.chars().count() <= MAX_EXCERPT_CHARS + 1);
        assert!(!excerpt.contains("sk-") && !excerpt.contains(['\u{1b}', '\n', '\r']), "{excerpt}");
    }
    assert_eq!(endpoint.excerpt("  a\t\tb\u{7}c \n"), "a b c");
}

#[tokio::test]
async fn both_clients_are_built_once_and_the_plain_one_needs_no_certificates() {
    for text in ["http://h", "https://h"] {
        let url = Url::parse(text).unwrap();
        client(&url).unwrap();
        client(&url).unwrap();
    }
}
