//! What a model's `retrieve` tool searches.

use crate::in_memory::entry;
use async_trait::async_trait;
use capstan_ports::memory_store::{MemoryRecord, MemoryStore};
use capstan_ports::{MemoryEntry, MemoryError, MemoryPort, MemoryQuery};
use std::fmt;
use std::sync::Arc;

/// Most entries of one search, unless [`MemoryRetriever::with_max`] says otherwise. They stand in the model's window until it
/// is compacted.
pub const DEFAULT_MAX: usize = 20;

/// How many more candidates a store is asked for where a filter will leave some out.
const FILTER_FACTOR: usize = 8;

/// Searches what was remembered: a namespace of a store, or any other memory.
///
/// With one in the bundle the model gets the tool `retrieve`. It is a [`MemoryPort`] of its own, so that whatever takes a memory
/// takes it too; it only searches, and refuses to keep or to forget anything.
#[derive(Clone)]
pub struct MemoryRetriever {
    source: Source,
    max: usize,
}

#[derive(Clone)]
enum Source {
    Namespace(Arc<dyn MemoryStore>, String),
    Memory(Arc<dyn MemoryPort>),
}

impl MemoryRetriever {
    /// Searches a namespace of a store.
    pub fn new(store: Arc<dyn MemoryStore>, namespace: impl Into<String>) -> Self {
        Self { source: Source::Namespace(store, namespace.into()), max: DEFAULT_MAX }
    }

    /// Searches a memory, for example a component's.
    pub fn over(memory: Arc<dyn MemoryPort>) -> Self {
        Self { source: Source::Memory(memory), max: DEFAULT_MAX }
    }

    /// The same with at most this many entries of one search, whatever a query asks for.
    #[must_use]
    pub fn with_max(mut self, max: usize) -> Self {
        self.max = max;
        self
    }

    /// The entries that match the words, best first.
    ///
    /// # Errors
    /// [`MemoryError::Search`].
    pub async fn retrieve(&self, words: &str, top_k: usize) -> Result<Vec<MemoryEntry>, MemoryError> {
        self.search(&MemoryQuery { top_k, ..MemoryQuery::new(words) }).await
    }
}

#[async_trait]
impl MemoryPort for MemoryRetriever {
    /// Refuses: what a retriever searches is written by whoever owns it.
    async fn store(&self, _entry: MemoryEntry) -> Result<String, MemoryError> {
        let message = "a retriever only searches; write to what it searches".to_owned();
        Err(MemoryError::Store { message, source: None })
    }

    async fn search(&self, query: &MemoryQuery) -> Result<Vec<MemoryEntry>, MemoryError> {
        let top_k = query.top_k.min(self.max);
        let (store, namespace) = match &self.source {
            Source::Namespace(store, namespace) => (store, namespace),
            Source::Memory(memory) => {
                let mut found = memory.search(&MemoryQuery { top_k, ..query.clone() }).await?;
                // A component may answer more than it was asked for.
                found.truncate(top_k);
                return Ok(found);
            }
        };
        let is_meant = |record: &MemoryRecord| {
            query.filter.iter().all(|(key, value)| record.metadata.get(key) == Some(value))
        };
        let mut limit = if query.filter.is_empty() { top_k } else { top_k.saturating_mul(FILTER_FACTOR) };
        loop {
            let hits = store.search(namespace, &query.query, limit).await?;
            let is_all = hits.len() < limit;
            let least = query.threshold.unwrap_or(0.0);
            let meant = hits.into_iter().filter(|hit| hit.score >= least && is_meant(&hit.record));
            let found: Vec<_> = meant.take(top_k).map(entry).collect();
            // A filter that leaves out nearly everything is asked again with more, so that what is meant is found.
            if found.len() == top_k || is_all || query.filter.is_empty() {
                return Ok(found);
            }
            limit = limit.saturating_mul(FILTER_FACTOR);
        }
    }

    /// Refuses, as [`store`](Self::store) does.
    async fn delete(&self, id: &str) -> Result<(), MemoryError> {
        let message = "a retriever only searches; delete in what it searches".to_owned();
        Err(MemoryError::Delete { id: id.to_owned(), message, source: None })
    }
}

impl fmt::Debug for MemoryRetriever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespace = match &self.source {
            Source::Namespace(_, namespace) => Some(namespace),
            Source::Memory(_) => None,
        };
        let mut shown = f.debug_struct("MemoryRetriever");
        shown.field("namespace", &namespace).field("max", &self.max).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "retriever_tests.rs"]
mod tests;
