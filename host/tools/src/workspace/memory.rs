//! A workspace without a disk, for tests and for embedders that keep files elsewhere.

use crate::error::RuntimeError;
use crate::paths::{expand, lexical};
use crate::workspace::{FileContents, FileVersion, WorkspaceRuntime, WriteCondition, Written};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files in memory under one directory. There are no links and no permissions.
pub struct InMemoryWorkspace {
    directory: PathBuf,
    files: Mutex<Files>,
}

#[derive(Default)]
struct Files {
    by_path: BTreeMap<PathBuf, FileContents>,
    writes: u64,
}

impl InMemoryWorkspace {
    /// An empty workspace that calls its directory `directory`, an absolute path.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), files: Mutex::default() }
    }

    /// Puts a file in place, as a test does before it runs a tool. A path outside the directory is only reachable by
    /// this method.
    pub fn insert(&self, path: &str, contents: impl Into<Vec<u8>>) {
        let path = self.resolve(path);
        put(&mut self.files(), path, contents.into());
    }

    /// The bytes of a file, if there is one.
    pub fn get(&self, path: &str) -> Option<Vec<u8>> {
        self.files().by_path.get(&self.resolve(path)).map(|file| file.bytes.clone())
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        // Every change to the map is one step, so a panic of another holder leaves it whole.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inside(&self, path: &str) -> Result<PathBuf, RuntimeError> {
        expand(path, None)?;
        let resolved = self.resolve(path);
        if resolved.starts_with(&self.directory) {
            return Ok(resolved);
        }
        let folder = resolved.parent().unwrap_or(&resolved).display().to_string();
        Err(RuntimeError::Outside { path: path.to_owned(), folder })
    }
}

fn put(files: &mut Files, path: PathBuf, bytes: Vec<u8>) {
    files.writes += 1;
    let version = FileVersion { identity: 0, length: bytes.len() as u64, modified: i128::from(files.writes) };
    files.by_path.insert(path, FileContents { bytes, version });
}

#[async_trait]
impl WorkspaceRuntime for InMemoryWorkspace {
    fn directory(&self) -> &Path {
        &self.directory
    }

    fn resolve(&self, path: &str) -> PathBuf {
        lexical(&self.directory, &expand(path, None).unwrap_or_default())
    }

    async fn real_path(&self, path: &str) -> Result<PathBuf, RuntimeError> {
        self.inside(path)
    }

    async fn read(&self, path: &str, max_bytes: u64) -> Result<FileContents, RuntimeError> {
        let resolved = self.inside(path)?;
        let files = self.files();
        let Some(file) = files.by_path.get(&resolved) else {
            return Err(RuntimeError::NotFound {
                path: path.to_owned(),
                source: io::ErrorKind::NotFound.into(),
            });
        };
        let n_bytes = file.version.length;
        if n_bytes > max_bytes {
            return Err(RuntimeError::TooLarge { path: path.to_owned(), n_bytes, max_bytes });
        }
        Ok(file.clone())
    }

    async fn write(
        &self,
        path: &str,
        contents: Vec<u8>,
        condition: WriteCondition,
    ) -> Result<Written, RuntimeError> {
        let resolved = self.inside(path)?;
        let mut files = self.files();
        let before = files.by_path.get(&resolved).map(|file| file.version.clone());
        if let WriteCondition::Unchanged(expected) = condition
            && before.as_ref() != Some(&expected)
        {
            return Err(RuntimeError::Changed { path: path.to_owned() });
        }
        put(&mut files, resolved, contents);
        Ok(if before.is_some() { Written::Replaced } else { Written::Created })
    }
}
