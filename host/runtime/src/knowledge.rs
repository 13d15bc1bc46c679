//! What outlives conversations: documents that can be searched.

use crate::retriever::MemoryRetriever;
use crate::{AgentError, in_memory};
use capstan_ports::memory_store::{MemoryRecord, MemoryStore};
use capstan_ports::{MemoryEntry, MemoryError};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// One document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// Its name, unique in the knowledge: a path, a title.
    pub key: String,
    /// The words that are found and shown.
    pub text: String,
    /// What a search can filter by.
    pub metadata: Map<String, Value>,
}

impl Document {
    /// A document without metadata.
    pub fn new(key: impl Into<String>, text: impl Into<String>) -> Self {
        Self { key: key.into(), text: text.into(), metadata: Map::new() }
    }
}

/// Documents in one namespace of a [`MemoryStore`].
#[derive(Clone)]
pub struct KnowledgeStore {
    store: Arc<dyn MemoryStore>,
    namespace: String,
}

impl KnowledgeStore {
    /// The documents under this namespace, taken as it is. `_session_…` and `_conversation_…` are taken by
    /// [`SessionMemory`](crate::SessionMemory) and [`ConversationMemory`](crate::ConversationMemory).
    pub fn new(store: Arc<dyn MemoryStore>, namespace: impl Into<String>) -> Self {
        Self { store, namespace: namespace.into() }
    }

    /// Adds a document, in place of the one with its key.
    ///
    /// # Errors
    /// [`AgentError::Memory`] for a document without a key, or when the store fails.
    pub async fn add(&self, document: Document) -> Result<(), AgentError> {
        let Document { key, text, metadata } = document;
        if key.is_empty() {
            let message = "a document needs a key".to_owned();
            return Err(MemoryError::Store { message, source: None }.into());
        }
        let record = MemoryRecord { metadata, ..MemoryRecord::new(&self.namespace, key, text) };
        Ok(self.store.save(record).await?)
    }

    /// The document with this key; `None` where there is none.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails.
    pub async fn get(&self, key: &str) -> Result<Option<Document>, AgentError> {
        Ok(self.store.load(&self.namespace, key).await?.map(document))
    }

    /// All documents in the order of their keys.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails.
    pub async fn list(&self) -> Result<Vec<Document>, AgentError> {
        Ok(self.store.list(&self.namespace).await?.into_iter().map(document).collect())
    }

    /// Removes a document; answers whether it was there.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails.
    pub async fn remove(&self, key: &str) -> Result<bool, AgentError> {
        Ok(self.store.delete(&self.namespace, key).await?)
    }

    /// The documents that match the words, best first, at most `limit`.
    ///
    /// # Errors
    /// [`AgentError::Memory`] when the store fails.
    pub async fn search(&self, words: &str, limit: usize) -> Result<Vec<MemoryEntry>, AgentError> {
        let hits = self.store.search(&self.namespace, words, limit).await?;
        Ok(hits.into_iter().map(in_memory::entry).collect())
    }

    /// What lets a model search these documents.
    pub fn retriever(&self) -> MemoryRetriever {
        MemoryRetriever::new(self.store.clone(), &self.namespace)
    }
}

fn document(record: MemoryRecord) -> Document {
    Document { key: record.key, text: record.value, metadata: record.metadata }
}

impl fmt::Debug for KnowledgeStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnowledgeStore").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "knowledge_tests.rs"]
mod tests;
