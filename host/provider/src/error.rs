//! Why a model could not be set up. What goes wrong while it answers is a [`capstan_ports::ModelError`].

use std::path::PathBuf;

/// Why a model could not be set up. No variant holds a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The vendor's own service needs a key and there is none.
    #[error(
        "provider {provider} needs an API key: set {variable}, or name another variable in the provider's configuration"
    )]
    MissingKey {
        /// The provider's name in the configuration.
        provider: String,
        /// The environment variable that usually holds the key.
        variable: String,
    },
    /// The base URL cannot be used.
    #[error(
        "provider {provider}: the base URL {base_url:?} is not usable ({reason}); write it like https://host/v1"
    )]
    BaseUrl {
        /// The provider's name in the configuration.
        provider: String,
        /// What was configured, without user name, password and query.
        base_url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The key or a header holds characters that HTTP does not allow.
    #[error(
        "provider {provider}: the value of the header {header} holds characters that HTTP does not allow; check the key or header in the configuration for line breaks and quotes"
    )]
    Header {
        /// The provider's name in the configuration.
        provider: String,
        /// The header's name.
        header: String,
        /// What HTTP says. It does not quote the value.
        #[source]
        source: reqwest::header::InvalidHeaderValue,
    },
    /// A header's name is none.
    #[error(
        "provider {provider}: {header:?} is no HTTP header name; correct it in the provider's configuration"
    )]
    HeaderName {
        /// The provider's name in the configuration.
        provider: String,
        /// What was configured.
        header: String,
        /// What HTTP says.
        #[source]
        source: reqwest::header::InvalidHeaderName,
    },
    /// The script could not be read.
    #[error(
        "script {path}: {source}; the scripted provider's base_url names a JSONL file with one answer per line"
    )]
    ScriptRead {
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// A line of a script is no answer.
    #[error("script {path}, line {line}: {reason}")]
    ScriptLine {
        /// Which file.
        path: PathBuf,
        /// Counts from 1.
        line: usize,
        /// What is wrong and what an answer looks like.
        reason: String,
        /// The parser's reason, where the line is no JSON of the right shape.
        #[source]
        source: Option<serde_json::Error>,
    },
}
