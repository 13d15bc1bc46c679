//! Makes what happened durable, inside the loop: a slow event listener cannot come between a message and its record
//! (X7).

use capstan_ports::{Message, SessionError, SessionLog};
use std::sync::Arc;

/// The session log of a run, or nothing.
pub(crate) struct Journal {
    log: Option<Arc<dyn SessionLog>>,
    uncommitted: bool,
}

impl Journal {
    pub(crate) fn new(log: Option<Arc<dyn SessionLog>>) -> Self {
        Self { log, uncommitted: false }
    }

    /// Adds a message; it is durable after the next [`Journal::commit`].
    pub(crate) async fn append(&mut self, message: &Arc<Message>) -> Result<(), SessionError> {
        if let Some(log) = &self.log {
            log.append(message.clone()).await?;
            self.uncommitted = true;
        }
        Ok(())
    }

    /// Makes everything appended durable.
    pub(crate) async fn commit(&mut self) -> Result<(), SessionError> {
        if let Some(log) = self.log.as_ref().filter(|_| self.uncommitted) {
            log.commit().await?;
            self.uncommitted = false;
        }
        Ok(())
    }

    /// Adds a message and makes it durable.
    pub(crate) async fn record(&mut self, message: &Arc<Message>) -> Result<(), SessionError> {
        self.append(message).await?;
        self.commit().await
    }
}
