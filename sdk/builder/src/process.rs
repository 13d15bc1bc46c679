//! Commands as plain values, and running them within a time limit.
//!
//! A command is built by pure functions and compared in tests; only [`CommandSpec::capture`],
//! [`CommandSpec::run_visibly`] and [`CommandSpec::run_on_stderr`] start anything.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::BuilderError;

/// Lines of output that an error carries: enough for cargo's last message, short enough for a terminal.
const TAIL_LINES: usize = 15;

/// One command: what to start, where, and with which changes to the inherited environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandSpec {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) set: BTreeMap<OsString, OsString>,
    pub(crate) unset: BTreeSet<OsString>,
    pub(crate) dir: Option<PathBuf>,
}

/// A command that came to its end, whether well or badly.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandSpec {
    pub(crate) fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            set: BTreeMap::new(),
            unset: BTreeSet::new(),
            dir: None,
        }
    }

    pub(crate) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub(crate) fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set.insert(name.into(), value.into());
        self
    }

    pub(crate) fn without(mut self, names: impl IntoIterator<Item = OsString>) -> Self {
        self.unset.extend(names);
        self
    }

    pub(crate) fn in_dir(mut self, dir: Option<&Path>) -> Self {
        self.dir = dir.map(Path::to_path_buf);
        self
    }

    /// Runs to the end with output collected, or stops the command when `limit` is over.
    pub(crate) fn capture(&self, limit: Duration) -> Result<Finished, BuilderError> {
        // Files instead of pipes: a grandchild that outlives a stopped command can hold a pipe open for ever.
        let mut stdout = scratch_file()?;
        let mut stderr = scratch_file()?;
        let mut command = self.command();
        command.stdin(Stdio::null());
        command.stdout(stdout.try_clone().map_err(scratch_error)?);
        command.stderr(stderr.try_clone().map_err(scratch_error)?);
        let mut child = command.spawn().map_err(|source| self.start_error(source))?;
        let status = match wait(&mut child, limit).map_err(|source| self.start_error(source))? {
            Some(status) => status,
            None => return Err(BuilderError::TimedOut { command: self.to_string(), limit }),
        };
        Ok(Finished { status, stdout: text_of(&mut stdout)?, stderr: text_of(&mut stderr)? })
    }

    /// [`Self::capture`], with a bad end turned into an error.
    pub(crate) fn capture_ok(&self, limit: Duration) -> Result<Finished, BuilderError> {
        let finished = self.capture(limit)?;
        if finished.status.success() {
            return Ok(finished);
        }
        let spoken = if finished.stderr.trim().is_empty() { &finished.stdout } else { &finished.stderr };
        Err(BuilderError::Failed {
            command: self.to_string(),
            status: finished.status.to_string(),
            tail: tail(spoken),
        })
    }

    /// Runs with stderr shown to the user and stdout dropped: stdout belongs to the data of the calling program.
    pub(crate) fn run_visibly(&self) -> Result<ExitStatus, BuilderError> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.status().map_err(|source| self.start_error(source))
    }

    /// Runs with both of its streams shown to the user on stderr, for what says on stdout what matters: test runners do.
    pub(crate) fn run_on_stderr(&self) -> Result<ExitStatus, BuilderError> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(std::io::stderr());
        command.status().map_err(|source| self.start_error(source))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        for name in &self.unset {
            command.env_remove(name);
        }
        command.envs(&self.set);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command
    }

    fn start_error(&self, source: std::io::Error) -> BuilderError {
        BuilderError::Start { program: self.program.display().to_string(), source }
    }
}

/// The command line as one would type it.
impl fmt::Display for CommandSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.set {
            write!(f, "{}={} ", name.display(), quoted(value))?;
        }
        f.write_str(&quoted(self.program.as_os_str()))?;
        for arg in &self.args {
            write!(f, " {}", quoted(arg))?;
        }
        Ok(())
    }
}

/// The last lines of a program's output, for an error message.
pub(crate) fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// `None` when the limit passed; the child is then gone.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    // Short at first, because a version query takes 20 ms and would otherwise mostly wait for the next look.
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

fn scratch_file() -> Result<std::fs::File, BuilderError> {
    tempfile::tempfile().map_err(scratch_error)
}

fn scratch_error(source: std::io::Error) -> BuilderError {
    BuilderError::Io { action: "use a temporary file in", path: std::env::temp_dir(), source }
}

fn text_of(file: &mut std::fs::File) -> Result<String, BuilderError> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(scratch_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
