//! The session port over a file.

use crate::file::SessionFile;
use crate::tree::Tree;
use async_trait::async_trait;
use capstan_ports::entry::{Entry, EntryKind, SessionContext};
use capstan_ports::{EntryId, Message, SessionError, SessionId, SessionLog};
use std::io;
use std::sync::Arc;
use tokio::runtime::Handle;

#[async_trait]
impl SessionLog for SessionFile {
    fn id(&self) -> &SessionId {
        self.id()
    }

    fn context(&self) -> Result<SessionContext, SessionError> {
        Ok(self.look(Tree::context))
    }

    fn transcript(&self) -> Result<Vec<Arc<Message>>, SessionError> {
        Ok(self.look(Tree::transcript))
    }

    fn leaf(&self) -> Option<EntryId> {
        self.leaf()
    }

    fn entry(&self, id: &EntryId) -> Option<Arc<Entry>> {
        self.look(|tree| tree.entry(id).cloned())
    }

    fn entries(&self) -> Vec<Arc<Entry>> {
        self.entries()
    }

    fn path(&self, to: Option<&EntryId>) -> Result<Vec<Arc<Entry>>, SessionError> {
        self.look(|tree| Ok(tree.path(to)?.into_iter().cloned().collect()))
    }

    fn branch(&self, to: Option<&EntryId>) -> Result<(), SessionError> {
        self.branch_to(to)
    }

    /// Hands the line to the system before it returns, on the calling thread: that copies a few kilobytes and is
    /// quicker than a change of threads.
    async fn append(&self, kind: EntryKind) -> Result<EntryId, SessionError> {
        self.append_entry(kind)
    }

    async fn append_message(&self, message: Arc<Message>) -> Result<EntryId, SessionError> {
        let at_ms = own_time(&message);
        self.append_made_at(EntryKind::message(message), at_ms)
    }

    /// Waits for the device, once for all entries that were appended before. Free when there are none.
    async fn commit(&self) -> Result<(), SessionError> {
        if !self.inner.is_pending() {
            return Ok(());
        }
        let Ok(runtime) = Handle::try_current() else {
            // Without a runtime nobody else can be kept waiting.
            return self.inner.confirm();
        };
        // Not `block_in_place`, which a runtime of one thread does not have.
        let inner = Arc::clone(&self.inner);
        runtime
            .spawn_blocking(move || inner.confirm())
            .await
            .map_err(|error| self.failed("wait for the sync", io::Error::other(error)))?
    }
}

/// The time of a message that has none in its own form in the file.
pub(crate) fn own_time(message: &Message) -> Option<u64> {
    match message {
        Message::Custom(custom) => Some(custom.timestamp),
        Message::User(_) | Message::Assistant(_) | Message::ToolResult(_) => None,
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
