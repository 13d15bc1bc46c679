//! A run of the product: what it says, how it ends.

use super::TIME_LIMIT;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// How a run ended.
#[derive(Debug)]
pub struct Finished {
    /// All of stdout.
    pub stdout: String,
    /// All of stderr.
    pub stderr: String,
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// From start to end.
    pub elapsed: Duration,
}

/// A run that goes on.
pub struct Running {
    child: Child,
    stdout: Output,
    stderr: Output,
    began: Instant,
}

/// What came out of a stream so far.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Ends with the stream.
    reading: JoinHandle<()>,
}

impl Running {
    /// Watches over a process that has just been started.
    pub(super) fn of(mut child: Child) -> Self {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        Self { child, stdout: Output::of(stdout), stderr: Output::of(stderr), began: Instant::now() }
    }

    /// The process id; `None` once it ended.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// What stands on stderr so far.
    pub fn said(&self) -> String {
        self.stderr.text()
    }

    /// Waits until this stands on stderr.
    pub async fn says(&mut self, part: &str) -> Result<()> {
        while !self.stderr.text().contains(part) {
            ensure!(self.began.elapsed() < TIME_LIMIT, "it never said {part:?} but: {}", self.stderr.text());
            ensure!(self.child.try_wait()?.is_none(), "it ended without {part:?}: {}", self.stderr.text());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// Ends it as `kill -9` does and waits until it is gone.
    pub async fn kill(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Sends it a signal by its name (`INT`, `TERM`), and nobody else.
    pub async fn signal(&self, name: &str) -> Result<()> {
        let id = self.id().context("the product has ended already")?;
        let status = Command::new("kill").arg(format!("-{name}")).arg(id.to_string()).status().await?;
        ensure!(status.success(), "kill -{name} failed");
        Ok(())
    }

    /// Waits for its end; one that does not come in time is brought about, and is an error.
    pub async fn finish(mut self) -> Result<Finished> {
        let waited = tokio::time::timeout(TIME_LIMIT, self.child.wait()).await;
        let Ok(status) = waited else {
            self.child.kill().await?;
            let (stdout, stderr) = (self.stdout.text(), self.stderr.text());
            bail!("the product did not end within {TIME_LIMIT:?}\nstdout: {stdout}\nstderr: {stderr}");
        };
        let elapsed = self.began.elapsed();
        // A command that outlives the product must not hold its output open; here that would show as an error.
        let ends = async { anyhow::Ok((self.stdout.end().await?, self.stderr.end().await?)) };
        let (stdout, stderr) = tokio::time::timeout(TIME_LIMIT, ends)
            .await
            .context("the product's output was never closed")??;
        Ok(Finished { stdout, stderr, code: status?.code(), elapsed })
    }
}

impl Finished {
    /// The same, checked for its exit code.
    #[track_caller]
    pub fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// stdout as JSON.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.stdout).with_context(|| format!("no JSON: {}", self.stdout))
    }

    /// stdout as JSON lines.
    pub fn json_lines(&self) -> Result<Vec<Value>> {
        json_lines(&self.stdout)
    }

    /// The lines of stderr without the one that only a slow machine shows: what a long compilation is for.
    pub fn warnings(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| !line.starts_with("capstan: compiling ")).collect()
    }
}

/// Each line as JSON. An empty line, or a last one without its end, is an error.
pub fn json_lines(text: &str) -> Result<Vec<Value>> {
    ensure!(text.is_empty() || text.ends_with('\n'), "the last line has no end");
    text.lines().map(|line| serde_json::from_str(line).with_context(|| format!("no JSON: {line}"))).collect()
}

impl Output {
    fn of(stream: Option<impl AsyncRead + Unpin + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let read = bytes.clone();
        let reading = tokio::spawn(async move {
            let Some(mut stream) = stream else { return };
            let mut piece = [0; 8192];
            // What was read before a failure is still worth showing.
            while let Ok(n @ 1..) = stream.read(&mut piece).await {
                read.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&piece[..n]);
            }
        });
        Self { bytes, reading }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    async fn end(&mut self) -> Result<String> {
        (&mut self.reading).await?;
        Ok(self.text())
    }
}
