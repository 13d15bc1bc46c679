//! A session without a file, for runs that keep nothing and for tests.

use crate::error::unwritable;
use crate::header::Header;
use crate::log::own_time;
use crate::tree::Tree;
use async_trait::async_trait;
use capstan_ports::entry::{Entry, EntryKind, SessionContext};
use capstan_ports::{EntryId, Message, SessionError, SessionId, SessionLog};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What stands in errors in the place of a file.
pub(crate) const IN_MEMORY: &str = "(in memory)";

/// A session that ends with the process.
#[derive(Debug)]
pub struct MemorySession {
    id: SessionId,
    tree: Mutex<Tree>,
}

impl MemorySession {
    /// A new session that works in `cwd`.
    pub fn new(cwd: &Path) -> Self {
        Self::with_header(Header::new(cwd))
    }

    /// The same with a header of the caller's, which may name a parent.
    pub fn with_header(header: Header) -> Self {
        Self::of(Tree::new(header))
    }

    pub(crate) fn of(tree: Tree) -> Self {
        Self { id: tree.header().id.clone(), tree: Mutex::new(tree) }
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
        self.append_made_at(kind, None)
    }

    fn append_made_at(&self, kind: EntryKind, at_ms: Option<u64>) -> Result<EntryId, SessionError> {
        let mut tree = self.tree();
        let entry = tree.next(kind, at_ms)?;
        let id = entry.entry().id.clone();
        tree.push(entry).map_err(|error| unwritable(Path::new(IN_MEMORY), error))?;
        Ok(id)
    }

    /// Looks at the tree. Nothing can be added meanwhile.
    pub fn look<T>(&self, at: impl FnOnce(&Tree) -> T) -> T {
        at(&self.tree())
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

    fn context(&self) -> Result<SessionContext, SessionError> {
        Ok(self.tree().context())
    }

    fn transcript(&self) -> Result<Vec<Arc<Message>>, SessionError> {
        Ok(self.tree().transcript())
    }

    fn leaf(&self) -> Option<EntryId> {
        self.tree().leaf().cloned()
    }

    fn entry(&self, id: &EntryId) -> Option<Arc<Entry>> {
        self.tree().entry(id).cloned()
    }

    fn entries(&self) -> Vec<Arc<Entry>> {
        self.tree().entries().cloned().collect()
    }

    fn path(&self, to: Option<&EntryId>) -> Result<Vec<Arc<Entry>>, SessionError> {
        Ok(self.tree().path(to)?.into_iter().cloned().collect())
    }

    fn branch(&self, to: Option<&EntryId>) -> Result<(), SessionError> {
        self.tree().branch_to(to)
    }

    async fn append(&self, kind: EntryKind) -> Result<EntryId, SessionError> {
        self.append_entry(kind)
    }

    async fn append_message(&self, message: Arc<Message>) -> Result<EntryId, SessionError> {
        let at_ms = own_time(&message);
        self.append_made_at(EntryKind::message(message), at_ms)
    }

    /// Does nothing: memory promises no durability.
    async fn commit(&self) -> Result<(), SessionError> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
