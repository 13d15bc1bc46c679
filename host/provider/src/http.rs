//! The connection to a provider: clients, addresses, headers.

use crate::config::{Api, ProviderConfig};
use crate::error::ProviderError;
use crate::secret::{Secret, scrub};
use crate::sse::Limits;
use capstan_ports::{ModelError, ModelErrorKind, ModelInfo};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url, redirect};
use std::sync::OnceLock;
use std::time::Duration;

/// A host that does not answer the handshake within this time is unreachable for the user's purposes.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// The process's client for `url`, built when first needed.
///
/// There are two: reading the system's certificates takes longer than everything else at start, so the client for
/// `http://` addresses (local servers) does without them. That client also ignores proxy variables, which are not meant
/// for local servers; the `https://` client honours `HTTPS_PROXY` and `NO_PROXY`, through which a key travels encrypted.
///
/// Neither follows redirects: the key would go along to wherever the redirect points.
pub(crate) fn client(url: &Url) -> Result<Client, reqwest::Error> {
    static PLAIN: OnceLock<Client> = OnceLock::new();
    static TLS: OnceLock<Client> = OnceLock::new();
    let secure = url.scheme() == "https";
    let slot = if secure { &TLS } else { &PLAIN };
    if let Some(client) = slot.get() {
        return Ok(client.clone());
    }
    if rustls::crypto::CryptoProvider::get_default().is_none()
        && rustls::crypto::ring::default_provider().install_default().is_err()
    {
        tracing::debug!("another part of the process installed a TLS crypto provider first; using that");
    }
    let builder = Client::builder()
        .user_agent(concat!("capstan/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT);
    let builder = if secure { builder } else { builder.no_proxy().tls_certs_only([]) };
    let client = builder.build()?;
    Ok(slot.get_or_init(|| client).clone())
}

/// Enough to recognise a server's message, too little to flood a screen.
const MAX_EXCERPT_CHARS: usize = 300;

/// Where one model is asked, and how errors about it are worded.
pub(crate) struct Endpoint {
    pub(crate) info: ModelInfo,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) limits: Limits,
    /// True for the vendor's own service, false for everything that speaks the same format.
    pub(crate) is_vendor: bool,
    pub(crate) key: Option<Secret>,
    /// The variable that usually holds the key.
    pub(crate) key_variable: String,
    /// The base URL without credentials and query, for messages.
    shown_base: String,
    secrets: Vec<Secret>,
}

impl Endpoint {
    /// Checks the configuration as far as that goes without connecting.
    pub(crate) fn new(config: &ProviderConfig, info: ModelInfo) -> Result<Self, ProviderError> {
        let base = base_url(config)?;
        let is_vendor = config.api.vendor_host().is_some_and(|host| base.host_str() == Some(host));
        let key = config.api_key.clone().filter(|key| !key.is_empty());
        let has_own_auth = config.headers.iter().any(|(name, _)| {
            name.eq_ignore_ascii_case("authorization") || name.eq_ignore_ascii_case("x-api-key")
        });
        if is_vendor && key.is_none() && !has_own_auth {
            return Err(ProviderError::MissingKey {
                provider: config.name.clone(),
                variable: config.key_variable(),
            });
        }
        let mut secrets: Vec<Secret> = base.password().map(Secret::new).into_iter().collect();
        for (_, value) in &config.headers {
            // `Bearer abc` hides `abc`, too.
            secrets
                .extend([value.clone(), Secret::new(value.expose().rsplit(' ').next().unwrap_or_default())]);
        }
        Ok(Self {
            info,
            url: request_url(config.api, &base),
            headers: headers(config, key.as_ref())?,
            limits: Limits::with_idle(config.idle_timeout),
            is_vendor,
            key,
            key_variable: config.key_variable(),
            shown_base: shown(&base),
            secrets,
        })
    }

    /// An error that names provider, model and address. `what` says what happened, `hint` what to do.
    pub(crate) fn error(&self, kind: ModelErrorKind, what: &str, hint: &str) -> ModelError {
        let what = self.scrub(what);
        ModelError::new(kind, format!("{} at {}: {what}. {hint}", self.info.full_name(), self.shown_base))
    }

    /// Hides keys and header values in a text from outside.
    pub(crate) fn scrub(&self, text: &str) -> String {
        scrub(text, self.key.as_ref(), &self.secrets)
    }

    /// A short, printable, harmless piece of a text from outside.
    ///
    /// Hidden first and cut afterwards: the other way round, half a key could stand at the end.
    pub(crate) fn excerpt(&self, text: &str) -> String {
        let clean = self.scrub(text);
        let mut out = String::new();
        for word in clean.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty())
        {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
            if let Some((end, _)) = out.char_indices().nth(MAX_EXCERPT_CHARS) {
                out.truncate(end);
                out.push('…');
                break;
            }
        }
        out
    }
}

fn base_url(config: &ProviderConfig) -> Result<Url, ProviderError> {
    let unusable = |base_url: String, reason: String| ProviderError::BaseUrl {
        provider: config.name.clone(),
        base_url,
        reason,
    };
    let url = Url::parse(config.base_url.trim()).map_err(|reason| {
        // What is no URL may still hold a password; its text is not repeated.
        unusable("…".to_owned(), reason.to_string())
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(unusable(shown(&url), "it does not begin with http:// or https://".to_owned()));
    }
    Ok(url)
}

fn shown(url: &Url) -> String {
    if url.cannot_be_a_base() {
        return format!("{}:…", url.scheme());
    }
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    format!("{}://{}{port}{path}", url.scheme(), url.host_str().unwrap_or_default())
}

/// Completes the base URL. Bases with the final part already there, and for Anthropic those with and without `/v1`, are
/// accepted, because users copy them from many places. A query (`?api-version=…`) stays.
fn request_url(api: Api, base: &Url) -> Url {
    let path = base.path().trim_end_matches('/');
    let path = match api {
        Api::OpenAiChat => {
            format!("{}/chat/completions", path.strip_suffix("/chat/completions").unwrap_or(path))
        }
        Api::AnthropicMessages => {
            let path = path.strip_suffix("/messages").unwrap_or(path);
            format!("{}/v1/messages", path.strip_suffix("/v1").unwrap_or(path))
        }
        Api::Scripted => path.to_owned(),
    };
    let mut url = base.clone();
    url.set_path(&path);
    url
}

fn headers(config: &ProviderConfig, key: Option<&Secret>) -> Result<HeaderMap, ProviderError> {
    let mut headers = HeaderMap::new();
    let mut insert =
        |name: &str, value: &str| -> Result<(), ProviderError> {
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|source| {
                ProviderError::HeaderName { provider: config.name.clone(), header: name.to_owned(), source }
            })?;
            let mut value = HeaderValue::from_str(value).map_err(|source| ProviderError::Header {
                provider: config.name.clone(),
                header: name.to_owned(),
                source,
            })?;
            value.set_sensitive(true);
            headers.insert(header, value);
            Ok(())
        };
    insert("content-type", "application/json")?;
    insert("accept", "text/event-stream")?;
    match (config.api, key) {
        (Api::OpenAiChat, Some(key)) => insert("authorization", &format!("Bearer {}", key.expose()))?,
        (Api::AnthropicMessages, Some(key)) => insert("x-api-key", key.expose())?,
        (Api::OpenAiChat | Api::AnthropicMessages, None) | (Api::Scripted, _) => {}
    }
    if config.api == Api::AnthropicMessages {
        insert("anthropic-version", "2023-06-01")?;
    }
    // Last, so that a configured header replaces ours.
    for (name, value) in &config.headers {
        insert(name, value.expose())?;
    }
    Ok(headers)
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
