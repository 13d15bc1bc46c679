//! A model server on the loopback interface that plays a script over real HTTP.
//!
//! For the demonstration, the tests and the benchmarks: the whole way from request to events is the product's own, only the
//! other end is scripted. Paths that end in `/messages` are answered in the Anthropic format, all others as chat completions.

use crate::config::Api;
use crate::scripted::answer::Answer;
use crate::scripted::wire;
use serde_json::Value;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Larger requests are refused; a test that sends more has gone wrong.
const MAX_BODY_BYTES: usize = 64 << 20;

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The path.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as JSON; null if it was none.
    pub body: Value,
    /// Its length in bytes.
    pub body_bytes: usize,
    /// When the last byte of it was read.
    pub received: Instant,
    /// When the last byte of the answer was handed to the system; `None` while it is being answered.
    pub answered: Option<Instant>,
}

impl RecordedRequest {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// Decides the answer to the n-th request, counted from 0.
pub type Script = Arc<dyn Fn(usize, &RecordedRequest) -> Answer + Send + Sync>;

/// The running server. Dropping it stops it.
pub struct ScriptedServer {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<RecordedRequest>>>,
    accepting: JoinHandle<()>,
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl ScriptedServer {
    /// Plays these answers, one a request. A request beyond them gets an error that says so.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn play(answers: impl IntoIterator<Item = Answer>) -> io::Result<Self> {
        let answers: Vec<_> = answers.into_iter().collect();
        Self::start(Arc::new(move |n, _| {
            answers.get(n).cloned().unwrap_or_else(|| {
                Answer::error(capstan_ports::ModelErrorKind::InvalidRequest, "the script has no answer left")
            })
        }))
        .await
    }

    /// Answers by a function.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let requests = Arc::new(Mutex::new(Vec::new()));
        let accepting = tokio::spawn(accept(listener, script, requests.clone()));
        Ok(Self { address, requests, accepting })
    }

    /// What to configure as the base URL of either format.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn accept(listener: TcpListener, script: Script, requests: Arc<Mutex<Vec<RecordedRequest>>>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let (script, requests) = (script.clone(), requests.clone());
                connections.spawn(async move {
                    if let Err(reason) = serve(stream, &script, &requests).await {
                        tracing::debug!(%reason, "a connection to the scripted server ended");
                    }
                });
            }
            Err(reason) => {
                tracing::warn!(%reason, "the scripted server stops");
                return;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, script: &Script, requests: &Mutex<Vec<RecordedRequest>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(request) = read_request(&mut stream).await? {
        let api = if request.path.ends_with("/messages") { Api::AnthropicMessages } else { Api::OpenAiChat };
        let model = request.body.get("model").and_then(Value::as_str).unwrap_or("scripted").to_owned();
        let n = {
            let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
            requests.push(request.clone());
            requests.len() - 1
        };
        let answer = script(n, &request);
        write_answer(stream.get_mut(), api, &answer, &model).await?;
        if let Some(request) = requests.lock().unwrap_or_else(PoisonError::into_inner).get_mut(n) {
            request.answered = Some(Instant::now());
        }
    }
    Ok(())
}

/// `None` when the client closed the connection between requests.
async fn read_request(stream: &mut BufReader<TcpStream>) -> io::Result<Option<RecordedRequest>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let path = line.split_whitespace().nth(1).unwrap_or("/").to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    if length > MAX_BODY_BYTES {
        return Err(io::Error::other("the request is too large"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    // Before parsing: with a long conversation that takes as long as the client's whole round.
    let received = Instant::now();
    Ok(Some(RecordedRequest {
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        body_bytes: length,
        received,
        answered: None,
    }))
}

async fn write_answer(stream: &mut TcpStream, api: Api, answer: &Answer, model: &str) -> io::Result<()> {
    pause(answer.delay_ms).await;
    if let Some(error) = &answer.error {
        let body = wire::error_body(api, error).to_string();
        let status = wire::error_status(error.kind);
        let head = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        return stream.write_all(head.as_bytes()).await;
    }
    let events = match api {
        Api::AnthropicMessages => wire::anthropic_sse(answer, model),
        Api::OpenAiChat | Api::Scripted => wire::openai_sse(answer, model),
    };
    let mut out = String::from(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    for event in events {
        out.push_str(&format!("{:x}\r\n{event}\r\n", event.len()));
        if answer.delta_delay_ms > 0 {
            stream.write_all(out.as_bytes()).await?;
            out.clear();
            pause(answer.delta_delay_ms).await;
        }
    }
    if answer.cut {
        stream.write_all(out.as_bytes()).await?;
        return Err(io::Error::other("cut by the script"));
    }
    out.push_str("0\r\n\r\n");
    stream.write_all(out.as_bytes()).await
}

async fn pause(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}
