//! The program port: runs a program of the host for an extension or a hook, without a shell.

use async_trait::async_trait;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// One program to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRequest {
    /// An absolute path, or a file name that is looked up on the host's `PATH`.
    pub program: PathBuf,
    /// Its arguments, word by word. No shell looks at them.
    pub arguments: Vec<String>,
    /// What it reads on standard input.
    pub stdin: Vec<u8>,
    /// The whole environment of the program; nothing is inherited.
    pub environment: Vec<(String, String)>,
    /// Where it starts; absent: an empty temporary directory that is removed afterwards.
    pub directory: Option<PathBuf>,
    /// After this time it is killed with everything that it started.
    pub timeout: Duration,
    /// Bytes that are kept of each of its two outputs; the rest is read and dropped.
    pub max_output_bytes: usize,
}

/// How a program ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramOutcome {
    /// Absent when a signal ended it.
    pub exit_code: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// Output was dropped.
    pub truncated: bool,
    /// It was killed because it took too long.
    pub timed_out: bool,
}

/// A program that could not be run to an end.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It did not start.
    #[error("{} cannot be started: {source}", program.display())]
    NotStarted {
        /// Which program.
        program: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// It started and could not be followed.
    #[error("{} was lost: {source}", program.display())]
    Lost {
        /// Which program.
        program: PathBuf,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The run was aborted; the program and everything that it started is gone.
    #[error("the run was aborted")]
    Cancelled,
}

/// Runs programs.
#[async_trait]
pub trait ProgramRunner: Send + Sync {
    /// The file that a name means: the first executable of that name on the host's `PATH`, relative places left out, because
    /// what they mean depends on where the user happens to be. An absolute path stands for itself.
    ///
    /// # Errors
    /// When there is none, or the name is neither.
    fn locate(&self, program: &Path) -> std::io::Result<PathBuf>;

    /// Runs one program to its end. A program that fails is an outcome, not an error. When `cancel` fires, or when the
    /// returned future is dropped, everything that the program started in its group is killed.
    ///
    /// # Errors
    /// [`ProgramError`].
    async fn run(
        &self,
        request: ProgramRequest,
        cancel: &CancellationToken,
    ) -> Result<ProgramOutcome, ProgramError>;
}
