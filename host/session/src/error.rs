//! What can be wrong with one line. Whatever concerns a whole session is a [`SessionError`] of the port.

use capstan_ports::{EntryId, SessionError};
use std::io;
use std::path::Path;

/// Why a line is no entry, or an entry no line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The bytes are no text.
    #[error("the line is not UTF-8")]
    Utf8(#[source] std::str::Utf8Error),
    /// The text is no JSON, or lacks what every entry has: an object with `type` and `id`.
    #[error("the line is not a session entry: {0}")]
    Json(#[source] serde_json::Error),
    /// JSON of another kind.
    #[error("the line is not a JSON object")]
    NotAnObject,
    /// Another entry has this id, so that children could not tell which one they belong to.
    #[error("the entry id {0} appears twice")]
    DuplicateId(EntryId),
    /// The entry could be written and never read again, because readers stop at a nesting depth.
    #[error("the entry is nested {depth} levels deep; at most {max} can be read back")]
    TooDeep {
        /// Levels of arrays and objects.
        depth: usize,
        /// The most that is accepted.
        max: usize,
    },
}

/// The port's error for a failed file operation.
pub(crate) fn io_failed(path: &Path, action: &'static str, source: io::Error) -> SessionError {
    SessionError::Io { path: path.to_owned(), action, source }
}

/// The port's error for an entry that has no line form.
pub(crate) fn unwritable(path: &Path, source: LineError) -> SessionError {
    io_failed(path, "encode entry", io::Error::new(io::ErrorKind::InvalidData, source))
}
