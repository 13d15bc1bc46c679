//! One request and its answer.

use super::Share;
use super::audit::Audit;
use super::body::{Answer, Faults, Upload};
use super::connect::connect;
use super::fault::Fault;
use super::redact::Redactor;
use crate::network::{MAX_RESPONSE_HEADER_BYTES, MAX_RESPONSE_HEADER_FIELDS, Network};
use crate::rights::Rights;
use capstan_policy::Target;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

/// What the guest gets: the answer, and work that must go on while it is read (here none: the body holds the connection).
pub(crate) type Sent = (Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>);

/// A request that may be made.
pub(crate) struct Exchange {
    pub(crate) request: http::Request<WasiBody>,
    pub(crate) target: Target,
    pub(crate) rights: Arc<Rights>,
    pub(crate) network: Network,
    pub(crate) options: RequestOptions,
    /// When the last byte of the answer must be here.
    pub(crate) deadline: Instant,
    pub(crate) share: Arc<Share>,
    pub(crate) slot: OwnedSemaphorePermit,
    /// Hides secrets in the answer; absent where there is none to hide.
    pub(crate) redactor: Option<Redactor>,
    /// Whether the body is searched for placeholders.
    pub(crate) scans_body: bool,
    /// Whether an answer that is compressed must be refused.
    pub(crate) must_be_readable: bool,
}

impl Exchange {
    /// Makes the request. The line in the log is written when the answer has been read.
    pub(crate) async fn run(self, mut audit: Audit) -> Result<Sent, Error> {
        let deadline = self.deadline;
        match timeout_at(deadline, self.send(&mut audit)).await {
            Ok(Ok((mut answer, response))) => {
                answer.keep(audit);
                Ok((response.map(|()| answer.boxed_unsync()), Box::new(std::future::ready(Ok(())))))
            }
            Ok(Err(fault)) => Err(audit.fail(fault)),
            Err(_elapsed) => Err(audit.fail(Fault::Timeout)),
        }
    }

    async fn send(self, audit: &mut Audit) -> Result<(Answer, Response<()>), Fault> {
        let Self { request, target, rights, network, options, deadline, share, slot, .. } = self;
        let limits = network.limits();
        let (parts, body) = request.into_parts();
        let method = parts.method.clone();
        let faults = Faults::default();
        let mut upload = Upload::new(body, share.clone(), audit.sent(), faults.clone(), limits.sent_bytes);
        if self.scans_body {
            upload.search_ahead().await?;
        }

        let until = deadline.min(Instant::now() + shorter(limits.connect, options.connect_timeout));
        let stream = connect(&target, method.as_str(), &rights, &network, until).await?;
        let mut client = hyper::client::conn::http1::Builder::new();
        client.max_buf_size(MAX_RESPONSE_HEADER_BYTES).max_headers(MAX_RESPONSE_HEADER_FIELDS);
        let (mut sender, connection) =
            client.handshake(TokioIo::new(stream)).await.map_err(Fault::of_hyper)?;
        // Ends with the answer's body, which holds it.
        let connection = AbortOnDropHandle::new(tokio::spawn(async move {
            if let Err(reason) = connection.await {
                // The exchange sees the same failure and reports it.
                tracing::debug!(%reason, "a connection of an extension ended");
            }
        }));

        let until = match options.first_byte_timeout {
            Some(wait) => deadline.min(Instant::now() + wait),
            None => deadline,
        };
        let sending = sender.send_request(http::Request::from_parts(parts, upload));
        let response = match timeout_at(until, sending).await {
            Ok(Ok(response)) => response,
            // What our own side of the body said is the reason; hyper only saw that it ended.
            Ok(Err(source)) => return Err(faults.take().unwrap_or_else(|| Fault::of_hyper(source))),
            Err(_elapsed) => return Err(faults.take().unwrap_or(Fault::Timeout)),
        };
        audit.answered(response.status().as_u16());
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            return Err(Fault::Upgrade);
        }
        let (mut parts, incoming) = response.into_parts();
        if self.must_be_readable {
            check_coding(&parts.headers)?;
        }
        if let Some(announced) = incoming.size_hint().exact()
            && method != Method::HEAD
            && announced > share.to_receive.load(Ordering::Relaxed)
        {
            return Err(Fault::ReceivedTooMuch { announced: Some(announced) });
        }
        if let Some(redactor) = &self.redactor {
            redactor.hide_in(&mut parts.headers)?;
            if method != Method::HEAD {
                // The length of what the guest reads may be another.
                parts.headers.remove(CONTENT_LENGTH);
            }
        }
        let pause = options.between_bytes_timeout;
        let answer = Answer::new(incoming, self.redactor, deadline, pause, share, (connection, slot));
        Ok((answer, Response::from_parts(parts, ())))
    }
}

fn shorter(limit: std::time::Duration, wanted: Option<std::time::Duration>) -> std::time::Duration {
    wanted.map_or(limit, |wanted| wanted.min(limit))
}

fn check_coding(headers: &HeaderMap<HeaderValue>) -> Result<(), Fault> {
    for value in headers.get_all(CONTENT_ENCODING) {
        let coding = String::from_utf8_lossy(value.as_bytes()).trim().to_ascii_lowercase();
        if !coding.is_empty() && coding != "identity" {
            return Err(Fault::Unreadable { coding: coding.chars().take(40).collect() });
        }
    }
    Ok(())
}
