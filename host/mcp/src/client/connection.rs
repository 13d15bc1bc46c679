//! One connection to a server, from its start to its end.

use super::bounded::{Bounded, Fault, MAX_MESSAGE_BYTES};
use super::definition::MAX_TOOLS;
use super::handler::Handler;
use super::probe::Probing;
use super::process::{Process, StderrTail};
use super::settings::{Reach, Server, Url};
use http::{HeaderName, HeaderValue};
use rmcp::model::{PaginatedRequestParams, ProtocolVersion, SubscriptionFilter};
use rmcp::service::{
    ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, Peer, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use rmcp::{RoleClient, model};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// How long a server may take to answer the question that only new ones know. Programs that load slowly lose nothing: they find
/// the older greeting waiting for them.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long the end of a connection may take on the transport's side.
const MAY_TAKE_TO_CLOSE: Duration = Duration::from_millis(500);

/// How long a server whose pipe broke may take to be gone, so that it can be said how it ended.
const MAY_TAKE_TO_DIE: Duration = Duration::from_millis(500);

/// How much of the protocol library's words about a failure is passed on: some hold whole messages.
const MAX_REASON_CHARS: usize = 300;

/// What a server says of itself; not escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// The revision of the protocol that both speak.
    pub protocol: String,
    /// What it calls itself.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A connection that was made.
pub(crate) struct Connection {
    service: RunningService<RoleClient, Handler>,
    process: Option<Process>,
    fault: Fault,
    pub(crate) stderr: StderrTail,
    pub(crate) about: About,
}

impl Connection {
    /// Starts or reaches a server and agrees with it on a revision. Whoever gives up on this leaves no process behind.
    ///
    /// # Errors
    /// A text for the user, with the end of what the server wrote to stderr.
    pub(crate) async fn open(server: &Server, workspace: &Path) -> Result<Self, String> {
        match &server.reach {
            Reach::Program(program) => {
                let (process, pipes) = Process::start(&server.name, program, workspace)?;
                let fault = Fault::default();
                let stdout = Bounded::new(pipes.stdout, MAX_MESSAGE_BYTES, fault.clone());
                // Its own limit would drop the line and leave the call without an answer.
                let transport =
                    AsyncRwTransport::new_client(stdout, pipes.stdin).with_max_line_length(usize::MAX);
                Self::greet(transport, Some(process), fault).await
            }
            Reach::Url(url) => {
                let transport = StreamableHttpClientTransport::from_config(http(server, url)?);
                Self::greet(transport, None, Fault::default()).await
            }
        }
    }

    async fn greet(
        transport: impl Transport<RoleClient> + 'static,
        mut process: Option<Process>,
        fault: Fault,
    ) -> Result<Self, String> {
        let stderr = process.as_ref().map(|process| process.stderr.clone()).unwrap_or_default();
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        let probing = Probing::new(transport, PATIENCE);
        let service = match serve_client_with_lifecycle(Handler::default(), probing, lifecycle).await {
            Ok(service) => service,
            Err(error) => {
                let reason = fault.get().unwrap_or_else(|| greeting(&error));
                // One that gave a wrong answer ends only because its pipes were closed on it.
                let has_ended = matches!(
                    error,
                    ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }
                );
                let end = match &mut process {
                    Some(process) if has_ended => process.ended(MAY_TAKE_TO_DIE).await,
                    _ => None,
                };
                let reason = match end {
                    Some(status) if fault.get().is_none() => format!("it stopped at once ({status})"),
                    _ => reason,
                };
                return Err(with_stderr(reason, &stderr));
            }
        };
        let info = service.peer_info();
        let about = info.map_or_else(About::default, |info| {
            let own = info.server_info.clone();
            About {
                protocol: info.protocol_version.to_string(),
                name: own.as_ref().map(|own| own.name.clone()).unwrap_or_default(),
                version: own.map(|own| own.version).unwrap_or_default(),
            }
        });
        // A list that is asked for again is wanted as it is now.
        service.peer().set_response_cache_config(ClientCacheConfig::disabled()).await;
        let connection = Self { service, process, fault, stderr, about };
        connection.listen();
        Ok(connection)
    }

    /// In the newest revision servers tell of changed tools only those who asked for it.
    fn listen(&self) {
        let peer = self.service.peer().clone();
        let info = peer.peer_info();
        let must_ask = info.is_some_and(|info| {
            let tells = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed);
            !info.protocol_version.has_initialize() && tells == Some(true)
        });
        if !must_ask {
            return;
        }
        let changed = self.service.service().tools_changed.clone();
        tokio::spawn(async move {
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            let told = async {
                let mut subscription = peer.listen(filter).await?;
                // It says only this, and ends with the connection.
                while subscription.next().await?.is_some() {
                    changed.notify_one();
                }
                Ok::<(), ServiceError>(())
            };
            if let Err(reason) = told.await {
                tracing::debug!(%reason, "a server does not tell of changes");
            }
        });
    }

    /// Whether it has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    pub(crate) fn handler(&self) -> &Handler {
        self.service.service()
    }

    /// Why this side ended it, if it did.
    pub(crate) fn fault(&self) -> Option<String> {
        self.fault.get()
    }

    /// All tools of the server.
    ///
    /// # Errors
    /// A text for the user.
    pub(crate) async fn list(&self) -> Result<Vec<model::Tool>, String> {
        if self.peer().peer_info().is_some_and(|info| info.capabilities.tools.is_none()) {
            return Ok(Vec::new());
        }
        let (mut tools, mut cursor) = (Vec::new(), None);
        loop {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = self.peer().list_tools(Some(page)).await.map_err(|error| self.listing(&error))?;
            tools.extend(page.tools);
            if tools.len() > MAX_TOOLS {
                return Err(format!("it lists more than {MAX_TOOLS} tools"));
            }
            match page.next_cursor {
                // A list that goes on without tools goes on for ever.
                Some(next) if !tools.is_empty() => cursor = Some(next),
                _ => return Ok(tools),
            }
        }
    }

    fn listing(&self, error: &ServiceError) -> String {
        let reason = self.fault().unwrap_or_else(|| brief(&error.to_string()));
        with_stderr(format!("it does not list its tools: {reason}"), &self.stderr)
    }

    /// Ends it, and the process with it. Answers how that ended.
    pub(crate) async fn close(mut self) -> Option<String> {
        if let Err(reason) = self.service.close_with_timeout(MAY_TAKE_TO_CLOSE).await {
            tracing::debug!(%reason, "a connection did not end in good order");
        }
        let status = self.process.take()?.end().await?;
        Some(status.to_string())
    }
}

fn http(server: &Server, url: &Url) -> Result<StreamableHttpClientTransportConfig, String> {
    // The transport's TLS takes the process's choice; without one it could not even be made.
    if rustls::crypto::CryptoProvider::get_default().is_none()
        && rustls::crypto::ring::default_provider().install_default().is_err()
    {
        tracing::debug!("another part of the process chose its TLS first; using that");
    }
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.url.as_str());
    config.max_sse_event_size = MAX_MESSAGE_BYTES;
    config.max_json_response_size = MAX_MESSAGE_BYTES;
    let mut headers = HashMap::new();
    for (name, value) in &url.headers {
        let out_of_form = |reason: http::Error| format!("[mcp.{}] headers.{name}: {reason}", server.name);
        let header = HeaderName::try_from(name).map_err(|reason| out_of_form(reason.into()))?;
        let value = HeaderValue::try_from(value).map_err(|reason| out_of_form(reason.into()))?;
        headers.insert(header, value);
    }
    config.custom_headers = headers;
    if let Some(variable) = &url.bearer_token_env {
        let token = std::env::var(variable).ok().filter(|token| !token.is_empty());
        config.auth_header = Some(
            token
                .ok_or_else(|| format!("its token is to be in the variable {variable}, which is not set"))?,
        );
    }
    Ok(config)
}

/// What went wrong, without the whole messages that some errors hold.
fn greeting(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended the connection".to_owned(),
        ClientInitializeError::ExpectedInitResult(_) | ClientInitializeError::ExpectedInitResponse(_) => {
            "its answer to the greeting is not one of the protocol".to_owned()
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => greeting(fallback),
        ClientInitializeError::JsonRpcError(error) => brief(&error.message),
        ClientInitializeError::TransportError { error, .. } => unreachable(&error.error.to_string()),
        other => brief(&other.to_string()),
    }
}

/// What a transport says of a failure, without addresses: some have a key in them, and a model may read it.
pub(crate) fn unreachable(reason: &str) -> String {
    let mut text = String::with_capacity(reason.len());
    let mut rest = reason;
    while let Some(at) = ["http://", "https://"].into_iter().filter_map(|scheme| rest.find(scheme)).min() {
        let (before, address) = rest.split_at(at);
        let ends = |letter: char| letter.is_whitespace() || letter == ')' || letter == '"';
        text.push_str(before);
        text.push_str("its address");
        rest = address.find(ends).and_then(|end| address.get(end..)).unwrap_or_default();
    }
    text.push_str(rest);
    brief(&text)
}

pub(crate) fn brief(text: &str) -> String {
    match text.char_indices().nth(MAX_REASON_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// For the user only: what a server writes there may hold what no model should read.
pub(crate) fn with_stderr(reason: String, stderr: &StderrTail) -> String {
    let tail = stderr.text();
    if tail.is_empty() { reason } else { format!("{reason}. Its last words on stderr:\n{tail}") }
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
