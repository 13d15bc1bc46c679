//! What can be wrong with a memory's file, and what to do then.

use crate::file::OpenError;
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// Why a memory's file did not do what it was asked. Whatever the reason, what was in the file is still there.
///
/// It is the `source` of the [`MemoryError`](capstan_ports::MemoryError) that the ports answer, and its text is that one's message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryFileError {
    /// Another process keeps it.
    #[error("{path} is in use by another process; try again when that one is done")]
    Locked {
        /// Which file.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// It is no database, or one that is damaged.
    #[error(
        "{path} is damaged ({source}) and was left as it is; move it away to begin a new memory, or restore a copy of it"
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// It cannot be written.
    #[error("{path} is read-only; make the file and its folder writable for you")]
    ReadOnly {
        /// Which file.
        path: PathBuf,
        /// What the system or SQLite said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is no room left.
    #[error("there is no room left for {path}; free some on its disk")]
    NoRoom {
        /// Which file.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// A newer program made it.
    #[error("{path} has layout {found}, this program knows layout {known}; use the newer program")]
    Newer {
        /// Which file.
        path: PathBuf,
        /// The file's layout.
        found: i32,
        /// The layout of this program.
        known: i32,
    },
    /// It cannot be opened, read or written for another reason.
    #[error(
        "{path} cannot be used: {source}; check that it is a file in a folder in which you may make files, and not a link"
    )]
    Unusable {
        /// Which file.
        path: PathBuf,
        /// The reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl MemoryFileError {
    pub(crate) fn of_database(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path, source },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { path, source },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path, source: Box::new(source) },
            Some(ErrorCode::DiskFull) => Self::NoRoom { path, source },
            _ => Self::Unusable { path, source: Box::new(source) },
        }
    }

    pub(crate) fn of_opening(path: &Path, error: OpenError) -> Self {
        let is_refused =
            |kind| matches!(kind, io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem);
        match error {
            OpenError::Database(source) => Self::of_database(path, source),
            OpenError::Newer { found, known } => Self::Newer { path: path.to_owned(), found, known },
            OpenError::Io(source) if is_refused(source.kind()) => {
                Self::ReadOnly { path: path.to_owned(), source: Box::new(source) }
            }
            OpenError::Io(source) => Self::Unusable { path: path.to_owned(), source: Box::new(source) },
        }
    }
}
