//! A workspace without a disk, for tests and for embedders that keep files elsewhere.

use crate::error::RuntimeError;
use crate::paths::{expand, lexical};
use crate::workspace::ignored::Layer;
use crate::workspace::tree::{EntryKind, ListedEntry, Listing, Visitor, Walked};
use crate::workspace::walk::{Folder, Names, visit_file, walk};
use crate::workspace::{FileContents, FileVersion, WorkspaceRuntime, WriteCondition, Written};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Files in memory under one directory. There are no links and no permissions.
pub struct InMemoryWorkspace {
    directory: PathBuf,
    files: Mutex<Files>,
}

/// Shared contents, so that a walk can look at all files as they are at its start.
type ByPath = BTreeMap<PathBuf, Arc<FileContents>>;

#[derive(Default)]
struct Files {
    by_path: ByPath,
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

    /// The directory `resolved`, or the file of that name as a directory that cannot be read. The workspace's own
    /// directory is always there.
    fn folder(&self, resolved: &Path) -> io::Result<MemoryFolder> {
        let files = Arc::new(self.files().by_path.clone());
        if resolved == self.directory || files.keys().any(|file| file.starts_with(resolved)) {
            return Ok(MemoryFolder { files, path: resolved.to_path_buf() });
        }
        Err(io::ErrorKind::NotFound.into())
    }

    fn layers_above(&self, start: &MemoryFolder) -> Vec<Layer> {
        let above = start.path.ancestors().skip(1).take_while(|path| path.starts_with(&self.directory));
        let mut layers: Vec<_> = above
            .map(|path| MemoryFolder { files: Arc::clone(&start.files), path: path.to_path_buf() })
            .map(|folder| Layer::of(&folder, &folder.path))
            .collect();
        layers.reverse();
        layers
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
    files.by_path.insert(path, Arc::new(FileContents { bytes, version }));
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
        Ok(FileContents::clone(file))
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

    async fn list(&self, path: &str, cancel: &CancellationToken) -> Result<Listing, RuntimeError> {
        let failed = |error| RuntimeError::folder(path, error);
        let folder = self.folder(&self.inside(path)?).map_err(failed)?;
        let names = folder.names(&|| cancel.is_cancelled()).map_err(failed)?;
        let entries = names.entries.into_iter().map(|(name, kind)| ListedEntry {
            name: name.to_string_lossy().into_owned(),
            kind,
            is_directory: kind == EntryKind::Directory,
        });
        Ok(Listing { entries: entries.collect(), is_whole: names.is_whole })
    }

    async fn walk(
        &self,
        path: &str,
        visitor: Arc<dyn Visitor>,
        cancel: &CancellationToken,
    ) -> Result<Walked, RuntimeError> {
        let resolved = self.inside(path)?;
        let failed = |error| RuntimeError::file("search", path, error);
        let start = self.folder(&resolved).map_err(failed)?;
        if let (true, Some(parent), Some(name)) =
            (start.files.contains_key(&resolved), resolved.parent(), resolved.file_name())
        {
            let folder = MemoryFolder { files: start.files, path: parent.to_path_buf() };
            return Ok(visit_file(&folder, name, &*visitor));
        }
        let layers = self.layers_above(&start);
        walk(start, resolved.clone(), layers, &*visitor, &|| cancel.is_cancelled()).map_err(failed)
    }
}

/// The files at one moment, seen from one directory. There are only directories that hold something.
struct MemoryFolder {
    files: Arc<ByPath>,
    path: PathBuf,
}

impl Folder for MemoryFolder {
    fn names(&self, _is_cancelled: &dyn Fn() -> bool) -> io::Result<Names> {
        if self.files.contains_key(&self.path) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut names: BTreeMap<OsString, EntryKind> = BTreeMap::new();
        for path in self.files.keys() {
            let Ok(beneath) = path.strip_prefix(&self.path) else { continue };
            let mut components = beneath.components();
            let Some(Component::Normal(name)) = components.next() else { continue };
            let kind = if components.next().is_some() { EntryKind::Directory } else { EntryKind::File };
            names.insert(name.to_owned(), kind);
        }
        Ok(Names { entries: names.into_iter().collect(), is_whole: true })
    }

    fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let path = self.path.join(name);
        if self.files.keys().any(|file| file.starts_with(&path) && *file != path) {
            return Ok(Self { files: Arc::clone(&self.files), path });
        }
        Err(io::ErrorKind::NotFound.into())
    }

    fn file(&self, name: &OsStr) -> io::Result<Box<dyn Read>> {
        let file = self.files.get(&self.path.join(name)).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Cursor::new(file.bytes.clone())))
    }
}
