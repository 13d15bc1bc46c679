//! The scripted server over streamable HTTP: one request for each connection, events for whoever listens.

use super::script::{A_MOMENT, Reaction, TOO_MANY_BYTES, react};
use anyhow::{Context, Result};
use serde_json::Value;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

/// The running server. Dropping it stops it.
pub struct HttpServer {
    url: String,
    accepting: JoinHandle<()>,
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl HttpServer {
    /// Starts one with this folder.
    pub async fn start(folder: PathBuf) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let (events, _) = broadcast::channel(16);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (folder, events) = (folder.clone(), events.clone());
                // A client that gives up early is what some tests are about.
                tokio::spawn(async move { drop(serve(stream, &folder, &events).await) });
            }
        });
        Ok(Self { url, accepting })
    }

    /// What to configure.
    pub fn url(&self) -> String {
        self.url.clone()
    }
}

async fn serve(stream: TcpStream, folder: &Path, events: &broadcast::Sender<Value>) -> Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let method = line.split(' ').next().unwrap_or_default().to_owned();
    let mut body_bytes = 0;
    line.clear();
    while stream.read_line(&mut line).await? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            body_bytes = value.trim().parse().context("the length of the body")?;
        }
        line.clear();
    }
    let mut body = vec![0; body_bytes];
    stream.read_exact(&mut body).await?;
    let stream = stream.get_mut();
    match method.as_str() {
        "POST" => post(stream, folder, events, &body).await,
        "GET" => listen(stream, events).await,
        _ => head(stream, "200 OK", "text/plain").await,
    }
}

async fn post(
    stream: &mut TcpStream,
    folder: &Path,
    events: &broadcast::Sender<Value>,
    body: &[u8],
) -> Result<()> {
    let message: Value = serde_json::from_slice(body)?;
    let has_id = message.get("id").is_some();
    match react(folder, false, &message) {
        Reaction::Nothing if has_id => {
            // Until the client goes away.
            stream.read_u8().await?;
        }
        Reaction::Nothing => head(stream, "202 Accepted", "text/plain").await?,
        Reaction::Say(messages) if messages.len() > 1 => {
            head(stream, "200 OK", "text/event-stream").await?;
            for message in messages {
                stream.write_all(event(&message).as_bytes()).await?;
                tokio::time::sleep(A_MOMENT).await;
            }
        }
        Reaction::Say(messages) => {
            head(stream, "200 OK", "application/json").await?;
            stream.write_all(messages.first().context("no answer")?.to_string().as_bytes()).await?;
        }
        Reaction::Babble(text, _) => {
            head(stream, "200 OK", "application/json").await?;
            stream.write_all(text.as_bytes()).await?;
        }
        Reaction::Announce(told, answer) => {
            drop(events.send(told));
            head(stream, "200 OK", "application/json").await?;
            stream.write_all(answer.to_string().as_bytes()).await?;
        }
        Reaction::Flood => {
            head(stream, "200 OK", "application/json").await?;
            stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"").await?;
            let piece = vec![b'x'; 1 << 20];
            for _ in 0..TOO_MANY_BYTES / piece.len() {
                stream.write_all(&piece).await?;
            }
        }
        Reaction::Crash => {}
    }
    Ok(stream.shutdown().await?)
}

async fn listen(stream: &mut TcpStream, events: &broadcast::Sender<Value>) -> Result<()> {
    let mut events = events.subscribe();
    head(stream, "200 OK", "text/event-stream").await?;
    loop {
        let told = events.recv().await?;
        stream.write_all(event(&told).as_bytes()).await?;
    }
}

fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

async fn head(stream: &mut TcpStream, status: &str, kind: &str) -> Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nmcp-session-id: one\r\nconnection: close\r\n\r\n"
    );
    Ok(stream.write_all(head.as_bytes()).await?)
}
