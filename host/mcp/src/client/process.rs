//! The process of a server: started with little, watched, ended with all that it started.

use super::settings::{Program, ServerName};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::collections::VecDeque;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

/// Variables that every program needs to work at all. None of them is a credential; whatever else a server needs is named in its
/// table.
const PASSED_ON: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
];

/// How much of what a server writes to stderr is kept. The end of it says why it stopped.
const MAX_STDERR_BYTES: usize = 8 << 10;

/// How many lines of it are shown.
const SHOWN_LINES: usize = 8;

/// How long a server may take to end after its input was closed, and again after it was asked to. Most need milliseconds; one that
/// hangs must not hold up the end of the program.
const MAY_TAKE: Duration = Duration::from_millis(700);

/// How long what is in a pipe may take to be read after the process is gone.
const GRACE: Duration = Duration::from_millis(100);

/// The end of what a server wrote to stderr.
#[derive(Debug, Clone, Default)]
pub(crate) struct StderrTail(Arc<Mutex<VecDeque<u8>>>);

impl StderrTail {
    /// The last lines; empty if it wrote nothing.
    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        lines.get(lines.len().saturating_sub(SHOWN_LINES)..).unwrap_or_default().join("\n")
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let too_many = kept.len().saturating_sub(MAX_STDERR_BYTES);
        kept.drain(..too_many);
    }
}

/// A server that was started. Killed with its process group when dropped; see [`Process::end`] for the orderly way.
pub(crate) struct Process {
    child: Child,
    leader: Option<Pid>,
    pub(crate) stderr: StderrTail,
    /// Ends with its stderr.
    reading: Option<JoinHandle<()>>,
}

/// The two ends that are spoken through.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

impl Process {
    /// Starts a server.
    ///
    /// # Errors
    /// A text that says what cannot be started and why.
    pub(crate) fn start(
        name: &ServerName,
        program: &Program,
        workspace: &Path,
    ) -> Result<(Self, Pipes), String> {
        let mut command = Command::new(&program.command);
        command.args(&program.args).env_clear();
        for variable in PASSED_ON.into_iter().chain(program.pass_env.iter().map(String::as_str)) {
            if let Some(value) = std::env::var_os(variable) {
                command.env(variable, value);
            } else if program.pass_env.iter().any(|passed| passed == variable) {
                return Err(format!("[mcp.{name}] passes on the variable {variable}, which is not set"));
            }
        }
        command.envs(&program.env);
        let directory = program.cwd.as_ref().map_or_else(|| workspace.to_owned(), |cwd| workspace.join(cwd));
        command.current_dir(&directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own: Ctrl-C at the terminal is for Capstan, and what the server starts ends with it.
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn().map_err(|reason| match reason.kind() {
            std::io::ErrorKind::NotFound if directory.is_dir() => {
                format!("the program `{}` was not found; is it installed, and in PATH?", program.command)
            }
            std::io::ErrorKind::NotFound => format!("its directory {} is not there", directory.display()),
            _ => format!("the program `{}` cannot be started: {reason}", program.command),
        })?;
        let stderr = StderrTail::default();
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let (stdin, stdout, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut process = Self { child, leader, stderr, reading: None };
        match (stdin, stdout, errors) {
            (Some(stdin), Some(stdout), Some(errors)) => {
                process.reading = Some(tokio::spawn(keep(errors, process.stderr.clone(), name.clone())));
                Ok((process, Pipes { stdin, stdout }))
            }
            _ => Err("the system gave no pipes to it".to_owned()),
        }
    }

    /// How it ended, if it has within the time.
    pub(crate) async fn ended(&mut self, within: Duration) -> Option<ExitStatus> {
        match tokio::time::timeout(within, self.exited()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return None,
        }
        self.reap().await
    }

    /// Ends it in good order: its input is closed already; then it is asked to end, then it is killed. What it left behind of its
    /// group is killed in any case.
    pub(crate) async fn end(mut self) -> Option<ExitStatus> {
        for request in [Signal::TERM, Signal::KILL] {
            match tokio::time::timeout(MAY_TAKE, self.exited()).await {
                Ok(Ok(())) => break,
                Ok(Err(_)) | Err(_) => self.signal(request),
            }
        }
        self.reap().await
    }

    /// Kills what is left of the group, then takes the leader's status. Not the other way round: the number of a leader that was
    /// waited for may mean somebody else.
    async fn reap(&mut self) -> Option<ExitStatus> {
        self.signal(Signal::KILL);
        self.leader = None;
        if let Some(reading) = self.reading.take() {
            // Its last words are in the pipe still. Whoever inherited the pipe and lives on is not waited for.
            drop(tokio::time::timeout(GRACE, reading).await);
        }
        tokio::time::timeout(MAY_TAKE, self.child.wait()).await.ok()?.ok()
    }

    /// Waits until the leader has exited, and leaves it unreaped.
    async fn exited(&self) -> std::io::Result<()> {
        let Some(leader) = self.leader else { return Ok(()) };
        // Listening starts before the first look, so that no exit falls between the two.
        let mut changes = signal(SignalKind::child())?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(leader), options)?.is_none() {
            changes.recv().await;
        }
        Ok(())
    }

    fn signal(&self, signal: Signal) {
        // A group that is gone already is what is wanted.
        if let Some(leader) = self.leader {
            kill_process_group(leader, signal).ok();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// Keeps the end of what comes.
async fn keep(mut errors: ChildStderr, tail: StderrTail, server: ServerName) {
    let mut piece = [0; 4096];
    while let Ok(n @ 1..) = errors.read(&mut piece).await {
        let written = piece.get(..n).unwrap_or_default();
        tracing::debug!(%server, "stderr: {}", String::from_utf8_lossy(written).trim_end().escape_debug());
        tail.push(written);
    }
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
