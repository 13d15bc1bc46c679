//! Clients over HTTP: the protocol's streamable transport, behind a bearer token.
//!
//! Loopback is no protection by itself: every program and every page in a browser of this machine reaches it. So a request
//! must show the token, must name one of our hosts (a page that has its own name point to 127.0.0.1 does not), and must not
//! come from a page at all unless its origin is allowed.

use super::handler::Handler;
use super::{MAX_MESSAGE_BYTES, ServeError, Token, ToolHost};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Where the server answers; everywhere else there is nothing.
pub const PATH: &str = "/mcp";

/// Connections at a time; further ones wait for one to end. Each client holds one or two.
const MAX_CONNECTIONS: usize = 64;

/// Clients at a time; a further one is told to come back. Far above what one person's programs open.
const MAX_SESSIONS: usize = 32;

/// A client that says nothing for so long has to introduce itself again, as the protocol foresees. A day's work has longer
/// breaks than the usual five minutes.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// How long the head or the body of a request may take to arrive. On loopback it is there at once; who takes longer holds a
/// connection from others.
const ARRIVAL: Duration = Duration::from_secs(30);

/// How long requests in flight may take to end when the server does.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Between two attempts after a connection could not be accepted: usually there are too many open files, and that passes.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Who may ask.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// What every request must show.
    pub token: Token,
    /// What the `Host` header may say, with or without a port.
    pub hosts: Vec<String>,
    /// Pages that may ask: `https://host:port`. Empty: no page may, and programs, which send no origin, may.
    pub origins: Vec<String>,
}

struct Server {
    token: Token,
    mcp: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    /// Held while a client introduces itself, so that the count below holds.
    opening: Mutex<()>,
}

/// Serves clients until `stop` fires; calls in flight are cancelled then.
///
/// # Errors
/// [`ServeError::Listening`] when the socket cannot be used any more.
pub async fn serve_http(
    host: Arc<dyn ToolHost>,
    listener: TcpListener,
    options: HttpOptions,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let mut session_config = SessionConfig::default();
    session_config.keep_alive = Some(IDLE);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config = session_config;
    let sessions = Arc::new(sessions);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(options.hosts)
        .with_allowed_origins(options.origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_MESSAGE_BYTES)
        .with_cancellation_token(stop.clone());
    let gone = stop.clone();
    let handler = move || Ok(Handler::new(host.clone(), gone.clone()));
    let mcp = StreamableHttpService::new(handler, sessions.clone(), config);
    let server = Arc::new(Server { token: options.token, mcp, sessions, opening: Mutex::default() });

    let (room, connections) = (Arc::new(Semaphore::new(MAX_CONNECTIONS)), TaskTracker::new());
    while let Some(room) = stop.run_until_cancelled(room.clone().acquire_owned()).await {
        let Some(accepted) = stop.run_until_cancelled(listener.accept()).await else { break };
        match accepted {
            Ok((stream, _)) => {
                let (server, stop) = (server.clone(), stop.clone());
                connections.spawn(async move {
                    server.converse(stream, stop).await;
                    drop(room);
                });
            }
            Err(error) if is_passing(&error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
    connections.close();
    if tokio::time::timeout(LAST_ANSWERS, connections.wait()).await.is_err() {
        tracing::debug!("connections were still open at the end");
    }
    Ok(())
}

/// Whether accepting can work again: the failure was that connection's own, or of what others may give back.
fn is_passing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{InvalidInput, NotConnected, Unsupported};
    !matches!(error.kind(), InvalidInput | NotConnected | Unsupported)
}

impl Server {
    async fn converse(self: Arc<Self>, stream: TcpStream, stop: CancellationToken) {
        let service = service_fn(move |request| {
            let server = self.clone();
            async move { Ok::<_, Infallible>(server.answer(request).await) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(ARRIVAL)
            .serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if request.uri().path() != PATH {
            return say(StatusCode::NOT_FOUND, "Not Found: the server is at /mcp");
        }
        let shown = request.headers().get(header::AUTHORIZATION);
        if !shown.is_some_and(|shown| self.token.is_shown_by(shown.as_bytes())) {
            let mut answer =
                say(StatusCode::UNAUTHORIZED, "Unauthorized: send `Authorization: Bearer TOKEN`");
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
            return answer;
        }
        let (head, body) = request.into_parts();
        let body = tokio::time::timeout(ARRIVAL, Limited::new(body, MAX_MESSAGE_BYTES).collect()).await;
        let body = match body {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                return say(StatusCode::PAYLOAD_TOO_LARGE, "Payload Too Large");
            }
            Ok(Err(_gone)) => return say(StatusCode::BAD_REQUEST, "Bad Request: the body is incomplete"),
            Err(_late) => {
                return say(StatusCode::REQUEST_TIMEOUT, "Request Timeout: the body did not arrive");
            }
        };
        let opens =
            head.method == Method::POST && !head.headers.contains_key("mcp-session-id") && is_opening(&body);
        let request = Request::from_parts(head, Full::new(body));
        if !opens {
            return self.mcp.handle(request).await;
        }
        let _opening = self.opening.lock().await;
        if self.sessions.sessions.read().await.len() >= MAX_SESSIONS {
            let mut answer = say(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable: too many clients");
            answer.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("60"));
            return answer;
        }
        self.mcp.handle(request).await
    }
}

/// Whether a message begins a session.
fn is_opening(body: &[u8]) -> bool {
    // What is no JSON is refused by whoever reads it next.
    let value: Option<Value> = serde_json::from_slice(body).ok();
    value.is_some_and(|value| value["method"] == "initialize")
}

fn say(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}
