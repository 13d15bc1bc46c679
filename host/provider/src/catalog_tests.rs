use super::*;
use crate::config::ModelOverride;

fn config(api: Api) -> ProviderConfig {
    ProviderConfig::new("p", api, "http://localhost")
}

#[test]
fn known_models_unknown_models_and_router_names_get_their_limits() {
    let openai = config(Api::OpenAiChat);
    for (model, window, images) in [
        ("gpt-4o-mini", 128_000, true),
        ("gpt-4.1-nano", 1_047_576, true),
        ("gpt-4-0613", 8_192, false),
        ("openai/gpt-5.2", 400_000, true),
        ("o3-mini", 200_000, false),
        ("qwen3:32b", 128_000, false),
    ] {
        let info = info(&openai, model);
        assert_eq!((info.context_window, info.accepts_images, info.id.as_str()), (window, images, model));
    }
    let anthropic = config(Api::AnthropicMessages);
    for (model, output) in [
        ("claude-3-5-haiku-latest", 8_192),
        ("claude-3-opus-20240229", 4_096),
        ("claude-opus-4-1", 32_000),
        ("claude-sonnet-4-5", 64_000),
        ("claude-something-9", 64_000),
        ("glm-5", 8_192),
    ] {
        let info = info(&anthropic, model);
        assert_eq!((info.context_window, info.max_output_tokens), (200_000, output), "{model}");
    }
}

#[test]
fn an_override_wins_field_by_field() {
    let mut config = config(Api::OpenAiChat);
    let own = ModelOverride { context_window: Some(4_096), images: Some(true), ..ModelOverride::default() };
    config.models.insert("llava".into(), own);
    let info = info(&config, "llava");
    assert_eq!((info.context_window, info.max_output_tokens, info.accepts_images), (4_096, 16_384, true));
}

#[test]
fn old_claude_models_get_budgets_and_new_ones_effort_words() {
    use ThinkingStyle::{Adaptive, AdaptiveToMax, Budget};
    let mut config = config(Api::AnthropicMessages);
    for (model, style) in [
        ("claude-3-7-sonnet-20250219", Budget),
        ("claude-sonnet-4", Budget),
        ("claude-sonnet-4-20250514", Budget),
        ("claude-opus-4-1-20250805", Budget),
        ("claude-haiku-4-5", Budget),
        ("claude-opus-4-6", AdaptiveToMax),
        ("claude-opus-4-7", Adaptive),
        ("claude-opus-4-10", Adaptive),
        ("anthropic/claude-opus-5-20260801", Adaptive),
        ("kimi-k3", Budget),
    ] {
        assert_eq!(thinking_style(&config, model), style, "{model}");
    }
    let own = |adaptive| ModelOverride { adaptive_thinking: Some(adaptive), ..ModelOverride::default() };
    config.models.insert("kimi-k3".into(), own(true));
    config.models.insert("claude-opus-5".into(), own(false));
    assert_eq!(thinking_style(&config, "kimi-k3"), Adaptive);
    assert_eq!(thinking_style(&config, "claude-opus-5"), Budget);
}
