//! Over HTTP: who may ask, and that everything works for those who may.

use super::{greeter, with_probe};
use anyhow::{Context, Result, ensure};
use capstan_tests::product;
use capstan_tests::product::{Product, Running, SOON};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const TOKEN: &str = "a-token-of-more-than-16-characters";

/// A server over HTTP, and what is needed to ask it.
pub(super) struct Server {
    pub(super) running: Running,
    pub(super) port: u16,
    pub(super) token: String,
}

/// An answer as it came.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    /// The last message in it, whether it is JSON or a stream of events.
    fn message(&self) -> Result<Value> {
        let mut data = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let last = data.rfind(|text| !text.is_empty()).unwrap_or(&self.body);
        serde_json::from_str(last).with_context(|| format!("no message: {self:?}"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

impl Server {
    pub(super) async fn start(product: &Product, arguments: &[&str]) -> Result<Self> {
        let all: Vec<_> = ["mcp", "serve", "--http", "0"].iter().chain(arguments).copied().collect();
        let mut running = product.start(&all)?;
        running.says("/mcp").await?;
        let mut said = running.said();
        if !arguments.contains(&"--token-env") {
            running.says("Bearer ").await?;
            said = running.said();
        }
        let after = |mark: &str| said.split(mark).nth(1).map(str::to_owned);
        let address = after("MCP server at http://").context("no address")?;
        let port = address.split(['/', '\n']).next().and_then(|address| address.rsplit(':').next());
        let port = port.context("no port")?.parse()?;
        let token = after("Bearer ").and_then(|rest| rest.split('`').next().map(str::to_owned));
        Ok(Self { running, port, token: token.unwrap_or_else(|| TOKEN.to_owned()) })
    }

    /// Sends a request with exactly these headers besides those of every request.
    async fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Result<Answer> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes()).await?;
        // A server that has refused the head need not read the body.
        drop(stream.write_all(body.as_bytes()).await);
        let mut bytes = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(60), stream.read_to_end(&mut bytes)).await?;
        ensure!(read.is_ok() || !bytes.is_empty(), "no answer: {read:?}");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").with_context(|| format!("no answer: {text}"))?;
        let status = head.split(' ').nth(1).context("no status")?.parse()?;
        Ok(Answer { status, head: head.to_owned(), body: unchunked(head, body) })
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A message with the token and what else the protocol wants, and these headers in place of or besides them.
    async fn post(&self, message: &Value, headers: &[(&str, &str)]) -> Result<Answer> {
        let (host, shown) = (self.host(), format!("Bearer {}", self.token));
        let usual = [
            ("Host", host.as_str()),
            ("Authorization", shown.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let kept = usual.iter().filter(|(name, _)| headers.iter().all(|(other, _)| other != name));
        let all: Vec<_> = kept.chain(headers).copied().filter(|(_, value)| !value.is_empty()).collect();
        self.raw("POST", "/mcp", &all, &message.to_string()).await
    }

    /// Opens a session and answers its id.
    async fn open(&self) -> Result<String> {
        let opened = self.post(&opening(), &[]).await?;
        ensure!(opened.status == 200, "{opened:?}");
        let session = opened.header("mcp-session-id").context("no session")?.to_owned();
        let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let told = self.post(&told, &[("Mcp-Session-Id", &session)]).await?;
        ensure!(told.status == 202, "{told:?}");
        Ok(session)
    }

    async fn ask(&self, session: &str, method: &str, params: Value) -> Result<Value> {
        let message = json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params});
        self.post(&message, &[("Mcp-Session-Id", session)]).await?.message()
    }
}

fn opening() -> Value {
    let about = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

fn unchunked(head: &str, body: &str) -> String {
    if !head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return body.to_owned();
    }
    let (mut whole, mut rest) = (String::new(), body);
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || after.len() < size {
            break;
        }
        whole.push_str(&after[..size]);
        rest = after[size..].strip_prefix("\r\n").unwrap_or(&after[size..]);
    }
    whole
}

#[tokio::test]
async fn only_who_shows_the_token_names_our_host_and_is_no_page_may_ask() -> Result<()> {
    let product = product!()?;
    product.install(&greeter("greeter", "greet", "hello"))?;
    let server = Server::start(&product, &[]).await?;
    // With all of it right it works.
    let session = server.open().await?;
    let listed = server.ask(&session, "tools/list", json!({})).await?;
    assert_eq!(listed["result"]["tools"][0]["name"], "greet", "{listed}");
    let called = server.ask(&session, "tools/call", json!({"name": "greet", "arguments": {}})).await?;
    assert_eq!(called["result"]["content"][0]["text"], "hello", "{called}");

    let nearly = format!("Bearer {}x", server.token);
    let basic = format!("Basic {}", server.token);
    let (right, port) = (server.host(), server.port.to_string());
    let elsewhere = format!("rebound.example:{port}");
    let own = format!("http://{right}");
    for (headers, status) in [
        (&[("Authorization", "")][..], 401),
        (&[("Authorization", "Bearer wrong")][..], 401),
        (&[("Authorization", nearly.as_str())][..], 401),
        (&[("Authorization", basic.as_str())][..], 401),
        // A name that somebody let point to this machine.
        (&[("Host", elsewhere.as_str())][..], 403),
        (&[("Host", "rebound.example")][..], 403),
        // Pages, also one that was loaded from this very address.
        (&[("Origin", "https://pages.example")][..], 403),
        (&[("Origin", "null")][..], 403),
        (&[("Origin", own.as_str())][..], 403),
        (&[("Host", "localhost")][..], 200),
    ] {
        let answer = server.post(&opening(), headers).await?;
        assert_eq!(answer.status, status, "{headers:?}: {answer:?}");
    }
    let refused = server.post(&opening(), &[("Authorization", "")]).await?;
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    let shown = format!("Bearer {}", server.token);
    let headers = [("Host", right.as_str()), ("Authorization", shown.as_str())];
    assert_eq!(server.raw("POST", "/", &headers, "{}").await?.status, 404);
    // The session's id is no key.
    let stolen = [("Authorization", ""), ("Mcp-Session-Id", session.as_str())];
    assert_eq!(server.post(&opening(), &stolen).await?.status, 401);
    server.running.signal("TERM").await?;
    let finished = server.running.finish().await?.with_code(143);
    assert_eq!(finished.stdout, "");
    Ok(())
}

#[tokio::test]
async fn a_token_of_the_users_own_is_not_shown_and_origins_can_be_allowed() -> Result<()> {
    let product = product!()?.with("MY_TOKEN", TOKEN);
    let arguments = [
        "--token-env",
        "MY_TOKEN",
        "--allow-origin",
        "http://localhost:6274",
        "--builtin",
        "bash",
        "--permissions",
        "all",
    ];
    let server = Server::start(&product, &arguments).await?;
    assert_eq!(server.post(&opening(), &[("Origin", "http://localhost:6274")]).await?.status, 200);
    assert_eq!(server.post(&opening(), &[("Origin", "http://localhost:6275")]).await?.status, 403);
    // Commands do not see it either.
    let session = server.open().await?;
    let params = json!({"name": "bash", "arguments": {"command": "echo \"<$MY_TOKEN>\""}});
    let called = server.ask(&session, "tools/call", params).await?;
    assert!(
        called["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("<>")),
        "{called}"
    );
    server.running.signal("INT").await?;
    let finished = server.running.finish().await?.with_code(130);
    assert!(!finished.stderr.contains(TOKEN), "{}", finished.stderr);
    let weak = product!()?
        .with("MY_TOKEN", "short")
        .run(&["mcp", "serve", "--http", "0", "--token-env", "MY_TOKEN"])
        .await?;
    assert!(weak.with_code(1).stderr.contains("16 characters"));
    let missing = product.run(&["mcp", "serve", "--http", "0", "--token-env", "NO_SUCH"]).await?;
    assert!(missing.with_code(1).stderr.contains("NO_SUCH"));
    Ok(())
}

#[tokio::test]
async fn other_machines_are_let_in_only_when_the_user_says_so() -> Result<()> {
    let product = product!()?;
    let refused = product.run(&["mcp", "serve", "--http", "0.0.0.0:0"]).await?.with_code(1);
    assert!(refused.stderr.contains("--allow-remote"), "{}", refused.stderr);
    let mut running =
        product.start(&["mcp", "serve", "--http", "0.0.0.0:0", "--allow-remote", "tools.example"])?;
    running.says("Bearer ").await?;
    let said = running.said();
    let port =
        said.split("0.0.0.0:").nth(1).and_then(|rest| rest.split('/').next()).context("no port")?.parse()?;
    let token =
        said.split("Bearer ").nth(1).and_then(|rest| rest.split('`').next()).context("no token")?.to_owned();
    let server = Server { running, port, token };
    assert_eq!(server.post(&opening(), &[("Host", "tools.example")]).await?.status, 200);
    assert_eq!(server.post(&opening(), &[("Host", "other.example")]).await?.status, 403);
    server.running.kill().await
}

#[tokio::test]
async fn bodies_that_are_too_large_or_no_messages_are_refused() -> Result<()> {
    let product = product!()?;
    product.install(&greeter("greeter", "greet", "hello"))?;
    let server = Server::start(&product, &[]).await?;
    let huge = json!({"text": "x".repeat(5 << 20)});
    assert_eq!(server.post(&huge, &[]).await?.status, 413);
    for body in ["", "{", "[]", "\u{0}"] {
        let (host, shown) = (server.host(), format!("Bearer {}", server.token));
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", shown.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let answer = server.raw("POST", "/mcp", &headers, body).await?;
        assert!((400..500).contains(&answer.status), "{body:?}: {answer:?}");
    }
    let lost = server
        .post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}), &[("Mcp-Session-Id", "nobody")])
        .await?;
    assert_eq!(lost.status, 404);
    let session = server.open().await?;
    let called = server.ask(&session, "tools/call", json!({"name": "greet", "arguments": {}})).await?;
    assert_eq!(called["result"]["content"][0]["text"], "hello");
    server.running.kill().await
}

#[tokio::test]
async fn more_sessions_than_anybody_needs_are_refused_and_one_that_ends_makes_room() -> Result<()> {
    let product = product!()?;
    let server = Server::start(&product, &[]).await?;
    let mut sessions = Vec::new();
    let full = loop {
        let answer = server.post(&opening(), &[]).await?;
        match answer.header("mcp-session-id") {
            Some(session) if answer.status == 200 => sessions.push(session.to_owned()),
            _ => break answer,
        }
        ensure!(sessions.len() < 100, "there is no end of them");
    };
    assert_eq!((full.status, sessions.len()), (503, 32), "{full:?}");
    let (host, shown) = (server.host(), format!("Bearer {}", server.token));
    let headers = [
        ("Host", host.as_str()),
        ("Authorization", shown.as_str()),
        ("Mcp-Session-Id", sessions[0].as_str()),
    ];
    let ended = server.raw("DELETE", "/mcp", &headers, "").await?;
    assert!((200..300).contains(&ended.status), "{ended:?}");
    let began = Instant::now();
    while server.post(&opening(), &[]).await?.status != 200 {
        ensure!(began.elapsed() < SOON, "no room was made");
    }
    server.running.kill().await
}

#[tokio::test]
async fn a_call_over_http_reports_is_cancelled_and_ends_with_the_server() -> Result<()> {
    let product = with_probe().await?;
    let server = Server::start(&product, &[]).await?;
    let session = server.open().await?;
    let steps = json!({"steps": [{"try": "progress", "text": "half of it"}]});
    let params = json!({"name": "probe", "arguments": steps, "_meta": {"progressToken": "t"}});
    let message = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
    let answer = server.post(&message, &[("Mcp-Session-Id", &session)]).await?;
    assert!(
        answer.body.contains("notifications/progress") && answer.body.contains("half of it"),
        "{answer:?}"
    );
    assert_eq!(answer.message()?["result"]["isError"], false);
    // The guest spins until it is told to stop.
    let steps = json!({"steps": [{"try": "spin"}]});
    let message = json!({"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {"name": "probe", "arguments": steps}});
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 10}});
    let headers = [("Mcp-Session-Id", session.as_str())];
    let (_spinning, cancelled) =
        tokio::join!(tokio::time::timeout(Duration::from_secs(2), server.post(&message, &headers)), async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            server.post(&cancel, &headers).await
        });
    assert_eq!(cancelled?.status, 202);
    let began = Instant::now();
    let steps = json!({"steps": [{"try": "arguments"}]});
    let called = server.ask(&session, "tools/call", json!({"name": "probe", "arguments": steps})).await?;
    assert_eq!(called["result"]["isError"], false, "{called}");
    assert!(began.elapsed() < SOON);
    server.running.signal("TERM").await?;
    server.running.finish().await?.with_code(143);
    Ok(())
}
