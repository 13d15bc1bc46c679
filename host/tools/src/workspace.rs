//! The files that the tools may touch.

mod folder;
mod ignored;
mod links;
mod local;
mod memory;
mod replace;
mod tree;
mod walk;

pub use local::LocalWorkspace;
pub use memory::InMemoryWorkspace;
pub use tree::{Choice, EntryKind, ListedEntry, Listing, MAX_FOLDER_ENTRIES, Visitor, WalkEntry, Walked};

use crate::error::RuntimeError;
use async_trait::async_trait;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Files by the names that the model uses: relative to the workspace's directory, or absolute. An implementation
/// refuses what lies outside of what the user opened to it.
#[async_trait]
pub trait WorkspaceRuntime: Send + Sync {
    /// Where relative paths start and commands run.
    fn directory(&self) -> &Path;

    /// The absolute path that `path` names, worked out without looking at the disk. For permission decisions and
    /// screens; not a proof that the path is inside.
    fn resolve(&self, path: &str) -> PathBuf;

    /// The one name of the file, with all links followed, as far as it exists. Two names of one file give the same.
    ///
    /// # Errors
    /// When the path is outside, or the disk cannot be read.
    async fn real_path(&self, path: &str) -> Result<PathBuf, RuntimeError>;

    /// Reads a whole file of at most `max_bytes`.
    ///
    /// # Errors
    /// When it is outside, missing, too large, no regular file, or unreadable.
    async fn read(&self, path: &str, max_bytes: u64) -> Result<FileContents, RuntimeError>;

    /// Creates or replaces a file: afterwards it is wholly new or wholly as before. Missing parent directories are
    /// created. An existing file keeps its permissions.
    ///
    /// # Errors
    /// When it is outside or protected, no regular file, not as `condition` wants it, or the disk refuses.
    async fn write(
        &self,
        path: &str,
        contents: Vec<u8>,
        condition: WriteCondition,
    ) -> Result<Written, RuntimeError>;

    /// The names in a directory. Ends early when `cancel` fires.
    ///
    /// # Errors
    /// When it is outside, missing, no directory, or unreadable.
    async fn list(&self, path: &str, cancel: &CancellationToken) -> Result<Listing, RuntimeError>;

    /// Shows `visitor` everything beneath a directory that version control does not ignore, hidden files too, or the one
    /// file that `path` names. Links are shown but not followed, so that nothing outside is met. Ends early when `cancel`
    /// fires or the returned future is dropped.
    ///
    /// # Errors
    /// When the path is outside, missing, no directory or regular file, or unreadable. What is beneath it and cannot be
    /// read is counted instead.
    async fn walk(
        &self,
        path: &str,
        visitor: Arc<dyn Visitor>,
        cancel: &CancellationToken,
    ) -> Result<Walked, RuntimeError>;
}

/// A file as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContents {
    /// All of it.
    pub bytes: Vec<u8>,
    /// For [`WriteCondition::Unchanged`].
    pub version: FileVersion,
}

/// Tells one state of a file from another. Equal versions mean, as far as the file system can tell, equal content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    /// Which file, for example its inode.
    pub identity: u64,
    /// How many bytes.
    pub length: u64,
    /// When it was last written, in nanoseconds since the Unix epoch, or a counter.
    pub modified: i128,
}

/// What must hold for a write to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteCondition {
    /// Nothing: create or replace.
    Always,
    /// The file is still the one that was read. Checked just before it is replaced.
    Unchanged(FileVersion),
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// There was no such file.
    Created,
    /// There was one, and it is replaced.
    Replaced,
}
