//! Programs for extensions and hooks: no shell, nothing inherited, nothing left behind.
//!
//! Unlike a command of the model, a program of an extension is a step of one call. What it still has running when it
//! exits is killed with its group, so that no call works on after its answer.
//!
//! What this cannot do: confine a program, or reach a process that moved itself into another session. Which programs
//! may run is decided by whoever holds the runner.

use crate::command::group::{CHUNK_BYTES, GRACE, Group, Isolation, KILL_WAIT};
use async_trait::async_trait;
use capstan_ports::program::{ProgramError, ProgramOutcome, ProgramRequest, ProgramRunner};
use rustix::fs::{Access, access};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Runs programs on this machine.
#[derive(Debug, Clone)]
pub struct LocalPrograms {
    search_path: OsString,
    isolation: Isolation,
}

impl LocalPrograms {
    /// Takes the host's `PATH` as it is now.
    pub fn new() -> Self {
        Self { search_path: std::env::var_os("PATH").unwrap_or_default(), isolation: Isolation::fitting() }
    }

    /// Looks for programs in these folders, written like a `PATH`, instead of the host's.
    #[must_use]
    pub fn with_search_path(mut self, path: impl Into<OsString>) -> Self {
        self.search_path = path.into();
        self
    }

    /// Decides how programs are set apart, against what was found to fit.
    #[must_use]
    pub fn with_isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    fn spawn(&self, request: &ProgramRequest, directory: &Path) -> io::Result<Child> {
        if let Some((name, _)) =
            request.environment.iter().find(|(name, _)| name.is_empty() || name.contains('='))
        {
            let problem = format!("{name:?} is no name of an environment variable");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let mut command = self.isolation.command(&self.locate(&request.program)?);
        command.args(&request.arguments).current_dir(directory).env_clear();
        command.envs(request.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command.spawn()
    }
}

impl Default for LocalPrograms {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl ProgramRunner for LocalPrograms {
    // What it finds is started by its absolute path, so that neither the folder in which the program starts nor its own
    // environment has a say in what runs.
    fn locate(&self, program: &Path) -> io::Result<PathBuf> {
        if program.is_absolute() {
            return Ok(program.to_path_buf());
        }
        if program.components().count() != 1 || program.file_name() != Some(program.as_os_str()) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "name it by its absolute path or by its bare file name",
            ));
        }
        std::env::split_paths(&self.search_path)
            // An empty or relative entry would make the meaning of a name depend on where the host stands.
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(program))
            .find(|path| path.is_file() && access(path, Access::EXEC_OK).is_ok())
            .ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::NotFound,
                    "no folder on PATH has it: install it or name its absolute path",
                )
            })
    }

    async fn run(
        &self,
        request: ProgramRequest,
        cancel: &CancellationToken,
    ) -> Result<ProgramOutcome, ProgramError> {
        if cancel.is_cancelled() {
            return Err(ProgramError::Cancelled);
        }
        let program = request.program.clone();
        let not_started = |source| ProgramError::NotStarted { program: program.clone(), source };
        let lost = |source| ProgramError::Lost { program: program.clone(), source };
        // Declared before the group: whatever way this function is left, the processes go before their folder does.
        let temporary = match request.directory {
            Some(_) => None,
            None => Some(TempDir::with_prefix("capstan-program-").map_err(not_started)?),
        };
        let directory = match (&request.directory, &temporary) {
            (Some(directory), _) => directory.as_path(),
            (None, Some(temporary)) => temporary.path(),
            (None, None) => Path::new("/"),
        };
        let mut child = self.spawn(&request, directory).map_err(not_started)?;
        let mut group = Group::of(&child);
        let mut stdout = Capture::new(request.max_output_bytes);
        let mut stderr = Capture::new(request.max_output_bytes);
        let followed = follow(&mut child, &mut group, &request, &mut stdout, &mut stderr, cancel).await;
        let (exit_code, timed_out) = match followed.map_err(lost)? {
            Ended::Itself(status) => (status.code(), false),
            Ended::TimedOut => (None, true),
            Ended::Cancelled => return Err(ProgramError::Cancelled),
        };
        Ok(ProgramOutcome {
            exit_code,
            truncated: stdout.truncated || stderr.truncated,
            stdout: stdout.bytes,
            stderr: stderr.bytes,
            timed_out,
        })
    }
}

enum Ended {
    Itself(ExitStatus),
    TimedOut,
    Cancelled,
}

/// Moves the three streams until the program has exited, or until a kill is due; then ends the whole group.
async fn follow(
    child: &mut Child,
    group: &mut Group,
    request: &ProgramRequest,
    stdout: &mut Capture,
    stderr: &mut Capture,
    cancel: &CancellationToken,
) -> io::Result<Ended> {
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // All three at once: a program that writes before it has read everything must not wait for ever.
    let mut streams = pin!(async {
        tokio::try_join!(feed(input, &request.stdin), stdout.fill(output), stderr.fill(errors)).map(|_| ())
    });
    let mut open = true;
    let killed = {
        let mut limit = pin!(sleep(request.timeout));
        let mut exited = pin!(group.exited());
        // In this order: output that never stops must not starve the ways to end it.
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => break Some(Ended::Cancelled),
                result = &mut exited => { result?; break None }
                () = &mut limit => break Some(Ended::TimedOut),
                result = &mut streams, if open => { result?; open = false }
            }
        }
    };
    if killed.is_none()
        && open
        && let Ok(result) = timeout(GRACE, &mut streams).await
    {
        result?;
        open = false;
    }
    group.kill();
    let status = timeout(KILL_WAIT, child.wait()).await;
    if status.is_ok() {
        group.is_gone();
    }
    // Only a process that left the group can hold the pipes now. What was written before is taken, then they close.
    if open && let Ok(result) = timeout(KILL_WAIT, &mut streams).await {
        result?;
    }
    match (killed, status) {
        (Some(ended), _) => Ok(ended),
        (None, Ok(status)) => Ok(Ended::Itself(status?)),
        (None, Err(elapsed)) => Err(io::Error::new(io::ErrorKind::TimedOut, elapsed)),
    }
}

/// Writes standard input and closes it. A program that does not want it may close it early.
async fn feed(input: Option<tokio::process::ChildStdin>, bytes: &[u8]) -> io::Result<()> {
    let Some(mut input) = input else { return Ok(()) };
    match input.write_all(bytes).await {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// The kept beginning of one output.
struct Capture {
    bytes: Vec<u8>,
    max_bytes: usize,
    truncated: bool,
}

impl Capture {
    fn new(max_bytes: usize) -> Self {
        Self { bytes: Vec::new(), max_bytes, truncated: false }
    }

    /// Reads to the end, so that the program is never stopped by a full pipe, and keeps what there is room for.
    async fn fill(&mut self, output: Option<impl AsyncRead + Unpin>) -> io::Result<()> {
        let Some(mut output) = output else { return Ok(()) };
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let n_bytes = output.read(&mut chunk).await?;
            if n_bytes == 0 {
                return Ok(());
            }
            let kept = n_bytes.min(self.max_bytes - self.bytes.len());
            self.bytes.extend_from_slice(&chunk[..kept]);
            self.truncated |= kept < n_bytes;
        }
    }
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
