//! What is known of models without asking.
//!
//! The formats have no portable way to ask a server for its limits. A window that is assumed too large costs one refused
//! request, after which the conversation is compacted; one assumed too small compacts early. So the defaults for
//! unknown models are modest and the user can override them.

use crate::config::{Api, ProviderConfig};
use capstan_ports::ModelInfo;

struct Limits {
    context_window: u32,
    max_output_tokens: u32,
    images: bool,
}

const fn limits(context_window: u32, max_output_tokens: u32, images: bool) -> Limits {
    Limits { context_window, max_output_tokens, images }
}

/// For OpenAI-compatible servers. Text only, since a local text model answers an image with an error.
const UNKNOWN_OPENAI: Limits = limits(128_000, 16_384, false);

/// For models of other makers behind Anthropic's format.
const UNKNOWN_ANTHROPIC: Limits = limits(200_000, 8_192, false);

/// By the start of the id, the first match decides; so longer starts stand before shorter ones.
const KNOWN: &[(&str, Limits)] = &[
    ("gpt-5", limits(400_000, 128_000, true)),
    ("gpt-4.1", limits(1_047_576, 32_768, true)),
    ("gpt-4o", limits(128_000, 16_384, true)),
    ("gpt-4-turbo", limits(128_000, 4_096, true)),
    ("gpt-4", limits(8_192, 4_096, false)),
    ("gpt-3.5", limits(16_385, 4_096, false)),
    ("gpt-oss", limits(131_072, 32_768, false)),
    ("chatgpt-4o", limits(128_000, 16_384, true)),
    ("o1-mini", limits(128_000, 65_536, false)),
    ("o3-mini", limits(200_000, 100_000, false)),
    ("o1", limits(200_000, 100_000, true)),
    ("o3", limits(200_000, 100_000, true)),
    ("o4", limits(200_000, 100_000, true)),
    ("claude-3-5", limits(200_000, 8_192, true)),
    ("claude-3-7", limits(200_000, 64_000, true)),
    ("claude-3", limits(200_000, 4_096, true)),
    ("claude-opus-4-5", limits(200_000, 64_000, true)),
    ("claude-opus-4-6", limits(200_000, 64_000, true)),
    ("claude-opus-4", limits(200_000, 32_000, true)),
    ("claude-", limits(200_000, 64_000, true)),
];

/// Routers write the maker before the id: `openai/gpt-4o`.
fn bare(model: &str) -> &str {
    model.rsplit('/').next().unwrap_or(model)
}

/// What is known of `model` at the provider, without asking it.
pub fn info(config: &ProviderConfig, model: &str) -> ModelInfo {
    let unknown = match config.api {
        Api::OpenAiChat => &UNKNOWN_OPENAI,
        Api::AnthropicMessages => &UNKNOWN_ANTHROPIC,
        // Scripts do not mind images, and a demonstration may show them.
        Api::Scripted => &const { limits(128_000, 16_384, true) },
    };
    let id = bare(model);
    let known = KNOWN.iter().find(|(start, _)| id.starts_with(start)).map_or(unknown, |(_, limits)| limits);
    let own = config.models.get(model).cloned().unwrap_or_default();
    ModelInfo {
        provider: config.name.clone(),
        api: config.api.as_str().to_owned(),
        id: model.to_owned(),
        context_window: own.context_window.unwrap_or(known.context_window),
        max_output_tokens: own.max_output_tokens.unwrap_or(known.max_output_tokens),
        accepts_images: own.images.unwrap_or(known.images),
    }
}

/// How an Anthropic model is told to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingStyle {
    /// With a budget in tokens: Claude up to 4.5, and other makers' models.
    Budget,
    /// With an effort word, of which `max` is the strongest: Claude 4.6.
    AdaptiveToMax,
    /// With an effort word that includes `xhigh`: Claude since 4.7, which refuses budgets.
    Adaptive,
}

/// The style of `model`. Models that are newer than this table count as adaptive, the only style new models take.
pub(crate) fn thinking_style(config: &ProviderConfig, model: &str) -> ThinkingStyle {
    let id = bare(model);
    let guess = if !id.starts_with("claude-") || is_budget_claude(id) {
        ThinkingStyle::Budget
    } else if id.contains("-4-6") {
        ThinkingStyle::AdaptiveToMax
    } else {
        ThinkingStyle::Adaptive
    };
    match config.models.get(model).and_then(|own| own.adaptive_thinking) {
        Some(true) if guess == ThinkingStyle::Budget => ThinkingStyle::Adaptive,
        Some(false) => ThinkingStyle::Budget,
        Some(true) | None => guess,
    }
}

fn is_budget_claude(id: &str) -> bool {
    if id.starts_with("claude-3") {
        return true;
    }
    let Some((_, version)) = id.split_once("-4") else { return false };
    let minor: String = version.trim_start_matches('-').chars().take_while(char::is_ascii_digit).collect();
    // No minor number, or a date in its place, is the first release of the generation.
    minor.is_empty() || minor.len() >= 6 || minor.parse::<u32>().is_ok_and(|minor| minor <= 5)
}

#[cfg(test)]
#[path = "catalog_tests.rs"]
mod tests;
