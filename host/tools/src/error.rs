//! What can go wrong between a tool and the machine.

use capstan_ports::tool::ToolError;
use std::io;
use std::path::PathBuf;

/// A failure of a workspace or a command runtime. The text is written for the model: it names the subject as the
/// model named it and says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The path is the empty string.
    #[error("the path is empty: name a file")]
    EmptyPath,
    /// The path is outside of every root, or a link leads out of them.
    #[error(
        "Permission denied: {path} is outside the workspace. The user can allow its folder with --add-dir {folder}"
    )]
    Outside {
        /// As the caller wrote it.
        path: String,
        /// What the user would have to allow; `DIR` where that is not plain from the path.
        folder: String,
    },
    /// The path may be read but not changed.
    #[error("Permission denied: {path} is {reason}; the file tools do not change it")]
    WriteProtected {
        /// As the caller wrote it.
        path: String,
        /// Why.
        reason: &'static str,
    },
    /// Nothing of that name.
    #[error("{path} does not exist: check the path")]
    NotFound {
        /// As the caller wrote it.
        path: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A file was needed.
    #[error("{path} is a directory, not a file")]
    Directory {
        /// As the caller wrote it.
        path: String,
    },
    /// A directory was needed.
    #[error("{path} is not a directory: name the directory that it is in")]
    NotDirectory {
        /// As the caller wrote it.
        path: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A pipe, socket or device, or a link that leads nowhere. Opening one could block for ever.
    #[error("{path} is {kind}, not a regular file; the file tools leave it alone")]
    Special {
        /// As the caller wrote it.
        path: String,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// The file is larger than the caller can take.
    #[error(
        "{path} has {n_bytes} bytes, more than the {max_bytes} that are read at once: look at a part of it with bash \
         (head, tail, grep)"
    )]
    TooLarge {
        /// As the caller wrote it.
        path: String,
        /// Its size.
        n_bytes: u64,
        /// The most that is read.
        max_bytes: u64,
    },
    /// Somebody else wrote the file meanwhile.
    #[error(
        "{path} was changed by something else during the call; nothing was written: read it again and repeat"
    )]
    Changed {
        /// As the caller wrote it.
        path: String,
    },
    /// Somebody else wrote the file since this session read it.
    #[error(
        "{path} was changed by something else since you last read it; nothing was written: read it again, then repeat \
         the edit on what is there now"
    )]
    ChangedSinceRead {
        /// As the caller wrote it.
        path: String,
    },
    /// The folder for the full output of commands cannot be made. Met when the host starts, not by the model.
    #[error("cannot make the folder {} for the output of commands: {source}", path.display())]
    OutputFolder {
        /// The folder.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The system refused.
    #[error("cannot {action} {path}: {source}")]
    File {
        /// A verb.
        action: &'static str,
        /// As the caller wrote it.
        path: String,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A root cannot be opened. Met when the host starts, not by the model.
    #[error("cannot open the directory {}: {source}; it must exist and be readable", path.display())]
    Root {
        /// The directory.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The shell cannot be started.
    #[error("cannot start {} in {}: {source}", program.display(), directory.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// Where it was to run.
        directory: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The command line does not fit into one argument of a process.
    #[error("the command has {n_bytes} bytes, the system takes {max_bytes}: write it to a file and run that")]
    CommandTooLong {
        /// Its length.
        n_bytes: usize,
        /// The most that fits.
        max_bytes: usize,
    },
    /// The command ran, but its output or its end could not be followed. It was killed.
    #[error("lost track of the command: {source}")]
    Followed {
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The work was dropped, because it panicked or the process is shutting down.
    #[error("the file operation was interrupted")]
    Interrupted {
        /// What became of it.
        #[source]
        source: tokio::task::JoinError,
    },
}

impl RuntimeError {
    /// Sorts the system's answer about a path into the cases that deserve a text of their own.
    pub(crate) fn file(action: &'static str, path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path, source },
            io::ErrorKind::IsADirectory => Self::Directory { path },
            _ => Self::File { action, path, source },
        }
    }

    /// The same about a path that should be a directory.
    pub(crate) fn folder(path: &str, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotADirectory => Self::NotDirectory { path: path.to_owned(), source },
            _ => Self::file("list", path, source),
        }
    }
}

impl From<RuntimeError> for ToolError {
    fn from(error: RuntimeError) -> Self {
        let message = error.to_string();
        match error {
            RuntimeError::Outside { .. } | RuntimeError::WriteProtected { .. } => Self::Denied(message),
            RuntimeError::EmptyPath | RuntimeError::CommandTooLong { .. } => Self::InvalidArguments(message),
            other => Self::Failed { message, source: Some(Box::new(other)) },
        }
    }
}
