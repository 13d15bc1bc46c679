//! The release binary, run as a user runs it, against a scripted model on the loopback interface.

use crate::Subject;
use anyhow::{Context, Result, ensure};
use capstan_provider::Answer;
use capstan_provider::scripted::server::{RecordedRequest, ScriptedServer};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A user's home and workspace with both extensions installed, allowed and compiled.
pub(crate) struct Installation<'a> {
    subject: &'a Subject,
    root: TempDir,
    /// Serves the model. Not the thread that measures, so that the client is never kept waiting.
    runtime: tokio::runtime::Runtime,
}

/// What was seen of one run of the product.
pub(crate) struct Run {
    started: Instant,
    requests: Vec<RecordedRequest>,
    /// The largest resident memory up to the last request, in KiB.
    pub(crate) peak_kib: u64,
}

impl Run {
    /// From the start of the process to the last byte of its first request.
    pub(crate) fn start(&self) -> Option<Duration> {
        self.requests.first().map(|first| first.received.duration_since(self.started))
    }

    /// The length of the first request's body.
    pub(crate) fn first_request_bytes(&self) -> Option<usize> {
        self.requests.first().map(|first| first.body_bytes)
    }

    /// From the end of each answer to the last byte of the request that follows it.
    pub(crate) fn rounds(&self) -> Vec<Duration> {
        self.requests
            .windows(2)
            .filter_map(|pair| Some(pair[1].received.duration_since(pair[0].answered?)))
            .collect()
    }
}

impl<'a> Installation<'a> {
    pub(crate) fn new(subject: &'a Subject) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let installation = Self { subject, root: tempfile::tempdir()?, runtime };
        let extensions = installation.path("home/extensions");
        std::fs::create_dir_all(&extensions)?;
        std::fs::create_dir_all(installation.path("workspace/src"))?;
        std::fs::write(installation.path("workspace/two.txt"), "the first line\nthe second line\n")?;
        std::fs::write(installation.path("workspace/src/lib.rs"), "pub fn nothing() {}\n")?;
        for name in ["repo-map.wasm", "command-guard.wasm"] {
            let from = subject.extensions.join(name);
            std::fs::copy(&from, extensions.join(name))
                .with_context(|| format!("{} is missing; `cargo xtask setup` builds it", from.display()))?;
        }
        // Compiles both and keeps the code, so that no measured run does.
        let allowed = installation
            .command("http://127.0.0.1:9")
            .args(["ext", "allow", "repo-map", "--yes"])
            .output()?;
        ensure!(allowed.status.success(), "repo-map could not be allowed: {}", complaint(&allowed));
        Ok(installation)
    }

    fn path(&self, below: &str) -> std::path::PathBuf {
        self.root.path().join(below)
    }

    fn command(&self, base_url: &str) -> Command {
        let mut command = Command::new(&self.subject.capstan);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("CAPSTAN_HOME", self.path("home"))
            .env("CAPSTAN_MODEL", "openai/scripted")
            .env("OPENAI_BASE_URL", base_url)
            .env("OPENAI_API_KEY", "scripted")
            .current_dir(self.path("workspace"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// One run whose model makes this call `rounds` times and then ends the turn.
    pub(crate) fn run(
        &self,
        flags: &[&str],
        tool: &'static str,
        arguments: Value,
        rounds: usize,
    ) -> Result<Run> {
        let pid = Arc::new(AtomicU32::new(0));
        let peak = Arc::new(AtomicU32::new(0));
        let script = {
            let (pid, peak) = (pid.clone(), peak.clone());
            Arc::new(move |n: usize, _: &RecordedRequest| {
                if n < rounds {
                    return Answer::call(tool, arguments.clone());
                }
                peak.store(peak_kib(pid.load(Ordering::Acquire)), Ordering::Release);
                Answer::text("done")
            })
        };
        let server = self.runtime.block_on(ScriptedServer::start(script))?;
        let mut command = self.command(&server.base_url());
        command.args(flags).args(["--print", "go"]);
        let started = Instant::now();
        let child = command.spawn()?;
        pid.store(child.id(), Ordering::Release);
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "the run failed: {}", complaint(&output));
        let requests = server.requests();
        ensure!(requests.len() == rounds + 1, "{} requests instead of {}", requests.len(), rounds + 1);
        for request in &requests[1..] {
            expect_success(request)?;
        }
        Ok(Run { started, requests, peak_kib: peak.load(Ordering::Acquire).into() })
    }

    /// The folder that sessions are written below, for measuring its device.
    pub(crate) fn home(&self) -> std::path::PathBuf {
        self.path("home")
    }
}

/// A denied or failed call is quick, and its time is not what is to be measured.
fn expect_success(request: &RecordedRequest) -> Result<()> {
    let messages = request.body.get("messages").and_then(Value::as_array);
    let result = messages.and_then(|messages| messages.last()).map(|last| last["content"].to_string());
    let result = result.unwrap_or_default();
    let failed = ["denied", "failed", "error", "not found"].iter().any(|word| result.contains(word));
    ensure!(!failed, "the tool call did not succeed: {result}");
    Ok(())
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// The largest resident memory that a process has had, in KiB; 0 where the system does not tell.
fn peak_kib(pid: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|value| value.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

/// Times of appending one line of `bytes` bytes to a file below `folder` and waiting for the device.
pub(crate) fn synced_appends(folder: &Path, bytes: usize, times: usize) -> Result<Vec<Duration>> {
    use std::io::Write;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let mut line = vec![b'x'; bytes];
    line.push(b'\n');
    let mut taken = Vec::with_capacity(times);
    for _ in 0..times {
        let began = Instant::now();
        file.write_all(&line)?;
        file.as_file().sync_data()?;
        taken.push(began.elapsed());
    }
    Ok(taken)
}

/// Times of the shell alone, doing nothing: what no host can be quicker than.
pub(crate) fn bare_shells(times: usize) -> Result<Vec<Duration>> {
    let mut taken = Vec::with_capacity(times);
    for _ in 0..times {
        let began = Instant::now();
        let status = Command::new("/bin/bash").args(["-c", "--", "true"]).stdin(Stdio::null()).status()?;
        ensure!(status.success(), "the shell failed");
        taken.push(began.elapsed());
    }
    Ok(taken)
}

/// The arguments that the rounds are made with.
pub(crate) fn shell_true() -> Value {
    json!({ "command": "true" })
}

/// Reading a file of two lines.
pub(crate) fn read_two_lines() -> Value {
    json!({ "path": "two.txt" })
}
