//! A session without a file, for runs that keep nothing and for tests.

use crate::entry::{Entry, EntryKind};
use crate::error::unwritable;
use crate::header::Header;
use crate::tree::Tree;
use async_trait::async_trait;
use capstan_ports::{EntryId, Message, SessionError, SessionId, SessionLog};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session that ends with the process.
#[derive(Debug)]
pub struct MemorySession {
    id: SessionId,
    tree: Mutex<Tree>,
}

impl MemorySession {
    /// A new session that works in `cwd`.
    pub fn new(cwd: &Path) -> Self {
        let header = Header::new(cwd);
        Self { id: header.id.clone(), tree: Mutex::new(Tree::new(header)) }
    }

    /// What the first line of its file would be.
    pub fn header(&self) -> Header {
        self.tree().header().clone()
    }

    /// Adds an entry after the leaf.
    ///
    /// # Errors
    /// When its id is taken, which an id made here is not.
    pub fn append_entry(&self, kind: EntryKind) -> Result<EntryId, SessionError> {
        self.append_made(|tree| tree.next(kind))
    }

    fn append_made(&self, make: impl FnOnce(&Tree) -> Entry) -> Result<EntryId, SessionError> {
        let mut tree = self.tree();
        let entry = make(&tree);
        let id = entry.id().clone();
        tree.push(entry).map_err(|error| unwritable(Path::new("(in memory)"), error))?;
        Ok(id)
    }

    fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SessionLog for MemorySession {
    fn id(&self) -> &SessionId {
        &self.id
    }

    fn messages(&self) -> Result<Vec<Arc<Message>>, SessionError> {
        Ok(self.tree().messages())
    }

    async fn append(&self, message: Arc<Message>) -> Result<EntryId, SessionError> {
        self.append_made(|tree| tree.next_message(message))
    }

    /// Does nothing: memory promises no durability.
    async fn commit(&self) -> Result<(), SessionError> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
