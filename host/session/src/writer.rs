//! The one place that adds bytes to a session file.
//!
//! The writer knows how long the file is when all is well. Whatever a failed write left behind is cut off before
//! anything else is written, so that two entries never share a line; and a file that is not as it was left is not
//! written at all.

use crate::disk::{Disk, Presence};
use crate::error::io_failed;
use capstan_ports::SessionError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why nothing is written any more. It never goes away: the way on is a new file.
#[derive(Debug, Clone)]
pub(crate) enum Barrier {
    /// The caller only wants to read.
    Asked,
    /// A complete line is no entry.
    Damaged { line: usize, reason: String },
    /// Any other reason, with what to do.
    Closed { reason: String },
}

impl Barrier {
    fn error(&self, path: &Path) -> SessionError {
        let path = path.to_owned();
        match self {
            Self::Damaged { line, reason } => {
                SessionError::Corrupt { path, line: *line, reason: reason.clone() }
            }
            Self::Asked | Self::Closed { .. } => SessionError::ReadOnly { path, reason: self.to_string() },
        }
    }
}

impl fmt::Display for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("it was opened for reading; open it for writing to continue"),
            Self::Damaged { line, reason } => write!(f, "line {line}: {reason}"),
            Self::Closed { reason } => f.write_str(reason),
        }
    }
}

pub(crate) struct Writer {
    path: PathBuf,
    disk: Arc<dyn Disk>,
    /// Bytes of the file up to the end of the last entry.
    good_len: u64,
    /// How many of them are known to survive a power cut.
    synced_len: u64,
    /// Set while the remains of a failed write could not be cut off: the most bytes that the file may have.
    uncut_len: Option<u64>,
    barrier: Option<Barrier>,
}

/// What a commit has to sync.
pub(crate) struct Unsynced {
    pub(crate) disk: Arc<dyn Disk>,
    /// Bytes of the file that are durable once syncing succeeds.
    pub(crate) len: u64,
}

impl Writer {
    /// Continues a file of `good_len` bytes, all of them durable.
    pub(crate) fn new(path: PathBuf, disk: Arc<dyn Disk>, good_len: u64, barrier: Option<Barrier>) -> Self {
        Self { path, disk, good_len, synced_len: good_len, uncut_len: None, barrier }
    }

    /// Adds a line, given with its end.
    pub(crate) fn append(&mut self, line: &[u8]) -> Result<(), SessionError> {
        self.check()?;
        if self.uncut_len.is_some() {
            self.disk
                .truncate(self.good_len)
                .map_err(|error| io_failed(&self.path, "cut off a failed write", error))?;
            self.uncut_len = None;
        }
        let Err(error) = append_all(self.disk.as_ref(), line) else {
            self.good_len += line.len() as u64;
            return Ok(());
        };
        if let Err(cut) = self.disk.truncate(self.good_len) {
            tracing::warn!(path = %self.path.display(), error = %cut, "a failed write could not be cut off yet");
            self.uncut_len = Some(self.good_len + line.len() as u64);
        }
        Err(io_failed(&self.path, "append", error))
    }

    /// Fails when the file may not be written, or is not as it was left.
    fn check(&mut self) -> Result<(), SessionError> {
        if let Some(barrier) = &self.barrier {
            return Err(barrier.error(&self.path));
        }
        match self.presence()? {
            Presence::InPlace { len } if (self.good_len..=self.max_len()).contains(&len) => Ok(()),
            other => Err(self.close(lost(other, self.good_len))),
        }
    }

    fn presence(&self) -> Result<Presence, SessionError> {
        self.disk.presence().map_err(|error| io_failed(&self.path, "look for the file", error))
    }

    fn max_len(&self) -> u64 {
        self.uncut_len.unwrap_or(self.good_len)
    }

    /// Ends writing for good. Returns what the next append fails with.
    pub(crate) fn close(&mut self, reason: String) -> SessionError {
        let barrier = Barrier::Closed { reason };
        let error = barrier.error(&self.path);
        self.barrier = Some(barrier);
        error
    }

    /// True when entries were added that are not known to be durable.
    pub(crate) fn is_pending(&self) -> bool {
        self.good_len > self.synced_len
    }

    /// Why nothing is written any more.
    pub(crate) fn barrier_error(&self) -> Option<SessionError> {
        self.barrier.as_ref().map(|barrier| barrier.error(&self.path))
    }

    /// What has to be synced; `None` when nothing is pending.
    pub(crate) fn begin_sync(&self) -> Result<Option<Unsynced>, SessionError> {
        if !self.is_pending() {
            return Ok(None);
        }
        // After a failure the system answers yes to the next request although the bytes are gone, so it is not asked.
        match self.barrier_error() {
            Some(error) => Err(error),
            None => Ok(Some(Unsynced { disk: Arc::clone(&self.disk), len: self.good_len })),
        }
    }

    /// Takes the outcome of syncing the first `len` bytes.
    pub(crate) fn end_sync(&mut self, len: u64, outcome: io::Result<()>) -> Result<(), SessionError> {
        if let Err(error) = outcome {
            self.close(format!(
                "the device did not confirm a write ({error}), so its last entries may be lost; the conversation \
                 is still in memory, save it to a new file"
            ));
            return Err(io_failed(&self.path, "sync", error));
        }
        // A file without a name is as good as gone, however well it was synced.
        match self.presence()? {
            Presence::InPlace { len: now } if now >= len => {
                self.synced_len = self.synced_len.max(len);
                Ok(())
            }
            other => Err(self.close(lost(other, len))),
        }
    }
}

/// Writes all of `bytes`, normally with one call.
pub(crate) fn append_all(disk: &dyn Disk, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match disk.append(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn lost(presence: Presence, expected: u64) -> String {
    let what = match presence {
        Presence::Gone => "the file was deleted or moved away".to_owned(),
        Presence::Replaced => "another file was put in its place".to_owned(),
        Presence::InPlace { len } if len < expected => {
            format!("the file was cut from {expected} to {len} bytes by another program")
        }
        Presence::InPlace { len } => {
            format!("another program wrote to the file ({len} bytes instead of {expected})")
        }
    };
    format!("{what}; the conversation is still in memory, save it to a new file")
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
