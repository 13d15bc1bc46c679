//! Splitting a branch off into a session of its own.

use crate::error::unwritable;
use crate::file::SessionFile;
use crate::header::Header;
use crate::memory::{IN_MEMORY, MemorySession};
use crate::tree::Tree;
use capstan_ports::{EntryId, SessionError};
use std::path::Path;

impl SessionFile {
    /// Writes the way from the root to `leaf` to a new session under `root`, which names this one as its parent, and
    /// returns it (001-158). This session stays as it is, and may be read-only.
    ///
    /// `None` is before every root, as it is for [`SessionLog::branch`](capstan_ports::SessionLog::branch): the new
    /// session is then empty. For a clone of what is being said, give [`SessionFile::leaf`]. Lines are copied as they are,
    /// with everything in them that this version does not know. Bookmarks on the copied entries stay, also those that were
    /// set on another branch.
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`], and those of [`SessionFile::save_copy`].
    pub fn fork(&self, root: &Path, leaf: Option<&EntryId>) -> Result<Self, SessionError> {
        self.fork_into(root, Path::new(&self.header().cwd), leaf)
    }

    /// The same for a session that works in another directory.
    ///
    /// # Errors
    /// Those of [`SessionFile::fork`].
    pub fn fork_into(&self, root: &Path, cwd: &Path, leaf: Option<&EntryId>) -> Result<Self, SessionError> {
        let (header, entries) = self.look(|tree| {
            let header = self.header_of_copy(tree, cwd)?;
            let copied = forked(tree, header.clone(), leaf, self.path())?.copies();
            Ok::<_, SessionError>((header, copied.map_err(|error| unwritable(self.path(), error))?))
        })?;
        Self::create_from(root, header, entries)
    }
}

impl MemorySession {
    /// The way from the root to `leaf` as a session of its own; see [`SessionFile::fork`]. It names no parent: there is
    /// no file to name.
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`].
    pub fn fork(&self, leaf: Option<&EntryId>) -> Result<Self, SessionError> {
        self.look(|tree| {
            let mut header = Header::new(Path::new(&tree.header().cwd));
            header.extra = tree.header().extra.clone();
            Ok(Self::of(forked(tree, header, leaf, Path::new(IN_MEMORY))?))
        })
    }
}

fn forked(tree: &Tree, header: Header, leaf: Option<&EntryId>, path: &Path) -> Result<Tree, SessionError> {
    let leaf = leaf.map(|id| tree.position(id)).transpose()?;
    tree.fork(header, leaf).map_err(|error| unwritable(path, error))
}

#[cfg(test)]
#[path = "fork_tests.rs"]
mod tests;
