//! A server on the local machine that plays bytes, with pauses and cuts, and keeps what it was asked.

use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One thing the server does with a connection. After the last one it closes.
#[derive(Clone)]
pub(crate) enum Act {
    Bytes(Vec<u8>),
    Pause(Duration),
}

#[derive(Clone, Debug)]
pub(crate) struct Captured {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Captured {
    /// The value of a header; names arrive in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

pub(crate) struct TestServer {
    pub(crate) base: String,
    captured: Arc<Mutex<Vec<Captured>>>,
    closed_early: Arc<tokio::sync::Notify>,
}

impl TestServer {
    /// One list of acts per connection; further connections get nothing.
    pub(crate) async fn start(replies: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let captured = Arc::new(Mutex::new(Vec::new()));
        let closed_early = Arc::new(tokio::sync::Notify::new());
        let server = Self { base, captured: Arc::clone(&captured), closed_early: Arc::clone(&closed_early) };
        tokio::spawn(async move {
            for acts in replies {
                let (socket, _) = listener.accept().await.unwrap();
                tokio::spawn(play(socket, acts, Arc::clone(&captured), Arc::clone(&closed_early)));
            }
        });
        server
    }

    pub(crate) fn requests(&self) -> Vec<Captured> {
        self.captured.lock().unwrap().clone()
    }

    /// Waits until a client closed its connection while the server was pausing.
    pub(crate) async fn client_left(&self) {
        self.closed_early.notified().await;
    }
}

async fn play(
    mut socket: TcpStream,
    acts: Vec<Act>,
    captured: Arc<Mutex<Vec<Captured>>>,
    closed_early: Arc<tokio::sync::Notify>,
) {
    let request = read_request(&mut socket).await;
    captured.lock().unwrap().push(request);
    for act in acts {
        match act {
            Act::Bytes(bytes) => {
                if socket.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::Pause(pause) => {
                let mut byte = [0];
                if tokio::time::timeout(pause, socket.read(&mut byte)).await.is_ok() {
                    closed_early.notify_one();
                    return;
                }
            }
        }
    }
}

async fn read_request(socket: &mut TcpStream) -> Captured {
    let mut bytes = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        let n = socket.read(&mut buffer).await.unwrap();
        assert!(n > 0, "the client left before the request was whole");
        bytes.extend_from_slice(&buffer[..n]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |text| text.parse().unwrap());
        let body = &bytes[end + 4..];
        if body.len() >= length {
            return Captured { head, body: serde_json::from_slice(body).unwrap() };
        }
    }
}

/// A streamed answer with status 200 that ends with the connection.
pub(crate) fn stream_of(text: impl AsRef<[u8]>) -> Vec<Act> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    vec![Act::Bytes(head.as_bytes().to_vec()), Act::Bytes(text.as_ref().to_vec())]
}

/// A whole answer: status line rest, header lines with line ends, body.
pub(crate) fn reply(status: &str, headers: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    let text =
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}");
    vec![Act::Bytes(text.into_bytes())]
}
