//! The memory store port: texts under names, in namespaces (seed 004). What sessions, conversations and knowledge are kept
//! in; how a model searches what it remembers is the [`memory`](crate::memory) port.

use crate::memory::MemoryError;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One text under its name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryRecord {
    /// Whose it is. Namespaces do not see each other.
    pub namespace: String,
    /// Unique in its namespace.
    pub key: String,
    /// The text.
    pub value: String,
    /// What a search can filter by.
    pub metadata: Map<String, Value>,
}

impl MemoryRecord {
    /// A record without metadata.
    pub fn new(namespace: impl Into<String>, key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), key: key.into(), value: value.into(), metadata: Map::new() }
    }
}

/// A record that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryHit {
    /// The record.
    pub record: MemoryRecord,
    /// 0 (unrelated) to 1 (the best there is).
    pub score: f64,
}

/// Keeps texts.
#[async_trait]
pub trait MemoryStore: Send + Sync {
    /// Keeps a record, in place of the one with its namespace and key.
    ///
    /// # Errors
    /// [`MemoryError::Store`]; what was there before is then still there.
    async fn save(&self, record: MemoryRecord) -> Result<(), MemoryError>;

    /// The record of this name; `None` where there is none.
    ///
    /// # Errors
    /// [`MemoryError::Search`].
    async fn load(&self, namespace: &str, key: &str) -> Result<Option<MemoryRecord>, MemoryError>;

    /// All records of a namespace, in the order of their keys.
    ///
    /// # Errors
    /// [`MemoryError::Search`].
    async fn list(&self, namespace: &str) -> Result<Vec<MemoryRecord>, MemoryError>;

    /// The records of a namespace that match the words, best first, at most `limit`.
    ///
    /// # Errors
    /// [`MemoryError::Search`].
    async fn search(&self, namespace: &str, words: &str, limit: usize)
    -> Result<Vec<MemoryHit>, MemoryError>;

    /// Forgets a record; answers whether it was there.
    ///
    /// # Errors
    /// [`MemoryError::Delete`].
    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, MemoryError>;

    /// Forgets everything of a namespace.
    ///
    /// # Errors
    /// [`MemoryError::Delete`]; then nothing is forgotten.
    async fn clear(&self, namespace: &str) -> Result<(), MemoryError>;
}
