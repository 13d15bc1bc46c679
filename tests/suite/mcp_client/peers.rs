//! The official servers of the protocol, as `cargo xtask peers` installs them below `target/mcp-peers`. Where they are not installed,
//! each test says so and shows nothing.

use super::{Told, call, context, text};
use anyhow::{Context, Result};
use capstan_mcp::client::{Approvals, Look, Server, ServerSettings, Servers};
use capstan_ports::tool::ToolContext;
use capstan_ports::{Content, Tool, ToolError, ToolOutcome};
use capstan_tests::product::{SOON, TIME_LIMIT};
use capstan_tests::scripted_mcp;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The script of a server, if it is installed.
fn installed(name: &str) -> Option<PathBuf> {
    let file = Path::new("mcp-peers/node_modules/@modelcontextprotocol").join(name).join("dist/index.js");
    let found =
        Path::new(scripted_mcp!()).ancestors().map(|folder| folder.join(&file)).find(|path| path.is_file());
    if found.is_none() {
        eprintln!("left out: {name} is not installed; `cargo xtask peers` does it where npm is");
    }
    found
}

/// An official server in a folder of its own, with everything that it offers allowed.
struct Peer {
    folder: TempDir,
    servers: Servers,
    look: Look,
}

impl Peer {
    async fn start(name: &str, arguments: &[&str], env: &[(&str, &str)]) -> Result<Option<Self>> {
        let Some(script) = installed(name) else { return Ok(None) };
        let folder = tempfile::tempdir()?;
        let own = folder.path().canonicalize()?.to_string_lossy().into_owned();
        let place = |text: &str| text.replace("FOLDER", &own);
        let script = script.to_string_lossy().into_owned();
        let settings = ServerSettings {
            command: Some("node".to_owned()),
            args: [script].into_iter().chain(arguments.iter().map(|argument| place(argument))).collect(),
            env: env.iter().map(|(name, value)| ((*name).to_owned(), place(value))).collect(),
            // Node needs a second on an idle machine, and tests share theirs.
            start_timeout_ms: Some(60_000),
            ..ServerSettings::default()
        };
        Self::of(folder, settings).await.map(Some)
    }

    async fn of(folder: TempDir, settings: ServerSettings) -> Result<Self> {
        let servers = Servers::new([Server::new("peer", settings)?], Approvals::default(), folder.path());
        let look = servers.look("peer").await.context("no server")?.map_err(anyhow::Error::msg)?;
        let names: Vec<_> = look.tools.iter().map(|tool| tool.own.clone()).collect();
        assert!(servers.allow("peer", &names).is_empty());
        assert_eq!(look.left_out, [], "everything that it offers can be used");
        Ok(Self { folder, servers, look })
    }

    fn tool(&self, own: &str) -> Result<Arc<dyn Tool>> {
        let name = format!("peer__{own}");
        let found = self.servers.tools().into_iter().find(|tool| tool.definition().name == name);
        found.with_context(|| format!("there is no {name}"))
    }

    async fn call(&self, own: &str, arguments: Value) -> Result<ToolOutcome> {
        Ok(self.tool(own)?.execute(&call(arguments), &context()).await?)
    }
}

/// List, call, progress and cancellation: what every server with these tools must do.
async fn everything(peer: &Peer) -> Result<()> {
    assert_eq!(peer.look.about.name, "mcp-servers/everything");
    assert_eq!(text(&peer.call("echo", json!({"message": "hello"})).await?), "Echo: hello");
    assert!(text(&peer.call("get-sum", json!({"a": 2, "b": 3})).await?).contains('5'));
    let structured = peer.call("get-structured-content", json!({"location": "Chicago"})).await?;
    assert!(structured.details.is_some_and(|details| details["temperature"].is_number()));
    let picture = peer.call("get-tiny-image", json!({})).await?;
    assert!(picture.content.iter().any(|part| matches!(part, Content::Image { .. })), "{picture:?}");
    let links = peer.call("get-resource-links", json!({"count": 2})).await?;
    assert!(text(&links).contains("[Resource: "), "{links:?}");

    let told = Arc::new(Told::default());
    let following = ToolContext { progress: told.clone(), ..context() };
    let long = peer.tool("trigger-long-running-operation")?;
    long.execute(&call(json!({"duration": 1, "steps": 4})), &following).await?;
    let told = told.said();
    assert!(told.iter().any(|report| report.contains("of 4")), "{told:?}");

    let stopping = context();
    let cancel = stopping.cancel.clone();
    let calling = tokio::spawn(async move {
        long.execute(&call(json!({"duration": 1000, "steps": 1000})), &stopping).await
    });
    tokio::task::yield_now().await;
    cancel.cancel();
    let began = Instant::now();
    assert!(matches!(calling.await?, Err(ToolError::Aborted)));
    assert!(began.elapsed() < SOON);
    assert_eq!(text(&peer.call("echo", json!({"message": "still here"})).await?), "Echo: still here");
    Ok(())
}

#[tokio::test]
async fn server_everything_over_pipes() -> Result<()> {
    let Some(peer) = Peer::start("server-everything", &["stdio"], &[]).await? else { return Ok(()) };
    everything(&peer).await?;
    // It shows its environment: what was not named is not there.
    let seen = text(&peer.call("get-env", json!({})).await?);
    assert!(seen.contains("PATH") && !seen.contains("CARGO"), "{seen}");
    peer.servers.shut_down().await;
    Ok(())
}

#[tokio::test]
async fn server_everything_over_http() -> Result<()> {
    let Some(script) = installed("server-everything") else { return Ok(()) };
    // Free a moment ago; whoever takes it meanwhile makes the server fail, which would be seen.
    let port = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?.local_addr()?.port();
    let mut child = tokio::process::Command::new("node")
        .arg(script)
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let began = Instant::now();
    while tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err() {
        anyhow::ensure!(began.elapsed() < TIME_LIMIT, "it does not listen");
        anyhow::ensure!(child.try_wait()?.is_none(), "it stopped");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let url = Some(format!("http://127.0.0.1:{port}/mcp"));
    let peer = Peer::of(tempfile::tempdir()?, ServerSettings { url, ..ServerSettings::default() }).await?;
    everything(&peer).await?;
    peer.servers.shut_down().await;
    Ok(child.kill().await?)
}

#[tokio::test]
async fn server_filesystem() -> Result<()> {
    let Some(peer) = Peer::start("server-filesystem", &["FOLDER"], &[]).await? else { return Ok(()) };
    let path = peer.folder.path().canonicalize()?.join("note.txt");
    peer.call("write_file", json!({"path": path, "content": "first line\n"})).await?;
    assert_eq!(std::fs::read_to_string(&path)?, "first line\n");
    assert!(text(&peer.call("read_text_file", json!({"path": path})).await?).contains("first line"));
    let outside = peer.call("read_text_file", json!({"path": "/etc/passwd"})).await?;
    assert!(outside.is_error, "{outside:?}");
    peer.servers.shut_down().await;
    Ok(())
}

#[tokio::test]
async fn server_memory() -> Result<()> {
    let env = [("MEMORY_FILE_PATH", "FOLDER/memory.jsonl")];
    let Some(peer) = Peer::start("server-memory", &[], &env).await? else { return Ok(()) };
    let entity = json!({"name": "Ada", "entityType": "person", "observations": ["wrote notes"]});
    peer.call("create_entities", json!({"entities": [entity]})).await?;
    let found = peer.call("search_nodes", json!({"query": "Ada"})).await?;
    assert!(text(&found).contains("wrote notes"), "{found:?}");
    assert!(peer.folder.path().join("memory.jsonl").is_file());
    peer.servers.shut_down().await;
    Ok(())
}
