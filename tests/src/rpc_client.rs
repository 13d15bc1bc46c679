//! A small client of `capstan --mode rpc`: sends commands, reads answers and events.

use crate::product::{Finished, Product, TIME_LIMIT};
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::process::Stdio;
use std::time::Instant;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// A run of the product that is driven. Dropping it ends the run.
pub struct RpcClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::UnboundedReceiver<String>,
    reading: JoinHandle<()>,
    talk: JoinHandle<String>,
    /// Lines that were read and not asked for yet.
    unread: VecDeque<Value>,
    /// All lines, in the order in which they came.
    pub seen: Vec<Value>,
    next_id: u64,
    began: Instant,
}

impl RpcClient {
    /// Starts the product with `--mode rpc` and these arguments.
    pub fn start(product: &Product, arguments: &[&str]) -> Result<Self> {
        let (program, environment) = product.command_line();
        let mut child = Command::new(program)
            .args(["--mode", "rpc"])
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
        let stdout = child.stdout.take().context("no stdout")?;
        let mut stderr = child.stderr.take().context("no stderr")?;
        let (sender, lines) = mpsc::unbounded_channel();
        let reading = tokio::spawn(async move {
            let mut stdout = BufReader::new(stdout);
            let mut line = Vec::new();
            while let Ok(1..) = stdout.read_until(b'\n', &mut line).await {
                let text = String::from_utf8_lossy(&line).into_owned();
                if sender.send(text).is_err() {
                    return;
                }
                line.clear();
            }
        });
        let talk = tokio::spawn(async move {
            let mut bytes = Vec::new();
            // What was read before a failure is still worth showing.
            drop(stderr.read_to_end(&mut bytes).await);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Ok(Self {
            child,
            stdin,
            lines,
            reading,
            talk,
            unread: VecDeque::new(),
            seen: Vec::new(),
            next_id: 0,
            began: Instant::now(),
        })
    }

    /// The process id; `None` once it ended.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Sends a command as one line.
    pub async fn send(&mut self, command: Value) -> Result<()> {
        self.send_bytes(format!("{command}\n").as_bytes()).await
    }

    /// Sends bytes as they are.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let stdin = self.stdin.as_mut().context("stdin is closed")?;
        stdin.write_all(bytes).await?;
        Ok(stdin.flush().await?)
    }

    /// Sends a command under an id of its own and waits for its answer.
    pub async fn call(&mut self, mut command: Value) -> Result<Value> {
        self.next_id += 1;
        let id = json!(format!("call-{}", self.next_id));
        command["id"] = id.clone();
        self.send(command).await?;
        self.take(|line| line["type"] == "response" && line["id"] == id).await
    }

    /// The same, checked for success; answers the data.
    pub async fn done(&mut self, command: Value) -> Result<Value> {
        let mut answer = self.call(command.clone()).await?;
        ensure!(answer["success"] == true, "{command}: {answer}");
        ensure!(answer["command"] == command["type"], "{command}: {answer}");
        Ok(answer["data"].take())
    }

    /// The same, checked for failure; answers the reason.
    pub async fn refused(&mut self, command: Value) -> Result<String> {
        let answer = self.call(command.clone()).await?;
        ensure!(answer["success"] == false, "{command}: {answer}");
        Ok(answer["error"].as_str().context("no reason")?.to_owned())
    }

    /// The first line of this type that was not asked for yet.
    pub async fn event(&mut self, kind: &str) -> Result<Value> {
        self.take(|line| line["type"] == kind).await
    }

    /// The first line that fits and was not asked for yet. The others stay where they are.
    pub async fn take(&mut self, fits: impl Fn(&Value) -> bool) -> Result<Value> {
        if let Some(at) = self.unread.iter().position(&fits) {
            return self.unread.remove(at).context("it was there");
        }
        loop {
            let line = self.next().await?.with_context(|| {
                let last: Vec<_> = self.seen.iter().rev().take(5).collect();
                format!("stdout ended; the last lines were {last:?}")
            })?;
            if fits(&line) {
                return Ok(line);
            }
            self.unread.push_back(line);
        }
    }

    async fn next(&mut self) -> Result<Option<Value>> {
        let Ok(line) = tokio::time::timeout(TIME_LIMIT, self.lines.recv()).await else {
            bail!("nothing came for {TIME_LIMIT:?}; unread: {:?}", self.unread);
        };
        let Some(line) = line else { return Ok(None) };
        ensure!(line.ends_with('\n'), "the line has no end: {line}");
        let line: Value = serde_json::from_str(&line).with_context(|| format!("no JSON: {line}"))?;
        self.seen.push(line.clone());
        Ok(Some(line))
    }

    /// Closes stdin.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Stops reading stdout for good.
    pub fn stop_reading(&mut self) {
        self.reading.abort();
    }

    /// Closes stdin and waits for the end; one that does not come in time is an error. `seen` of the answer are the lines.
    pub async fn finish(mut self) -> Result<(Finished, Vec<Value>)> {
        self.close();
        if !self.reading.is_finished() {
            while self.next().await?.is_some() {}
        }
        let status =
            tokio::time::timeout(TIME_LIMIT, self.child.wait()).await.context("it did not end")??;
        let finished = Finished {
            stdout: String::new(),
            stderr: self.talk.await?,
            code: status.code(),
            elapsed: self.began.elapsed(),
        };
        Ok((finished, self.seen))
    }
}
