use super::*;
use capstan_provider::builtin_providers;

fn chosen(wanted: Option<&str>, environment: &[(&str, &str)]) -> Result<(String, String)> {
    let env = |name: &str| {
        environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    let providers = builtin_providers(&env);
    resolve(wanted, &providers).map(|(provider, model)| (provider.name.clone(), model.to_owned()))
}

#[test]
fn a_bare_model_goes_to_the_provider_that_the_environment_speaks_of() {
    let openai = ("OPENAI_API_KEY", "k");
    let anthropic = ("ANTHROPIC_BASE_URL", "http://127.0.0.1:1");
    for (wanted, environment, provider, model) in [
        ("gpt-x", &[][..], "openai", "gpt-x"),
        ("claude-x", &[], "anthropic", "claude-x"),
        ("local", &[anthropic], "anthropic", "local"),
        ("local", &[openai], "openai", "local"),
        ("claude-x", &[openai, anthropic], "anthropic", "claude-x"),
        ("anthropic/x", &[openai], "anthropic", "x"),
        ("meta/llama", &[openai], "openai", "meta/llama"),
        ("openai/meta/llama", &[], "openai", "meta/llama"),
    ] {
        assert_eq!(
            chosen(Some(wanted), environment).unwrap(),
            (provider.to_owned(), model.to_owned()),
            "{wanted}"
        );
    }
}

#[test]
fn an_unknown_provider_is_no_model_of_a_service_that_nobody_set_up() {
    let text = chosen(Some("antropic/claude-x"), &[]).unwrap_err().to_string();
    assert!(text.contains("antropic/claude-x") && text.contains("openai, anthropic"), "{text}");
}

#[test]
fn no_model_is_an_error_that_says_what_to_do() {
    let text = chosen(None, &[]).unwrap_err().to_string();
    assert!(text.contains("CAPSTAN_MODEL") && text.contains("capstan demo"), "{text}");
    assert!(chosen(Some("  "), &[]).is_err());
}

#[test]
fn with_a_provider_the_name_of_the_model_is_taken_as_it_is() {
    let providers = builtin_providers(&|_| None);
    for (wanted, model) in [("claude-x", "claude-x"), ("openai/gpt-x", "gpt-x"), ("meta/llama", "meta/llama")]
    {
        let (provider, found) = at_provider("openai", wanted, &providers).unwrap();
        assert_eq!((provider.name.as_str(), found), ("openai", model));
    }
    let text = at_provider("nobody", "gpt-x", &providers).unwrap_err().to_string();
    assert!(text.contains("`nobody`") && text.contains("openai"), "{text}");
}
