//! The commands that the tools may run.

mod folder;
mod group;
mod local;
mod output;
mod program;

pub use folder::OutputFolder;
pub use group::Isolation;
pub use local::LocalCommands;
pub use output::{Output, OutputBuffer};
pub use program::LocalPrograms;

use crate::error::RuntimeError;
use async_trait::async_trait;
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// One command to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRequest {
    /// As the shell reads it.
    pub command: String,
    /// Where it starts.
    pub directory: PathBuf,
    /// After this time it is killed; `None` lets it run until it ends or the run is aborted.
    pub timeout: Option<Duration>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal, sent by somebody else.
    Signalled(i32),
    /// Killed because the run was aborted.
    Cancelled,
    /// Killed because it took longer than this.
    TimedOut(Duration),
}

/// A finished command.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandOutcome {
    /// Standard output and standard error as one stream, in the order in which they were written.
    pub output: Output,
    /// How it ended.
    pub end: CommandEnd,
}

/// Hears of output while a command runs.
pub trait OutputSink: Send + Sync {
    /// `tail` is the last part of all output so far. The runtime calls this a few times a second at most.
    fn output(&self, tail: &str);
}

/// Runs commands.
#[async_trait]
pub trait CommandRuntime: Send + Sync {
    /// Runs one command to its end. A command that fails is an outcome, not an error. When `cancel` fires, or when the
    /// returned future is dropped, everything that the command started is killed.
    ///
    /// # Errors
    /// When the command cannot be started or followed.
    async fn run(
        &self,
        request: CommandRequest,
        sink: &dyn OutputSink,
        cancel: &CancellationToken,
    ) -> Result<CommandOutcome, RuntimeError>;
}
