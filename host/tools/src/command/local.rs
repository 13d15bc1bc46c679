//! Commands on the local machine, by the shell.
//!
//! The rules are pi's: nothing to read on standard input, standard output and error in one pipe, a group of its own
//! that is killed as a whole on abort and on timeout. What a command leaves running when the shell exits is left
//! alone (a development server is a fair thing to start), but not waited for: after a short grace the call ends and the
//! pipe is closed. A process that still writes to it then gets a broken pipe, so background output belongs in a file.
//!
//! What this cannot do: confine a command, or reach a process that moved itself into another session. Provider keys
//! are taken out of the environment so that they do not end up in output by accident; a command that is after them can
//! look at the host's own process.

use crate::command::group::{CHUNK_BYTES, GRACE, Group, Isolation, KILL_WAIT};
use crate::command::{CommandEnd, CommandOutcome, CommandRequest, CommandRuntime, OutputBuffer, OutputSink};
use crate::error::RuntimeError;
use async_trait::async_trait;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// At most one partial result in this time, however fast the output comes.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// Linux takes no single argument longer than this (32 pages), terminator included.
const MAX_COMMAND_BYTES: usize = 128 * 1024 - 1;

/// Variables that commands never see.
const SECRETS: [&str; 2] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/// Runs commands with `bash`, or with `sh` where there is none.
#[derive(Debug, Clone)]
pub struct LocalCommands {
    shell: PathBuf,
    isolation: Isolation,
    secrets: Vec<OsString>,
    output_directory: PathBuf,
}

impl LocalCommands {
    /// Looks once at what the machine has.
    pub fn new() -> Self {
        let bash = Path::new("/bin/bash");
        Self {
            shell: if bash.exists() { bash.to_path_buf() } else { PathBuf::from("/bin/sh") },
            isolation: Isolation::fitting(),
            secrets: SECRETS.map(OsString::from).to_vec(),
            output_directory: std::env::temp_dir(),
        }
    }

    /// Takes more variables out of the environment of every command.
    #[must_use]
    pub fn without_variables<T: Into<OsString>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.secrets.extend(names.into_iter().map(Into::into));
        self
    }

    /// Puts long output into this directory instead of the system's temporary one; see
    /// [`OutputFolder`](crate::OutputFolder). If it is a root of the workspace, the model can look at it with `read`.
    #[must_use]
    pub fn with_output_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.output_directory = directory.into();
        self
    }

    /// Decides how commands are set apart, against what was found to fit.
    #[must_use]
    pub fn with_isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    fn spawn(&self, request: &CommandRequest, output: std::io::PipeWriter) -> std::io::Result<Child> {
        let mut command = self.isolation.command(&self.shell);
        for name in &self.secrets {
            command.env_remove(name);
        }
        // The `--` lets a command line begin with a dash.
        command.args(["-c", "--", &request.command]).current_dir(&request.directory);
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).kill_on_drop(true);
        // The writing ends go with `command` at the end of this function; otherwise the pipe would never close.
        command.spawn()
    }
}

impl Default for LocalCommands {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl CommandRuntime for LocalCommands {
    async fn run(
        &self,
        request: CommandRequest,
        sink: &dyn OutputSink,
        cancel: &CancellationToken,
    ) -> Result<CommandOutcome, RuntimeError> {
        let n_bytes = request.command.len();
        if n_bytes > MAX_COMMAND_BYTES {
            return Err(RuntimeError::CommandTooLong { n_bytes, max_bytes: MAX_COMMAND_BYTES });
        }
        let mut buffer = OutputBuffer::new(self.output_directory.clone());
        if cancel.is_cancelled() {
            return Ok(CommandOutcome { output: buffer.finish().await, end: CommandEnd::Cancelled });
        }
        let followed = |source| RuntimeError::Followed { source };
        let (reader, writer) = std::io::pipe().map_err(followed)?;
        let mut pipe = pipe::Receiver::from_owned_fd(reader.into()).map_err(followed)?;
        let mut child = self.spawn(&request, writer).map_err(|source| RuntimeError::Spawn {
            program: self.shell.clone(),
            directory: request.directory.clone(),
            source,
        })?;
        let mut group = Group::of(&child);
        let end = follow(&mut child, &mut group, &mut pipe, &mut buffer, &request, sink, cancel).await;
        let end = match end.map_err(followed)? {
            Ended::Itself(status) => end_of(status),
            Ended::Killed(end) => {
                group.kill();
                // Both waits are bounded: the abort is answered even if a process hangs or another holds the pipe.
                if timeout(KILL_WAIT, child.wait()).await.is_ok() {
                    group.is_gone();
                }
                drain(&mut pipe, &mut buffer).await;
                end
            }
        };
        Ok(CommandOutcome { output: buffer.finish().await, end })
    }
}

enum Ended {
    Itself(ExitStatus),
    Killed(CommandEnd),
}

/// Copies output until the shell has exited and the pipe is closed or the grace is over, or until a kill is due.
async fn follow(
    child: &mut Child,
    group: &mut Group,
    pipe: &mut pipe::Receiver,
    buffer: &mut OutputBuffer,
    request: &CommandRequest,
    sink: &dyn OutputSink,
    cancel: &CancellationToken,
) -> std::io::Result<Ended> {
    let started = Instant::now();
    // A timeout beyond what the clock can count is none.
    let limit = request.timeout.and_then(|limit| Some((limit, started.checked_add(limit)?)));
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut exited: Option<(ExitStatus, Instant)> = None;
    let mut open = true;
    let mut next_report = started;
    let mut unreported = false;
    loop {
        if let Some((status, _)) = exited
            && !open
        {
            return Ok(Ended::Itself(status));
        }
        let grace_ends = exited.map_or(started, |(_, at)| at + GRACE);
        let limit_ends = limit.map_or(started, |(_, at)| at);
        // In this order: output that never stops must not starve the ways to end it.
        tokio::select! {
            biased;
            () = cancel.cancelled(), if exited.is_none() => return Ok(Ended::Killed(CommandEnd::Cancelled)),
            () = sleep_until(limit_ends), if exited.is_none() && limit.is_some() => {
                let limit = limit.map_or(Duration::ZERO, |(limit, _)| limit);
                return Ok(Ended::Killed(CommandEnd::TimedOut(limit)));
            }
            () = sleep_until(grace_ends), if exited.is_some() => open = false,
            status = child.wait(), if exited.is_none() => {
                group.is_gone();
                exited = Some((status?, Instant::now()));
            }
            () = sleep_until(next_report), if unreported => {
                sink.output(&buffer.tail());
                unreported = false;
                next_report = Instant::now() + REPORT_EVERY;
            }
            n_bytes = pipe.read(&mut chunk), if open => match n_bytes? {
                0 => open = false,
                n_bytes => {
                    buffer.push(&chunk[..n_bytes]).await;
                    unreported = true;
                }
            },
        }
    }
}

/// Takes what is still in the pipe of a killed command.
async fn drain(pipe: &mut pipe::Receiver, buffer: &mut OutputBuffer) {
    let ends = Instant::now() + GRACE;
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(Ok(n_bytes @ 1..)) = tokio::time::timeout_at(ends, pipe.read(&mut chunk)).await {
        buffer.push(&chunk[..n_bytes]).await;
        if Instant::now() >= ends {
            break;
        }
    }
}

fn end_of(status: ExitStatus) -> CommandEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => CommandEnd::Exited(code),
        (None, Some(signal)) => CommandEnd::Signalled(signal),
        // Not reachable on Unix: a process that is gone has exited or was killed.
        (None, None) => CommandEnd::Exited(-1),
    }
}

#[cfg(test)]
#[path = "local_tests.rs"]
mod tests;
