//! What the user configures of a provider.

use crate::secret::Secret;
use capstan_ports::Price;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Silence after which a connection counts as dead.
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Api {
    /// OpenAI chat completions, also spoken by Ollama, vLLM, llama.cpp, OpenRouter and many others.
    #[serde(rename = "openai-completions", alias = "openai-chat", alias = "openai")]
    OpenAiChat,
    /// Anthropic Messages.
    #[serde(rename = "anthropic-messages", alias = "anthropic")]
    AnthropicMessages,
    /// Answers from a file, for demonstrations and tests.
    #[serde(rename = "scripted")]
    Scripted,
}

impl Api {
    /// The name in session files and configurations; pi uses the same.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-completions",
            Self::AnthropicMessages => "anthropic-messages",
            Self::Scripted => "scripted",
        }
    }

    /// The host of the company that made the format; only there a key is a must.
    pub(crate) fn vendor_host(self) -> Option<&'static str> {
        match self {
            Self::OpenAiChat => Some("api.openai.com"),
            Self::AnthropicMessages => Some("api.anthropic.com"),
            Self::Scripted => None,
        }
    }
}

/// What the user knows better than the built-in table. `None` keeps the table's value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelOverride {
    /// Tokens that a request and its answer may take together.
    pub context_window: Option<u32>,
    /// Tokens that an answer may take.
    pub max_output_tokens: Option<u32>,
    /// Whether the model takes images.
    pub images: Option<bool>,
    /// Anthropic Messages only: whether the model chooses its own amount of thinking and is steered by an effort word
    /// (true) or gets a budget in tokens (false).
    pub adaptive_thinking: Option<bool>,
    /// What it costs. Nothing is built in: prices change, and a wrong one is worse than none.
    pub cost: Option<Price>,
}

/// A provider as configured. Printing it shows no key and no header value.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderConfig {
    /// How the user calls it: the part before the slash in `provider/model`.
    pub name: String,
    /// Which format it speaks.
    pub api: Api,
    /// Where it listens, for example `http://127.0.0.1:11434/v1`. For [`Api::Scripted`] the path of the script.
    pub base_url: String,
    /// The key. Local servers need none.
    pub api_key: Option<Secret>,
    /// The environment variable that the key was, or would be, read from. Only named in messages.
    pub api_key_env: Option<String>,
    /// Sent with each request; a name that the format itself uses replaces its value.
    pub headers: Vec<(String, Secret)>,
    /// By model id.
    pub models: BTreeMap<String, ModelOverride>,
    /// Longest silence between two pieces of an answer. Tripled while much thinking is asked for, because several
    /// services send nothing while a model thinks.
    pub idle_timeout: Duration,
}

impl ProviderConfig {
    /// A provider without key, headers and overrides.
    pub fn new(name: impl Into<String>, api: Api, base_url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            api,
            base_url: base_url.into(),
            api_key: None,
            api_key_env: None,
            headers: Vec::new(),
            models: BTreeMap::new(),
            idle_timeout: DEFAULT_IDLE_TIMEOUT,
        }
    }

    /// The variable to name when the key is missing or refused.
    pub(crate) fn key_variable(&self) -> String {
        self.api_key_env.clone().unwrap_or_else(|| {
            let name: String = self
                .name
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
                .collect();
            format!("{name}_API_KEY")
        })
    }
}

/// The providers that exist without any configuration: `openai`, `anthropic`, and `scripted` where `CAPSTAN_SCRIPT`
/// names a script. `env` looks up an environment variable; it is a parameter so that tests need no real environment.
///
/// Read are `OPENAI_API_KEY`, `OPENAI_BASE_URL`, `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL`. A missing key is no error
/// here: it becomes one in [`crate::model`], and only if the base URL is the vendor's own.
pub fn builtin_providers(env: &dyn Fn(&str) -> Option<String>) -> Vec<ProviderConfig> {
    let set = |name: &str| env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let vendor = |name: &str, api: Api, default_base: &str| {
        let prefix = name.to_ascii_uppercase();
        let key_variable = format!("{prefix}_API_KEY");
        let base_url = set(&format!("{prefix}_BASE_URL")).unwrap_or_else(|| default_base.to_owned());
        ProviderConfig {
            api_key: set(&key_variable).map(Secret::new),
            api_key_env: Some(key_variable),
            ..ProviderConfig::new(name, api, base_url)
        }
    };
    let mut providers = vec![
        vendor("openai", Api::OpenAiChat, "https://api.openai.com/v1"),
        vendor("anthropic", Api::AnthropicMessages, "https://api.anthropic.com"),
    ];
    providers.extend(set("CAPSTAN_SCRIPT").map(|path| ProviderConfig::new("scripted", Api::Scripted, path)));
    providers
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
