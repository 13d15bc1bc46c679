//! One trivial tool three ways: a component in process, the same component through `capstan mcp serve`, and a server on Node with
//! the protocol's official SDK, both over stdin and stdout. Each answers with the text that it is given.

use crate::Subject;
use crate::figure::{Figures, Unit};
use crate::sandbox::{Place, runtime};
use anyhow::{Context, Result, bail, ensure};
use capstan_ports::message::text_of;
use capstan_tests::sandboxed::{call, tool_context};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const GROUP: &str = "mcp";
const CALLS: usize = 5_000;
/// As for hooks; Node's compiler has made up its mind by then, too.
const WARM_UP_CALLS: usize = 1_000;
const STARTS: usize = 20;

const IN_PROCESS: &str = "mcp_call_in_process";
const CAPSTAN: &str = "mcp_call_capstan";
const NODE: &str = "mcp_call_node";

/// What the tool is to say again.
const TEXT: &str = "the text that the tool answers with";

/// Measures the group.
pub(crate) fn measure(subject: &Subject, figures: &mut Figures) -> Result<()> {
    // All of it in one run, because only its comparisons mean something.
    if !figures.wants(GROUP, "mcp_vs_wasm") {
        return Ok(());
    }
    let component = subject.guests.join("minimal-tool.wasm");
    ensure!(component.is_file(), "{} is missing; `cargo xtask setup` builds it", component.display());
    figures.times(IN_PROCESS, Unit::Microseconds, None, &runtime()?.block_on(in_process(&component))?);

    let installed = Installed::new(subject, &component)?;
    let served = || installed.command();
    take(figures, ["mcp_start_capstan", CAPSTAN, "mcp_memory_capstan"], served)?;
    if let Some((script, sdk)) = node(subject) {
        let served = || {
            let mut command = Command::new("node");
            command.arg(&script).arg(&sdk);
            command
        };
        take(figures, ["mcp_start_node", NODE, "mcp_memory_node"], served)?;
    }
    figures.compare("mcp_vs_wasm", IN_PROCESS, NODE);
    figures.compare("mcp_vs_capstan", CAPSTAN, NODE);
    Ok(())
}

/// Starts, calls and memory of one server.
fn take(figures: &mut Figures, names: [&'static str; 3], command: impl Fn() -> Command) -> Result<()> {
    let mut starts = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let began = Instant::now();
        let mut server = Server::start(command())?;
        server.open()?;
        starts.push(began.elapsed());
        server.end()?;
    }
    figures.times(names[0], Unit::Milliseconds, None, &starts);
    let mut server = Server::start(command())?;
    server.open()?;
    for _ in 0..WARM_UP_CALLS {
        server.echo()?;
    }
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let began = Instant::now();
        server.echo()?;
        times.push(began.elapsed());
    }
    figures.times(names[1], Unit::Microseconds, None, &times);
    let resident = server.resident_megabytes()?;
    figures.values(names[2], Unit::Megabytes, None, vec![resident]);
    server.end()
}

async fn in_process(component: &Path) -> Result<Vec<Duration>> {
    let place = Place::new()?;
    let sandbox = place.sandbox()?;
    let extension = place.extension(&sandbox, component).await?;
    let tool = extension.tools().pop().context("the guest has a tool")?;
    let (call, context) = (call("echo", json!({ "text": TEXT })), tool_context());
    let said = tool.execute(&call, &context).await?;
    ensure!(text_of(&said.content) == TEXT, "the tool says something else: {said:?}");
    for _ in 0..WARM_UP_CALLS {
        tool.execute(&call, &context).await?;
    }
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let began = Instant::now();
        tool.execute(&call, &context).await?;
        times.push(began.elapsed());
    }
    Ok(times)
}

/// A user's home with the component in it, compiled.
struct Installed<'a> {
    subject: &'a Subject,
    root: TempDir,
}

impl<'a> Installed<'a> {
    fn new(subject: &'a Subject, component: &Path) -> Result<Self> {
        let installed = Self { subject, root: tempfile::tempdir()? };
        let extensions = installed.root.path().join("home/extensions");
        std::fs::create_dir_all(&extensions)?;
        std::fs::create_dir(installed.root.path().join("workspace"))?;
        std::fs::copy(component, extensions.join("minimal-tool.wasm"))?;
        // The code is compiled and kept, so that no measured start does it.
        let mut server = Server::start(installed.command())?;
        server.open()?;
        server.end()?;
        Ok(installed)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.subject.capstan);
        command
            .args(["mcp", "serve"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path().join("home"))
            .env("CAPSTAN_HOME", self.root.path().join("home"))
            .current_dir(self.root.path().join("workspace"));
        command
    }
}

/// The script of the server on Node and where its SDK is. `None` where that is not installed, which is said.
fn node(subject: &Subject) -> Option<(PathBuf, PathBuf)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp/server.mjs");
    let sdk = subject.guests.with_file_name("mcp-peers").join("typescript");
    let is_there = sdk.join("node_modules/@modelcontextprotocol/sdk").is_dir();
    if !is_there {
        eprintln!("{NODE} is left out: {} is not there; `cargo xtask peers` installs it", sdk.display());
    }
    is_there.then_some((script, sdk))
}

/// A server over its pipes, asked by one who waits for each answer.
struct Server {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: String,
    n_requests: u64,
}

impl Server {
    fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("{command:?} cannot be started"))?;
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(Self { child, stdin, stdout, line: String::new(), n_requests: 0 })
    }

    fn tell(&mut self, message: &Value) -> Result<()> {
        let mut line = message.to_string();
        line.push('\n');
        Ok(self.stdin.write_all(line.as_bytes())?)
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        self.n_requests += 1;
        self.tell(&json!({"jsonrpc": "2.0", "id": self.n_requests, "method": method, "params": params}))?;
        self.line.clear();
        ensure!(self.stdout.read_line(&mut self.line)? > 0, "the server ended");
        let answer: Value = serde_json::from_str(&self.line)?;
        if answer["id"] != self.n_requests || answer.get("error").is_some() {
            bail!("{method}: {answer}");
        }
        Ok(answer)
    }

    /// Opens the conversation and lists the tools, as every client does.
    fn open(&mut self) -> Result<()> {
        let about = json!({"name": "capstan-bench", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about});
        self.ask("initialize", params)?;
        self.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        let listed = self.ask("tools/list", json!({}))?;
        ensure!(listed["result"]["tools"][0]["name"] == "echo", "it does not offer the tool: {listed}");
        Ok(())
    }

    fn echo(&mut self) -> Result<()> {
        let answer = self.ask("tools/call", json!({"name": "echo", "arguments": {"text": TEXT}}))?;
        ensure!(answer["result"]["content"][0]["text"] == TEXT, "the tool says something else: {answer}");
        Ok(())
    }

    /// What it holds in memory now, in binary megabytes.
    fn resident_megabytes(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kib: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kib / 1024.0)
    }

    fn end(self) -> Result<()> {
        let Self { mut child, stdin, stdout, .. } = self;
        drop((stdin, stdout));
        child.wait()?;
        Ok(())
    }
}
