use super::*;

fn builtin(vars: &[(&str, &str)]) -> Vec<ProviderConfig> {
    builtin_providers(&|name| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
}

#[test]
fn without_any_variable_both_vendors_stand_at_their_own_address_without_a_key() {
    let providers = builtin(&[]);
    let short: Vec<_> =
        providers.iter().map(|p| (p.name.as_str(), p.base_url.as_str(), p.api_key.is_some())).collect();
    assert_eq!(
        short,
        [("openai", "https://api.openai.com/v1", false), ("anthropic", "https://api.anthropic.com", false)]
    );
}

// 000-167
#[test]
fn variables_set_key_and_address_and_empty_ones_count_as_absent() {
    let providers = builtin(&[
        ("OPENAI_API_KEY", " sk-1\n"),
        ("OPENAI_BASE_URL", "http://localhost:8080/v1"),
        ("ANTHROPIC_API_KEY", "  "),
        ("ANTHROPIC_BASE_URL", ""),
        ("CAPSTAN_SCRIPT", "demo.jsonl"),
    ]);
    assert_eq!(providers[0].api_key, Some(Secret::new("sk-1")));
    assert_eq!(providers[0].base_url, "http://localhost:8080/v1");
    assert_eq!(
        (providers[1].api_key.as_ref(), providers[1].base_url.as_str()),
        (None, "https://api.anthropic.com")
    );
    assert_eq!((providers[2].api, providers[2].base_url.as_str()), (Api::Scripted, "demo.jsonl"));
}

//
#[test]
fn printing_a_configuration_shows_neither_key_nor_header_value() {
    let mut config = builtin(&[("OPENAI_API_KEY", "sk-canary")]).remove(0);
    config.headers.push(("x-token".into(), "canary-header".into()));
    let shown = format!("{config:?}");
    assert!(!shown.contains("canary") && shown.contains("x-token"), "{shown}");
}

#[test]
fn the_variable_for_the_key_follows_the_name_unless_configured() {
    let mut config = ProviderConfig::new("my-router", Api::OpenAiChat, "");
    assert_eq!(config.key_variable(), "MY_ROUTER_API_KEY");
    config.api_key_env = Some("OTHER".into());
    assert_eq!(config.key_variable(), "OTHER");
}

#[test]
fn api_names_are_those_of_session_files_and_short_ones_are_understood() {
    for api in [Api::OpenAiChat, Api::AnthropicMessages, Api::Scripted] {
        assert_eq!(serde_json::to_value(api).unwrap(), api.as_str());
    }
    for (name, api) in
        [("openai", Api::OpenAiChat), ("openai-chat", Api::OpenAiChat), ("anthropic", Api::AnthropicMessages)]
    {
        assert_eq!(serde_json::from_value::<Api>(name.into()).unwrap(), api);
    }
}
