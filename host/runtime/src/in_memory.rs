//! A memory store in the process: for programs that keep nothing, for tests, and behind sessions without a backend.

use async_trait::async_trait;
use capstan_ports::memory_store::{MemoryHit, MemoryRecord, MemoryStore};
use capstan_ports::{MemoryEntry, MemoryError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps texts until it is dropped. Nothing of it reaches another process.
///
/// A search looks at every record of the namespace. A word of the query that is a word of the record counts whole, one that
/// stands only within it counts half; the score is the share of the query that counts.
#[derive(Debug, Default)]
pub struct InMemoryStore {
    namespaces: Mutex<BTreeMap<String, BTreeMap<String, MemoryRecord>>>,
}

impl InMemoryStore {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<String, MemoryRecord>>> {
        self.namespaces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl MemoryStore for InMemoryStore {
    async fn save(&self, record: MemoryRecord) -> Result<(), MemoryError> {
        let mut namespaces = self.lock();
        let records = namespaces.entry(record.namespace.clone()).or_default();
        records.insert(record.key.clone(), record);
        Ok(())
    }

    async fn load(&self, namespace: &str, key: &str) -> Result<Option<MemoryRecord>, MemoryError> {
        Ok(self.lock().get(namespace).and_then(|records| records.get(key)).cloned())
    }

    async fn list(&self, namespace: &str) -> Result<Vec<MemoryRecord>, MemoryError> {
        let namespaces = self.lock();
        Ok(namespaces.get(namespace).into_iter().flat_map(|records| records.values().cloned()).collect())
    }

    async fn search(
        &self,
        namespace: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<MemoryHit>, MemoryError> {
        let wanted = words(query);
        let namespaces = self.lock();
        let records = namespaces.get(namespace).into_iter().flat_map(BTreeMap::values);
        let mut found: Vec<(f64, &MemoryRecord)> = records
            .map(|record| (score(&wanted, record), record))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        // Stable, so that equal scores stay in the order of their keys.
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        found.truncate(limit);
        let hit = |(score, record): (f64, &MemoryRecord)| MemoryHit { record: record.clone(), score };
        Ok(found.into_iter().map(hit).collect())
    }

    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, MemoryError> {
        let mut namespaces = self.lock();
        Ok(namespaces.get_mut(namespace).is_some_and(|records| records.remove(key).is_some()))
    }

    async fn clear(&self, namespace: &str) -> Result<(), MemoryError> {
        self.lock().remove(namespace);
        Ok(())
    }
}

/// What a model is shown of a record that was found.
pub(crate) fn entry(hit: MemoryHit) -> MemoryEntry {
    let MemoryHit { record, score } = hit;
    MemoryEntry { id: Some(record.key), content: record.value, metadata: record.metadata, score: Some(score) }
}

fn words(text: &str) -> BTreeSet<String> {
    let split = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    split.map(str::to_lowercase).collect()
}

fn score(wanted: &BTreeSet<String>, record: &MemoryRecord) -> f64 {
    if wanted.is_empty() {
        return 0.0;
    }
    let text = record.value.to_lowercase();
    let held = words(&text);
    let worth = |word: &String| match (held.contains(word), text.contains(word.as_str())) {
        (true, _) => 1.0,
        (false, true) => 0.5,
        (false, false) => 0.0,
    };
    wanted.iter().map(worth).sum::<f64>() / wanted.len() as f64
}

#[cfg(test)]
#[path = "in_memory_tests.rs"]
mod tests;
