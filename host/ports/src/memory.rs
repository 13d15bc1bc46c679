//! The memory port: what the agent remembers across sessions.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something remembered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryEntry {
    /// `None` when storing something new.
    pub id: Option<String>,
    /// The words.
    pub content: String,
    /// What a search can filter by.
    pub metadata: Map<String, Value>,
    /// Only in answers: 0 (unrelated) to 1 (the same).
    pub score: Option<f64>,
}

impl MemoryEntry {
    /// A new entry of one text.
    pub fn new(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}

/// A search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryQuery {
    /// The words to look for.
    pub query: String,
    /// At most this many entries, best first.
    pub top_k: usize,
    /// Leave out what scores lower, 0 to 1.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// An entry's metadata must hold each of these with an equal value.
    #[serde(default)]
    pub filter: Map<String, Value>,
}

impl MemoryQuery {
    /// The five best entries.
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), top_k: 5, threshold: None, filter: Map::new() }
    }
}

/// Why a memory did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// Nothing was stored.
    #[error("the memory could not store this: {message}")]
    Store {
        /// Why.
        message: String,
        /// What lies beneath.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// Nothing was found out.
    #[error("the memory could not be searched: {message}")]
    Search {
        /// Why.
        message: String,
        /// What lies beneath.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// Nothing was deleted.
    #[error("the memory could not delete {id}: {message}")]
    Delete {
        /// Which entry.
        id: String,
        /// Why.
        message: String,
        /// What lies beneath.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

/// Remembers.
#[async_trait]
pub trait MemoryPort: Send + Sync {
    /// Keeps an entry, in place of the one with its id if it has one, and answers its id.
    ///
    /// # Errors
    /// [`MemoryError::Store`].
    async fn store(&self, entry: MemoryEntry) -> Result<String, MemoryError>;

    /// The entries that match, best first.
    ///
    /// # Errors
    /// [`MemoryError::Search`].
    async fn search(&self, query: &MemoryQuery) -> Result<Vec<MemoryEntry>, MemoryError>;

    /// Forgets an entry.
    ///
    /// # Errors
    /// [`MemoryError::Delete`]; whether an entry that does not exist is one is up to the memory.
    async fn delete(&self, id: &str) -> Result<(), MemoryError>;
}

/// Remembers nothing and never fails (003-117, X16).
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopMemory;

#[async_trait]
impl MemoryPort for NoopMemory {
    async fn store(&self, entry: MemoryEntry) -> Result<String, MemoryError> {
        Ok(entry.id.unwrap_or_else(|| "forgotten".to_owned()))
    }

    async fn search(&self, _query: &MemoryQuery) -> Result<Vec<MemoryEntry>, MemoryError> {
        Ok(Vec::new())
    }

    async fn delete(&self, _id: &str) -> Result<(), MemoryError> {
        Ok(())
    }
}
