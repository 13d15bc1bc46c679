//! What the contexts of one session tell each other: facts under keys, shown at the end of the system prompt.

use crate::AgentError;
use async_trait::async_trait;
use capstan_agent::session_memory::{check_fact, check_room, snapshot_text};
use capstan_ports::memory_store::{MemoryRecord, MemoryStore};
use capstan_ports::{MemoryError, SessionId, SessionMemoryPort};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The facts of one session, in a store that other sessions and other processes may share (seed 004, 3.2.8).
///
/// It is neither what outlives the session ([`KnowledgeStore`](crate::KnowledgeStore)) nor what was said
/// ([`ConversationMemory`](crate::ConversationMemory)), and writes to neither. Whoever opens the same store under the same
/// namespace sees the same facts.
///
/// ```
/// use capstan_runtime::{InMemoryStore, SessionMemory};
/// use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), capstan_runtime::AgentError> {
/// let memory = SessionMemory::new(Arc::new(InMemoryStore::new()), "_session_s1");
/// memory.set("branch", "main").await?;
/// assert_eq!(memory.get("branch").await?.as_deref(), Some("main"));
/// assert_eq!(memory.snapshot().await?, "<session-context>\nbranch: main\n</session-context>");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SessionMemory {
    store: Arc<dyn MemoryStore>,
    namespace: String,
}

impl SessionMemory {
    /// The facts under this namespace of a store, taken as it is: two texts that differ are two namespaces.
    pub fn new(store: Arc<dyn MemoryStore>, namespace: &str) -> Self {
        Self { store, namespace: namespace.to_owned() }
    }

    /// The facts of a session: namespace `_session_{session_id}`. Ids that differ are namespaces that differ, and a key is never
    /// part of a namespace, so nothing that is in an id or a key makes two of them one.
    pub fn of_session(store: Arc<dyn MemoryStore>, session: &SessionId) -> Self {
        Self { store, namespace: format!("_session_{session}") }
    }

    /// The namespace in the store.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Sets a key, in place of the value that it had.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails, or for a key that is empty or has more than 256 bytes.
    pub async fn set(&self, key: &str, value: &str) -> Result<(), AgentError> {
        check_fact(key)?;
        Ok(self.store.save(MemoryRecord::new(&self.namespace, key, value)).await?)
    }

    /// The value of a key; `None` where there is none.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails.
    pub async fn get(&self, key: &str) -> Result<Option<String>, AgentError> {
        Ok(self.store.load(&self.namespace, key).await?.map(|record| record.value))
    }

    /// Removes a key. One that is not there is no error.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails.
    pub async fn remove(&self, key: &str) -> Result<(), AgentError> {
        self.store.delete(&self.namespace, key).await?;
        Ok(())
    }

    /// Removes all keys of this namespace, and nothing of another.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails; then nothing is removed.
    pub async fn clear(&self) -> Result<(), AgentError> {
        Ok(self.store.clear(&self.namespace).await?)
    }

    /// All of it as the system prompt shows it: `<session-context>`, a line `key: value` for each key in the order of the keys,
    /// `</session-context>`; empty text where there is nothing. Line breaks and marks in keys and values are written out, so
    /// that a value can neither close the block nor add a line to it.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails.
    pub async fn snapshot(&self) -> Result<String, AgentError> {
        Ok(self.text().await?)
    }

    /// The same facts as the loop and extensions reach them: what goes into
    /// [`AgentLoopConfig::session_memory`](capstan_agent::AgentLoopConfig). The session that a caller names is not looked at,
    /// because this memory is one session's; give it to no other.
    ///
    /// What is set through it must leave all facts within 16 KiB, because every request holds them and whoever uses this way
    /// (a model, an extension) does not pay for it. Two writers at the same moment can each fill the last room.
    pub fn port(&self) -> Arc<dyn SessionMemoryPort> {
        Arc::new(Facts(self.clone()))
    }

    async fn text(&self) -> Result<String, MemoryError> {
        let records = self.store.list(&self.namespace).await?;
        let facts: BTreeMap<_, _> = records.iter().map(|fact| (&fact.key, &fact.value)).collect();
        Ok(snapshot_text(&facts))
    }
}

impl fmt::Debug for SessionMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionMemory").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

struct Facts(SessionMemory);

#[async_trait]
impl SessionMemoryPort for Facts {
    async fn get(&self, _session: &SessionId, key: &str) -> Result<Option<String>, MemoryError> {
        let record = self.0.store.load(&self.0.namespace, key).await?;
        Ok(record.map(|record| record.value))
    }

    async fn set(&self, _session: &SessionId, key: &str, value: &str) -> Result<(), MemoryError> {
        check_fact(key)?;
        let SessionMemory { store, namespace } = &self.0;
        let there = store.list(namespace).await?;
        check_room(there.iter().map(|fact| (fact.key.as_str(), fact.value.as_str())), key, value)?;
        store.save(MemoryRecord::new(namespace, key, value)).await
    }

    async fn remove(&self, _session: &SessionId, key: &str) -> Result<(), MemoryError> {
        self.0.store.delete(&self.0.namespace, key).await.map(drop)
    }

    async fn snapshot(&self, _session: &SessionId) -> Result<String, MemoryError> {
        self.0.text().await
    }
}

#[cfg(test)]
#[path = "session_memory_tests.rs"]
mod tests;
