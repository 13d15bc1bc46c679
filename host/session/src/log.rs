//! The session port over a file.

use crate::file::SessionFile;
use async_trait::async_trait;
use capstan_ports::{EntryId, Message, SessionError, SessionId, SessionLog};
use std::io;
use std::sync::Arc;
use tokio::runtime::Handle;

#[async_trait]
impl SessionLog for SessionFile {
    fn id(&self) -> &SessionId {
        self.id()
    }

    /// The messages from the root to the leaf whose role and content are known, custom ones among them. Other entries do
    /// not show here.
    fn messages(&self) -> Result<Vec<Arc<Message>>, SessionError> {
        Ok(self.messages())
    }

    /// Hands the line to the system before it returns, on the calling thread: that copies a few kilobytes and is
    /// quicker than a change of threads.
    async fn append(&self, message: Arc<Message>) -> Result<EntryId, SessionError> {
        self.append_message(message)
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
