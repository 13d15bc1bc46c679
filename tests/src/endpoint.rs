//! A model server that is broken: it answers every request with the same bytes, whatever they are.

use anyhow::Result;
use std::net::Ipv4Addr;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The running server. Dropping it stops it.
pub struct Endpoint {
    base_url: String,
    accepting: JoinHandle<()>,
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Endpoint {
    /// Answers with exactly these bytes and closes the connection.
    pub async fn answering(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        let bytes = bytes.into();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let base_url = format!("http://{}/v1", listener.local_addr()?);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let bytes = bytes.clone();
                // A client that gives up early is what some tests are about.
                tokio::spawn(async move { drop(answer(stream, &bytes).await) });
            }
        });
        Ok(Self { base_url, accepting })
    }

    /// Answers with status 200 and this event stream.
    pub async fn streaming(events: &str) -> Result<Self> {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        Self::answering(format!("{head}{events}")).await
    }

    /// An address where nothing listens.
    pub async fn nowhere() -> Result<String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Ok(format!("http://{}/v1", listener.local_addr()?))
    }

    /// What to configure as the base URL.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }
}

async fn answer(stream: TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut body_bytes = 0;
    let mut line = String::new();
    // The request is read to its end: a connection closed on unread bytes is reset, and the answer lost.
    while stream.read_line(&mut line).await? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            body_bytes = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    stream.read_exact(&mut vec![0; body_bytes]).await?;
    stream.get_mut().write_all(bytes).await?;
    stream.get_mut().shutdown().await
}
