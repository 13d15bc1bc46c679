//! A client of `capstan mcp serve` that knows nothing but lines of JSON-RPC, so that a test says what goes over the wire.

use crate::product::{Finished, Product, TIME_LIMIT};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// A server that is driven over its pipes. Dropping it ends the server.
pub struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: tokio::io::Lines<BufReader<ChildStdout>>,
    talk: Arc<Mutex<String>>,
    reading: JoinHandle<()>,
    /// Lines that were read and not asked for yet.
    unread: VecDeque<Value>,
    next_id: u64,
    began: Instant,
}

impl McpClient {
    /// Starts `capstan mcp serve` with these arguments; nothing is sent yet.
    pub fn start(product: &Product, arguments: &[&str]) -> Result<Self> {
        let (program, environment) = product.command_line();
        let mut child = Command::new(program)
            .args(["mcp", "serve"])
            .args(arguments)
            .current_dir(product.workspace())
            .env_clear()
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?).lines();
        let talk = Arc::new(Mutex::new(String::new()));
        let reading = tokio::spawn(listen(child.stderr.take().context("no stderr")?, talk.clone()));
        Ok(Self {
            child,
            stdin,
            stdout,
            talk,
            reading,
            unread: VecDeque::new(),
            next_id: 0,
            began: Instant::now(),
        })
    }

    /// The same, and opens the conversation in the revision that most clients speak.
    pub async fn open(product: &Product, arguments: &[&str]) -> Result<Self> {
        let mut client = Self::start(product, arguments)?;
        let about = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about});
        let opened = client.ask("initialize", params).await?;
        ensure!(opened["result"]["protocolVersion"] == "2025-06-18", "{opened}");
        client.tell("notifications/initialized", json!({})).await?;
        Ok(client)
    }

    /// The process id; `None` once it ended.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Sends bytes as they are.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let stdin = self.stdin.as_mut().context("stdin is closed")?;
        stdin.write_all(bytes).await?;
        Ok(stdin.flush().await?)
    }

    /// Sends a notification.
    pub async fn tell(&mut self, method: &str, params: Value) -> Result<()> {
        self.send(format!("{}\n", json!({"jsonrpc": "2.0", "method": method, "params": params})).as_bytes())
            .await
    }

    /// Sends a request and answers its id.
    pub async fn begin(&mut self, method: &str, params: Value) -> Result<u64> {
        self.next_id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        self.send(format!("{request}\n").as_bytes()).await?;
        Ok(self.next_id)
    }

    /// Waits for the answer to the request of this id.
    pub async fn answer(&mut self, id: u64) -> Result<Value> {
        self.take(|line| line["id"] == id && line.get("method").is_none()).await
    }

    /// Sends a request and waits for its answer.
    pub async fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.begin(method, params).await?;
        self.answer(id).await
    }

    /// Calls a tool; the answer is the result.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let mut answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        ensure!(answer.get("error").is_none(), "{answer}");
        Ok(answer["result"].take())
    }

    /// The names of the tools on offer, sorted.
    pub async fn tools(&mut self) -> Result<Vec<String>> {
        let listed = self.ask("tools/list", json!({})).await?;
        let tools = listed["result"]["tools"].as_array().with_context(|| format!("no list: {listed}"))?;
        let mut names: Vec<_> =
            tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
        names.sort();
        Ok(names)
    }

    /// The first line that fits and was not asked for yet. The others stay where they are.
    pub async fn take(&mut self, fits: impl Fn(&Value) -> bool) -> Result<Value> {
        if let Some(at) = self.unread.iter().position(&fits) {
            return self.unread.remove(at).context("it was there");
        }
        loop {
            let line =
                self.next().await?.with_context(|| format!("stdout ended; stderr: {}", self.said()))?;
            if fits(&line) {
                return Ok(line);
            }
            self.unread.push_back(line);
        }
    }

    async fn next(&mut self) -> Result<Option<Value>> {
        let Ok(line) = tokio::time::timeout(TIME_LIMIT, self.stdout.next_line()).await else {
            bail!("nothing came for {TIME_LIMIT:?}; unread: {:?}; stderr: {}", self.unread, self.said());
        };
        let Some(line) = line? else { return Ok(None) };
        serde_json::from_str(&line).map(Some).with_context(|| format!("no JSON on stdout: {line}"))
    }

    /// What stands on stderr so far.
    pub fn said(&self) -> String {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until this stands on stderr.
    pub async fn says(&self, part: &str) -> Result<()> {
        while !self.said().contains(part) {
            ensure!(self.began.elapsed() < TIME_LIMIT, "it never said {part:?} but: {}", self.said());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// Sends a signal by its name.
    pub async fn signal(&self, name: &str) -> Result<()> {
        let id = self.id().context("it has ended already")?;
        let status = Command::new("kill").arg(format!("-{name}")).arg(id.to_string()).status().await?;
        ensure!(status.success(), "kill -{name} failed");
        Ok(())
    }

    /// Closes stdin.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end, with stdin as it is. `stdout` of the answer is what was not asked for.
    pub async fn ended(mut self) -> Result<Finished> {
        while let Some(line) = self.next().await? {
            self.unread.push_back(line);
        }
        let status =
            tokio::time::timeout(TIME_LIMIT, self.child.wait()).await.context("it did not end")??;
        tokio::time::timeout(TIME_LIMIT, &mut self.reading).await.context("stderr was never closed")??;
        Ok(Finished {
            stdout: self.unread.iter().map(|line| format!("{line}\n")).collect(),
            stderr: self.said(),
            code: status.code(),
            elapsed: self.began.elapsed(),
        })
    }

    /// Closes stdin and waits for the end.
    pub async fn finish(mut self) -> Result<Finished> {
        self.close();
        self.ended().await
    }
}

async fn listen(stderr: impl AsyncRead + Unpin, talk: Arc<Mutex<String>>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    while let Ok(1..) = stderr.read_until(b'\n', &mut line).await {
        talk.lock().unwrap_or_else(PoisonError::into_inner).push_str(&String::from_utf8_lossy(&line));
        line.clear();
    }
}
