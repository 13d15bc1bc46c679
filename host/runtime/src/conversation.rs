//! What was said, kept beside the session: for programs that want it in a store of their own.

use crate::AgentError;
use capstan_ports::memory_store::{MemoryRecord, MemoryStore};
use capstan_ports::{MemoryError, Message};
use std::fmt;
use std::sync::Arc;
use uuid::Uuid;

/// The messages of one conversation in a [`MemoryStore`].
///
/// No session writes to it by itself: whoever wants the messages kept calls [`add_message`](Self::add_message), for example from
/// a task that a listener at the end of a turn starts. Several processes may add at the same time; nothing is overwritten.
#[derive(Clone)]
pub struct ConversationMemory {
    store: Arc<dyn MemoryStore>,
    namespace: String,
}

impl ConversationMemory {
    /// The conversation of this name: namespace `_conversation_{name}`.
    pub fn new(store: Arc<dyn MemoryStore>, name: &str) -> Self {
        Self { store, namespace: format!("_conversation_{name}") }
    }

    /// Adds a message at the end.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails.
    pub async fn add_message(&self, message: &Message) -> Result<(), AgentError> {
        let text = serde_json::to_string(message).map_err(|reason| MemoryError::Store {
            message: format!("the message has no JSON form: {reason}"),
            source: Some(Box::new(reason)),
        })?;
        // Ids of this kind are in the order of time, and no two are the same, whichever process made them.
        let key = Uuid::now_v7().to_string();
        Ok(self.store.save(MemoryRecord::new(&self.namespace, key, text)).await?)
    }

    /// The last `limit` messages, oldest first.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails, or holds something in the conversation's place that is no message.
    pub async fn history(&self, limit: usize) -> Result<Vec<Message>, AgentError> {
        let records = self.store.list(&self.namespace).await?;
        let last = records.get(records.len().saturating_sub(limit)..).unwrap_or_default();
        let read = |record: &MemoryRecord| {
            serde_json::from_str(&record.value).map_err(|reason| {
                let message = format!(
                    "{} in {} is no message ({reason}); remove that record",
                    record.key, record.namespace
                );
                AgentError::Memory(MemoryError::Search { message, source: Some(Box::new(reason)) })
            })
        };
        last.iter().map(read).collect()
    }

    /// Forgets the conversation.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails; then nothing is forgotten.
    pub async fn clear(&self) -> Result<(), AgentError> {
        Ok(self.store.clear(&self.namespace).await?)
    }
}

impl fmt::Debug for ConversationMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConversationMemory").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
