//! What agents remember, in one SQLite file: texts under names in namespaces, with an index of their words.

mod rows;
mod words;

use crate::file::{self, Layout, PATIENCE};
use crate::memory_error::MemoryFileError;
use async_trait::async_trait;
use capstan_ports::memory_store::{MemoryHit, MemoryRecord, MemoryStore};
use capstan_ports::{MemoryEntry, MemoryError, MemoryPort, MemoryQuery};
use rusqlite::{Connection, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The namespace of what is reached through [`MemoryPort`]: what a person keeps with `capstan memory`, and a model finds.
pub const REMEMBERED: &str = "remembered";

/// Rows have numbers of which the upper bits are the namespace's, so that a search walks only through its own namespace.
/// Content stands in `record` alone; the index holds words and where they are.
const LAYOUT: Layout = Layout {
    tables: "CREATE TABLE namespace (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, last INTEGER NOT NULL);
             CREATE TABLE record (
                 id INTEGER PRIMARY KEY, namespace INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
                 metadata TEXT NOT NULL, UNIQUE (namespace, key));
             CREATE VIRTUAL TABLE word USING fts5(
                 text, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2');",
    version: 1,
    synchronous: "FULL",
};

/// Remembers in a file. Several processes may use it at the same time; each change happens whole or not at all, and is on the
/// disk when it is answered.
///
/// A search finds texts that hold any of the words, in the form that they have or another one of English; the rarer a word and
/// the shorter the text, the better. A hit's score is the share of the query's words that the best hit holds, times how near
/// the hit comes to that one.
#[derive(Debug, Clone)]
pub struct SqliteMemory {
    path: PathBuf,
    mode: Mode,
    patience: Duration,
    connection: Arc<Mutex<Option<Connection>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    ReadWrite,
    ReadOnly,
}

impl SqliteMemory {
    /// The memory in this file, which is made when something is first kept. Until then it is empty.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), mode: Mode::ReadWrite, patience: PATIENCE, connection: Arc::default() }
    }

    /// The same for reading only: whatever would change something fails.
    pub fn read_only(path: impl Into<PathBuf>) -> Self {
        Self { mode: Mode::ReadOnly, ..Self::new(path) }
    }

    /// Waits this long for another process that changes something; without it 2 s.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many records a namespace has.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn count(&self, namespace: &str) -> Result<u64, MemoryFileError> {
        let namespace = namespace.to_owned();
        self.with(Some(0), move |connection| rows::count(connection, &namespace)).await
    }

    /// Keeps and removes many records of a namespace in one change: all of it happens, or nothing. A record that is kept
    /// stands in place of the one with its key; a key that is not there is removed already.
    ///
    /// # Errors
    /// When the file cannot be written; then nothing is changed.
    pub async fn change(
        &self,
        namespace: &str,
        keep: Vec<MemoryRecord>,
        remove: Vec<String>,
    ) -> Result<(), MemoryFileError> {
        let namespace = namespace.to_owned();
        self.with(None, move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for key in &remove {
                rows::delete(&transaction, &namespace, key)?;
            }
            for record in keep {
                rows::save(&transaction, &MemoryRecord { namespace: namespace.clone(), ..record })?;
            }
            transaction.commit()
        })
        .await
    }

    /// Works with the file on a thread that may wait. `absent` is the answer while there is no file, for work that needs none.
    async fn with<T: Send + 'static>(
        &self,
        absent: Option<T>,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, MemoryFileError> {
        let memory = self.clone();
        let worked = tokio::task::spawn_blocking(move || {
            let mut connection = memory.connection.lock().unwrap_or_else(PoisonError::into_inner);
            if connection.is_none() && (absent.is_none() || memory.path.exists()) {
                *connection = memory.open()?;
            }
            let opened = match (connection.as_mut(), absent) {
                (Some(opened), _) => opened,
                (None, Some(absent)) => return Ok(absent),
                (None, None) => {
                    let nothing_there = "there is nothing in it, and it was opened for reading only";
                    return Err(MemoryFileError::ReadOnly {
                        path: memory.path,
                        source: nothing_there.into(),
                    });
                }
            };
            work(opened).map_err(|reason| MemoryFileError::of_database(&memory.path, reason))
        });
        worked.await.unwrap_or_else(|lost| {
            Err(MemoryFileError::Unusable { path: self.path.clone(), source: Box::new(lost) })
        })
    }

    fn open(&self) -> Result<Option<Connection>, MemoryFileError> {
        let opened = match self.mode {
            Mode::ReadWrite => file::open(&self.path, &LAYOUT, self.patience).map(Some),
            Mode::ReadOnly => file::open_read_only(&self.path, &LAYOUT, self.patience),
        };
        opened.map_err(|error| MemoryFileError::of_opening(&self.path, error))
    }

    async fn found(&self, namespace: &str, query: MemoryQuery) -> Result<Vec<MemoryHit>, MemoryFileError> {
        let namespace = namespace.to_owned();
        self.with(Some(Vec::new()), move |connection| rows::search(connection, &namespace, &query)).await
    }

    async fn deleted(&self, namespace: &str, key: &str) -> Result<bool, MemoryFileError> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        self.with(Some(false), move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let was_there = rows::delete(&transaction, &namespace, &key)?;
            transaction.commit()?;
            Ok(was_there)
        })
        .await
    }
}

fn not_stored(source: MemoryFileError) -> MemoryError {
    MemoryError::Store { message: source.to_string(), source: Some(Box::new(source)) }
}

fn not_searched(source: MemoryFileError) -> MemoryError {
    MemoryError::Search { message: source.to_string(), source: Some(Box::new(source)) }
}

fn not_deleted(id: &str, source: MemoryFileError) -> MemoryError {
    MemoryError::Delete { id: id.to_owned(), message: source.to_string(), source: Some(Box::new(source)) }
}

#[async_trait]
impl MemoryStore for SqliteMemory {
    async fn save(&self, record: MemoryRecord) -> Result<(), MemoryError> {
        let namespace = record.namespace.clone();
        self.change(&namespace, vec![record], Vec::new()).await.map_err(not_stored)
    }

    async fn load(&self, namespace: &str, key: &str) -> Result<Option<MemoryRecord>, MemoryError> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        let loaded = self.with(Some(None), move |connection| rows::load(connection, &namespace, &key));
        loaded.await.map_err(not_searched)
    }

    async fn list(&self, namespace: &str) -> Result<Vec<MemoryRecord>, MemoryError> {
        let namespace = namespace.to_owned();
        let listed = self.with(Some(Vec::new()), move |connection| rows::list(connection, &namespace));
        listed.await.map_err(not_searched)
    }

    async fn search(
        &self,
        namespace: &str,
        words: &str,
        limit: usize,
    ) -> Result<Vec<MemoryHit>, MemoryError> {
        let query = MemoryQuery { top_k: limit, ..MemoryQuery::new(words) };
        self.found(namespace, query).await.map_err(not_searched)
    }

    async fn delete(&self, namespace: &str, key: &str) -> Result<bool, MemoryError> {
        self.deleted(namespace, key).await.map_err(|error| not_deleted(key, error))
    }

    async fn clear(&self, namespace: &str) -> Result<(), MemoryError> {
        let name = namespace.to_owned();
        let cleared = self.with(Some(()), move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            rows::clear(&transaction, &name)?;
            transaction.commit()
        });
        cleared.await.map_err(|error| not_deleted(namespace, error))
    }
}

/// What is [`REMEMBERED`].
#[async_trait]
impl MemoryPort for SqliteMemory {
    async fn store(&self, entry: MemoryEntry) -> Result<String, MemoryError> {
        let stored = self.with(None, move |connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let key = match entry.id {
                Some(id) => id,
                None => rows::free_key(&transaction, REMEMBERED)?,
            };
            let MemoryEntry { content, metadata, .. } = entry;
            let record = MemoryRecord { metadata, ..MemoryRecord::new(REMEMBERED, key, content) };
            rows::save(&transaction, &record)?;
            transaction.commit()?;
            Ok(record.key)
        });
        stored.await.map_err(not_stored)
    }

    async fn search(&self, query: &MemoryQuery) -> Result<Vec<MemoryEntry>, MemoryError> {
        let found = self.found(REMEMBERED, query.clone()).await.map_err(not_searched)?;
        let entry = |MemoryHit { record, score }| MemoryEntry {
            id: Some(record.key),
            content: record.value,
            metadata: record.metadata,
            score: Some(score),
        };
        Ok(found.into_iter().map(entry).collect())
    }

    async fn delete(&self, id: &str) -> Result<(), MemoryError> {
        if self.deleted(REMEMBERED, id).await.map_err(|error| not_deleted(id, error))? {
            return Ok(());
        }
        let message = "there is no such entry".to_owned();
        Err(MemoryError::Delete { id: id.to_owned(), message, source: None })
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
