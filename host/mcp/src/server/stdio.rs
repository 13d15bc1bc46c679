//! One client on a pair of pipes: a message a line, as the protocol has it for stdin and stdout.
//!
//! Whatever comes in, the conversation goes on: what is no JSON, what is no message, what is too long is answered with an
//! error and forgotten. Only the end of the input ends it.

use super::handler::Handler;
use super::{MAX_MESSAGE_BYTES, ServeError, ToolHost};
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, GetMeta, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, ServiceExt, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long calls go on after the end of the input. Whoever pipes some requests in gets the answers of quick ones; clients
/// that close the pipe in order to end the server wait two seconds before they kill it.
const AFTER_THE_END: Duration = Duration::from_secs(1);

/// Messages on their way out. A client that does not read holds up what is behind them, and nothing piles up.
const WAITING_LINES: usize = 16;

/// Serves one client until its input ends or `stop` fires; calls in flight are cancelled then.
///
/// # Errors
/// [`ServeError::Opening`] and [`ServeError::Stopped`].
pub async fn serve_stdio(
    host: Arc<dyn ToolHost>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let gone = stop.child_token();
    let lines = Lines::new(input, output, gone.clone());
    let served = match Handler::new(host, gone.clone()).serve_with_ct(lines, stop.child_token()).await {
        Ok(running) => running.waiting().await.map(drop).map_err(ServeError::from),
        // A client that leaves before it has said anything is a client that leaves.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
        Err(error) => Err(ServeError::Opening(Box::new(error))),
    };
    gone.cancel();
    served
}

/// A line on its way out, and who waits for it to be written.
type Line = (Vec<u8>, oneshot::Sender<io::Result<()>>);

struct Lines<R> {
    input: BufReader<R>,
    /// The line that is being read.
    line: Vec<u8>,
    /// The rest of this line is thrown away, because it got too long.
    is_skipping: bool,
    is_at_end: bool,
    /// Whether the protocol's own library may see other messages than requests. Before a conversation is open it would take one
    /// for its end.
    is_open: bool,
    /// An answer to what was no message, which has not been taken by the writer yet.
    refusal: Option<ServerJsonRpcMessage>,
    lines: Option<mpsc::Sender<Line>>,
    writing: Option<JoinHandle<()>>,
    gone: CancellationToken,
}

impl<R: AsyncRead + Send + Unpin> Lines<R> {
    fn new(input: R, output: impl AsyncWrite + Send + Unpin + 'static, gone: CancellationToken) -> Self {
        let (lines, waiting) = mpsc::channel(WAITING_LINES);
        Self {
            input: BufReader::with_capacity(64 << 10, input),
            line: Vec::new(),
            is_skipping: false,
            is_at_end: false,
            is_open: false,
            refusal: None,
            lines: Some(lines),
            writing: Some(tokio::spawn(write(output, waiting))),
            gone,
        }
    }

    /// The next line; `None` at the end. What was read so far is kept when this is dropped.
    async fn next_line(&mut self) -> Option<Result<Vec<u8>, TooLong>> {
        loop {
            let available = match self.input.fill_buf().await {
                Ok(available) => available,
                Err(error) => {
                    tracing::debug!(%error, "the input cannot be read");
                    &[]
                }
            };
            if available.is_empty() {
                self.is_at_end = true;
                // A last line without its end counts.
                let rest = std::mem::take(&mut self.line);
                return (!rest.is_empty()).then_some(Ok(rest));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |at| at + 1);
            if !self.is_skipping {
                self.line.extend_from_slice(&available[..end.unwrap_or(taken)]);
            }
            self.input.consume(taken);
            if self.line.len() > MAX_MESSAGE_BYTES {
                // The memory goes back, too.
                self.line = Vec::new();
                self.is_skipping = end.is_none();
                return Some(Err(TooLong));
            }
            match (end, self.is_skipping) {
                (Some(_), true) => self.is_skipping = false,
                (Some(_), false) => return Some(Ok(std::mem::take(&mut self.line))),
                (None, _) => {}
            }
        }
    }

    /// What a line means: a message, or nothing and perhaps a refusal.
    fn understand(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return None;
        }
        match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
            Ok(message) if self.may_pass(&message) => Some(message),
            Ok(_) => {
                tracing::debug!("a message before the conversation was opened is left out");
                None
            }
            Err(error) => {
                self.refusal = refusal(line, &error);
                None
            }
        }
    }

    fn may_pass(&mut self, message: &ClientJsonRpcMessage) -> bool {
        if let ClientJsonRpcMessage::Request(request) = message {
            let opens = match &request.request {
                ClientRequest::InitializeRequest(_) => true,
                ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
                other => other.get_meta().protocol_version().is_some(),
            };
            self.is_open |= opens;
            return true;
        }
        self.is_open
    }
}

struct TooLong;

/// The answer to a line that is no message. `None` for what wants no answer.
fn refusal(line: &[u8], error: &serde_json::Error) -> Option<ServerJsonRpcMessage> {
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        let text = format!("Parse error: the line is no JSON ({error})");
        return Some(ServerJsonRpcMessage::error(ErrorData::parse_error(text, None), None));
    };
    let id = value.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let method = value.get("method").and_then(Value::as_str);
    let error = match (method, &id) {
        // Notifications have no answer, also those that nobody understands, and answers to what was never asked have none.
        (Some(_), None) if value.get("id").is_none() => return None,
        (None, _) if value.get("result").is_some() || value.get("error").is_some() => return None,
        (Some(method), Some(_)) => {
            ErrorData::invalid_params(format!("the parameters of {method} do not fit: {error}"), None)
        }
        _ => ErrorData::invalid_request("Invalid Request: this is no message of JSON-RPC 2.0", None),
    };
    Some(ServerJsonRpcMessage::error(error, id))
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let lines = self.lines.clone();
        async move {
            let closed = || io::Error::new(io::ErrorKind::BrokenPipe, "the client does not read any more");
            let (written, told) = oneshot::channel();
            let line = line(&item)?;
            lines.ok_or_else(closed)?.send((line, written)).await.map_err(io::Error::other)?;
            told.await.map_err(io::Error::other)?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.refusal.is_some() {
                // Only once there is room is it taken, so that nothing is lost when this is dropped meanwhile.
                let room = self.lines.as_ref()?.reserve().await.ok()?;
                if let Some(line) = self.refusal.take().and_then(|refusal| line(&refusal).ok()) {
                    room.send((line, oneshot::channel().0));
                }
            }
            if self.is_at_end {
                let gone = self.gone.clone();
                tokio::spawn(async move {
                    if tokio::time::timeout(AFTER_THE_END, gone.cancelled()).await.is_err() {
                        gone.cancel();
                    }
                });
                return None;
            }
            match self.next_line().await {
                Some(Ok(line)) => {
                    if let Some(message) = self.understand(&line) {
                        return Some(message);
                    }
                }
                Some(Err(TooLong)) => {
                    let text = format!("Invalid Request: a message may have {MAX_MESSAGE_BYTES} bytes");
                    self.refusal =
                        Some(ServerJsonRpcMessage::error(ErrorData::invalid_request(text, None), None));
                }
                None => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.lines = None;
        match self.writing.take() {
            Some(writing) => writing.await.map_err(io::Error::other),
            None => Ok(()),
        }
    }
}

fn line(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// Writes lines, each as a whole.
async fn write(mut output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Line>) {
    while let Some((line, told)) = lines.recv().await {
        let written = async {
            output.write_all(&line).await?;
            output.flush().await
        };
        let written = written.await;
        let is_broken = written.is_err();
        // Nobody waits for the answer to what was no message.
        drop(told.send(written));
        if is_broken {
            return;
        }
    }
}

#[cfg(test)]
#[path = "stdio_tests.rs"]
mod tests;
