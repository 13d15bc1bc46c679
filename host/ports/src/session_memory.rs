//! The session-memory port: facts of a running session that the agent sees in its prompt (seed 004, 3.2.8).

use crate::memory::MemoryError;
use crate::session::SessionId;
use async_trait::async_trait;

/// Keeps the facts of sessions. Sessions do not see each other's.
#[async_trait]
pub trait SessionMemoryPort: Send + Sync {
    /// The value of a key; `None` where there is none.
    ///
    /// # Errors
    /// [`MemoryError::Search`].
    async fn get(&self, session: &SessionId, key: &str) -> Result<Option<String>, MemoryError>;

    /// Sets a key, in place of the value that it had.
    ///
    /// # Errors
    /// [`MemoryError::Store`], also when the session's room is used up.
    async fn set(&self, session: &SessionId, key: &str, value: &str) -> Result<(), MemoryError>;

    /// Removes a key. A key that does not exist is no error.
    ///
    /// # Errors
    /// [`MemoryError::Delete`].
    async fn remove(&self, session: &SessionId, key: &str) -> Result<(), MemoryError>;

    /// All of it as the prompt shows it: `<session-context>`, a line `key: value` for each key in the order of the keys,
    /// `</session-context>`. Empty text where there is nothing (004-064, 004-065). Nothing in a value can close the tag or
    /// begin a line of its own (004-066).
    ///
    /// # Errors
    /// [`MemoryError::Search`].
    async fn snapshot(&self, session: &SessionId) -> Result<String, MemoryError>;
}
