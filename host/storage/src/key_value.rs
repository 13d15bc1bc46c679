//! Keys and values of extensions.

use crate::file::{self, Layout, OpenError, PATIENCE};
use async_trait::async_trait;
use capstan_ports::extension::ExtensionId;
use capstan_ports::storage::{StorageError, StoragePort};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the file in the owner's folder.
const FILE: &str = "values.sqlite";

const LAYOUT: Layout = Layout {
    tables: "CREATE TABLE value (key BLOB PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;",
    version: 1,
    synchronous: "NORMAL",
};

/// Storage in files below one folder.
#[derive(Debug, Clone)]
pub struct KeyValueFiles {
    root: PathBuf,
    open: Arc<Mutex<HashMap<ExtensionId, Shared>>>,
}

type Shared = Arc<Mutex<Connection>>;

/// What can go wrong with one file.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("the worker was lost: {0}")]
    Lost(#[from] tokio::task::JoinError),
}

/// What became of a change.
enum Change {
    Made,
    /// Bytes that would be needed.
    TooLarge(u64),
}

impl KeyValueFiles {
    /// Storage below `root`, which is made when something is first kept.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), open: Arc::default() }
    }

    fn path(&self, owner: &ExtensionId) -> PathBuf {
        // An id is a plain name by its type: it cannot lead anywhere else.
        self.root.join(owner.as_str()).join(FILE)
    }

    /// Works with the owner's file on a thread that may wait. `absent` is the answer while there is no file, for work that
    /// needs none.
    async fn with<T: Send + 'static>(
        &self,
        owner: &ExtensionId,
        absent: Option<T>,
        work: impl FnOnce(&mut Connection) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, StorageError> {
        let (files, id, path) = (self.clone(), owner.clone(), self.path(owner));
        let there = path.clone();
        let worked = tokio::task::spawn_blocking(move || {
            let connection = match (files.opened(&id), absent) {
                (Some(connection), _) => connection,
                (None, Some(absent)) if !there.exists() => return Ok(absent),
                (None, _) => files.open(&id, &there)?,
            };
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut connection)
        });
        let worked = worked.await.map_err(Problem::from).and_then(std::convert::identity);
        worked.map_err(|source| {
            let message =
                format!("{}: {source}. If it stays so, move that file away to start anew", path.display());
            StorageError::Unusable { owner: owner.clone(), message, source: Box::new(source) }
        })
    }

    fn opened(&self, owner: &ExtensionId) -> Option<Shared> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).get(owner).cloned()
    }

    fn open(&self, owner: &ExtensionId, path: &Path) -> Result<Shared, Problem> {
        let connection = Arc::new(Mutex::new(file::open(path, &LAYOUT, PATIENCE)?));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(open.entry(owner.clone()).or_insert(connection).clone())
    }
}

#[async_trait]
impl StoragePort for KeyValueFiles {
    async fn get(&self, owner: &ExtensionId, key: &str) -> Result<Option<Vec<u8>>, StorageError> {
        let key = key.as_bytes().to_vec();
        self.with(owner, Some(None), move |connection| {
            let mut select = connection.prepare_cached("SELECT bytes FROM value WHERE key = ?1")?;
            Ok(select.query_row([key], |row| row.get(0)).optional()?)
        })
        .await
    }

    async fn set(
        &self,
        owner: &ExtensionId,
        key: &str,
        value: &[u8],
        quota: u64,
    ) -> Result<(), StorageError> {
        let (key, value) = (key.as_bytes().to_vec(), value.to_vec());
        let change = self.with(owner, None, move |connection| {
            // Taken before the sum is made, so that no other process fills the room in between.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let others: i64 = transaction.query_row(
                "SELECT COALESCE(SUM(LENGTH(key) + LENGTH(bytes)), 0) FROM value WHERE key <> ?1",
                [&key],
                |row| row.get(0),
            )?;
            let wanted = others.unsigned_abs() + (key.len() + value.len()) as u64;
            if wanted > quota {
                return Ok(Change::TooLarge(wanted));
            }
            transaction
                .execute("INSERT OR REPLACE INTO value (key, bytes) VALUES (?1, ?2)", params![key, value])?;
            transaction.commit()?;
            Ok(Change::Made)
        });
        match change.await? {
            Change::Made => Ok(()),
            Change::TooLarge(wanted) => Err(StorageError::Full { owner: owner.clone(), wanted, quota }),
        }
    }

    async fn remove(&self, owner: &ExtensionId, key: &str) -> Result<(), StorageError> {
        let key = key.as_bytes().to_vec();
        self.with(owner, Some(()), move |connection| {
            connection.execute("DELETE FROM value WHERE key = ?1", [key])?;
            Ok(())
        })
        .await
    }

    async fn list_keys(&self, owner: &ExtensionId, prefix: &str) -> Result<Vec<String>, StorageError> {
        let prefix = prefix.as_bytes().to_vec();
        self.with(owner, Some(Vec::new()), move |connection| {
            let mut select = connection.prepare_cached(
                "SELECT key FROM value WHERE SUBSTR(key, 1, LENGTH(?1)) = ?1 AND key >= ?1 ORDER BY key",
            )?;
            let rows = select.query_map([prefix], |row| row.get::<_, Vec<u8>>(0))?;
            // Only text goes in; what somebody else wrote into the file is shown as well as it can be.
            rows.map(|key| Ok(String::from_utf8_lossy(&key?).into_owned())).collect()
        })
        .await
    }
}

#[cfg(test)]
#[path = "key_value_tests.rs"]
mod tests;
