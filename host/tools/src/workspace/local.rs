//! The workspace on the local disk.
//!
//! The boundary is the operating system's: every root is an open directory, and every file is opened *beneath* it
//! (`openat2` on Linux), so that neither `..` nor a link, nor a link swapped in at the last moment, leads out. Path
//! arithmetic in this file only finds out which root a path is meant for; being wrong there costs a denial.
//!
//! File work blocks, and a network file system may block long. It runs on the blocking pool, so that a stuck disk never
//! stalls the loop or delays an abort. The hop costs some ten microseconds, far less than a model notices.
//!
//! Limits: replacing a file gives it a new inode. Hard links to it keep the old content, and extended attributes are
//! not carried over. Nothing is flushed to the platter: a crash of the host loses no write, a power cut may.

use crate::error::RuntimeError;
use crate::paths::{expand, lexical};
use crate::workspace::folder::{LocalFolder, layers_above};
use crate::workspace::links::{escapes, follow, open_folder, or_dot, real_beneath};
use crate::workspace::replace::{no_waiting, regular, replace, version};
use crate::workspace::tree::{EntryKind, ListedEntry, Listing, Visitor, Walked};
use crate::workspace::walk::{Folder, visit_file, walk};
use crate::workspace::{FileContents, WorkspaceRuntime, WriteCondition, Written};
use async_trait::async_trait;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use capstan_ports::extension::Access;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The directory that the agent works in, and those that the user added. Cloning is cheap.
#[derive(Clone)]
pub struct LocalWorkspace {
    /// Never empty: the first is the workspace's own directory.
    roots: Vec<Arc<Root>>,
    protected: Vec<PathBuf>,
    home: Option<PathBuf>,
    directory: PathBuf,
}

struct Root {
    dir: Dir,
    /// Absolute, as the user wrote it.
    given: PathBuf,
    /// With all links followed.
    real: PathBuf,
    access: Access,
}

/// A path in one root.
struct Place {
    root: Arc<Root>,
    relative: PathBuf,
}

impl LocalWorkspace {
    /// Opens the directory that relative paths start from.
    ///
    /// # Errors
    /// When it is no readable directory.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, RuntimeError> {
        let root = Root::open(directory.as_ref(), Access::ReadWrite)?;
        let directory = root.real.clone();
        Ok(Self { roots: vec![Arc::new(root)], protected: Vec::new(), home: std::env::home_dir(), directory })
    }

    /// Adds a directory outside the workspace (`--add-dir`).
    ///
    /// # Errors
    /// When it is no readable directory.
    pub fn with_root(mut self, directory: impl AsRef<Path>, access: Access) -> Result<Self, RuntimeError> {
        self.roots.push(Arc::new(Root::open(directory.as_ref(), access)?));
        Ok(self)
    }

    /// Refuses writes to `path` and beneath it, whatever name they come by. `path` is absolute or relative to the
    /// workspace and need not exist. For what gives a writer power later: hooks of version control, the host's own
    /// configuration.
    #[must_use]
    pub fn protecting(mut self, path: impl AsRef<Path>) -> Self {
        let named = lexical(&self.directory, path.as_ref());
        // The name may be a link today and none tomorrow, so both the name and what it leads to are protected.
        self.protected.extend(follow(&named).ok().filter(|real| *real != named));
        self.protected.push(named);
        self
    }

    /// The place that the text names at face value, without following links.
    fn place(&self, path: &str) -> Result<Place, RuntimeError> {
        let expanded = expand(path, self.home.as_deref())?;
        if expanded.is_relative() {
            return Ok(Place { root: Arc::clone(&self.roots[0]), relative: expanded });
        }
        self.place_of(&expanded)
            .or_else(|| self.place_behind_links(&expanded))
            .ok_or_else(|| self.outside(path))
    }

    /// The innermost root that an absolute path begins with.
    fn place_of(&self, absolute: &Path) -> Option<Place> {
        self.roots
            .iter()
            .flat_map(|root| [(root, &root.given), (root, &root.real)])
            .filter_map(|(root, prefix)| Some((root, prefix, absolute.strip_prefix(prefix).ok()?)))
            .max_by_key(|(_, prefix, _)| prefix.components().count())
            .map(|(root, _, relative)| Place { root: Arc::clone(root), relative: or_dot(relative) })
    }

    /// Links may lead from one root into another, and absolute ones may lead back into their own. Opening beneath a root
    /// refuses both, so the path is followed by name here, and then opened beneath the root that it ends in.
    fn place_behind_links(&self, absolute: &Path) -> Option<Place> {
        self.place_of(&follow(absolute).ok()?)
    }

    /// Runs `action` on the place that `path` names, wherever among the roots its links lead.
    fn at<T>(
        &self,
        path: &str,
        verb: &'static str,
        action: impl Fn(&Dir, &Path) -> io::Result<T>,
    ) -> Result<(Arc<Root>, T), RuntimeError> {
        let place = self.place(path)?;
        let (root, result) = match action(&place.root.dir, &place.relative) {
            Err(error) if escapes(&error) => {
                let elsewhere = self
                    .place_behind_links(&place.root.real.join(&place.relative))
                    .ok_or_else(|| self.outside(path))?;
                let result = action(&elsewhere.root.dir, &elsewhere.relative);
                (elsewhere.root, result)
            }
            result => (place.root, result),
        };
        match result {
            Ok(value) => Ok((root, value)),
            Err(error) if escapes(&error) => Err(self.outside(path)),
            Err(error) => Err(RuntimeError::file(verb, path, error)),
        }
    }

    fn outside(&self, path: &str) -> RuntimeError {
        let resolved = self.resolve(path);
        // A path that looks inside was led out by a link, and where to is not for the model to learn from us.
        let folder = match self.place_of(&resolved) {
            Some(_) => "DIR".to_owned(),
            None => resolved.parent().unwrap_or(&resolved).display().to_string(),
        };
        RuntimeError::Outside { path: path.to_owned(), folder }
    }

    fn real_path_now(&self, path: &str) -> Result<PathBuf, RuntimeError> {
        let (root, relative) = self.at(path, "find", real_beneath)?;
        Ok(root.real.join(relative))
    }

    fn read_now(&self, path: &str, max_bytes: u64) -> Result<FileContents, RuntimeError> {
        let (_, file) = self.at(path, "read", |dir, relative| {
            dir.open_with(relative, OpenOptions::new().read(true).custom_flags(no_waiting()))
        })?;
        let failed = |error| RuntimeError::file("read", path, error);
        let metadata = file.metadata().map_err(failed)?;
        regular(path, &metadata)?;
        let too_large = |n_bytes| RuntimeError::TooLarge { path: path.to_owned(), n_bytes, max_bytes };
        if metadata.len() > max_bytes {
            return Err(too_large(metadata.len()));
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        // The size may be a lie (a file of /proc, or one that grows meanwhile), so the limit holds for what arrives.
        let n_bytes = file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)? as u64;
        if n_bytes > max_bytes {
            return Err(too_large(n_bytes));
        }
        Ok(FileContents { bytes, version: version(&metadata) })
    }

    fn write_now(
        &self,
        path: &str,
        contents: &[u8],
        condition: &WriteCondition,
    ) -> Result<Written, RuntimeError> {
        if path.ends_with('/') {
            return Err(RuntimeError::Directory { path: path.to_owned() });
        }
        let (root, relative) = self.at(path, "find", real_beneath)?;
        let real = root.real.join(&relative);
        // A read-only folder may lie inside of a writable one.
        let access = self.place_of(&real).map_or(root.access, |place| place.root.access);
        if access == Access::ReadOnly {
            return Err(RuntimeError::WriteProtected {
                path: path.to_owned(),
                reason: "in a read-only folder",
            });
        }
        if self.protected.iter().any(|protected| real.starts_with(protected)) {
            return Err(RuntimeError::WriteProtected { path: path.to_owned(), reason: "protected" });
        }
        let Some(name) = relative.file_name() else {
            return Err(RuntimeError::Directory { path: path.to_owned() });
        };
        let parent = or_dot(relative.parent().unwrap_or(Path::new("")));
        let folder = open_folder(&root.dir, &parent).map_err(|source| RuntimeError::File {
            action: "create the folder of",
            path: path.to_owned(),
            source,
        })?;
        replace(&folder, name, path, contents, condition)
    }

    fn list_now(&self, path: &str, cancel: &CancellationToken) -> Result<Listing, RuntimeError> {
        let failed = |error| RuntimeError::folder(path, error);
        let (root, relative) = self.at(path, "list", real_beneath)?;
        let folder = LocalFolder(root.dir.open_dir(or_dot(&relative)).map_err(failed)?);
        let names = folder.names(&|| cancel.is_cancelled()).map_err(failed)?;
        let entries = names.entries.into_iter().map(|(name, kind)| {
            let is_directory = match kind {
                EntryKind::Directory => true,
                // Looked up beneath the root, so a link that leads out is no directory.
                EntryKind::Link => root.dir.metadata(relative.join(&name)).is_ok_and(|found| found.is_dir()),
                EntryKind::File | EntryKind::Special => false,
            };
            ListedEntry { name: name.to_string_lossy().into_owned(), kind, is_directory }
        });
        Ok(Listing { entries: entries.collect(), is_whole: names.is_whole })
    }

    fn walk_now(
        &self,
        path: &str,
        visitor: &dyn Visitor,
        cancel: &CancellationToken,
    ) -> Result<Walked, RuntimeError> {
        let failed = |error| RuntimeError::file("search", path, error);
        let (root, relative) = self.at(path, "search", real_beneath)?;
        let metadata = root.dir.symlink_metadata(or_dot(&relative)).map_err(failed)?;
        if let (false, Some(name)) = (metadata.is_dir(), relative.file_name()) {
            regular(path, &metadata)?;
            let parent = or_dot(relative.parent().unwrap_or(Path::new("")));
            let folder = LocalFolder(root.dir.open_dir(parent).map_err(failed)?);
            return Ok(visit_file(&folder, name, visitor));
        }
        let start = LocalFolder(root.dir.open_dir(or_dot(&relative)).map_err(failed)?);
        let layers = layers_above(&root.dir, &root.real, &relative);
        let absolute = root.real.join(&relative);
        walk(start, absolute, layers, visitor, &|| cancel.is_cancelled()).map_err(failed)
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, RuntimeError> + Send + 'static,
    ) -> Result<T, RuntimeError> {
        let this = self.clone();
        match tokio::task::spawn_blocking(move || work(&this)).await {
            Ok(result) => result,
            Err(source) => Err(RuntimeError::Interrupted { source }),
        }
    }
}

#[async_trait]
impl WorkspaceRuntime for LocalWorkspace {
    fn directory(&self) -> &Path {
        &self.directory
    }

    fn resolve(&self, path: &str) -> PathBuf {
        lexical(&self.directory, &expand(path, self.home.as_deref()).unwrap_or_default())
    }

    async fn real_path(&self, path: &str) -> Result<PathBuf, RuntimeError> {
        let path = path.to_owned();
        self.blocking(move |this| this.real_path_now(&path)).await
    }

    async fn read(&self, path: &str, max_bytes: u64) -> Result<FileContents, RuntimeError> {
        let path = path.to_owned();
        self.blocking(move |this| this.read_now(&path, max_bytes)).await
    }

    async fn write(
        &self,
        path: &str,
        contents: Vec<u8>,
        condition: WriteCondition,
    ) -> Result<Written, RuntimeError> {
        let path = path.to_owned();
        self.blocking(move |this| this.write_now(&path, &contents, &condition)).await
    }

    async fn list(&self, path: &str, cancel: &CancellationToken) -> Result<Listing, RuntimeError> {
        let (path, cancel) = (path.to_owned(), cancel.child_token());
        // Stops the thread when nobody waits for it any more.
        let _stops = cancel.clone().drop_guard();
        self.blocking(move |this| this.list_now(&path, &cancel)).await
    }

    async fn walk(
        &self,
        path: &str,
        visitor: Arc<dyn Visitor>,
        cancel: &CancellationToken,
    ) -> Result<Walked, RuntimeError> {
        let (path, cancel) = (path.to_owned(), cancel.child_token());
        let _stops = cancel.clone().drop_guard();
        self.blocking(move |this| this.walk_now(&path, &*visitor, &cancel)).await
    }
}

impl Root {
    fn open(path: &Path, access: Access) -> Result<Self, RuntimeError> {
        let failed = |source| RuntimeError::Root { path: path.to_path_buf(), source };
        let given = lexical(Path::new("/"), &std::path::absolute(path).map_err(failed)?);
        let real = std::fs::canonicalize(path).map_err(failed)?;
        let dir = Dir::open_ambient_dir(&real, ambient_authority()).map_err(failed)?;
        Ok(Self { dir, given, real, access })
    }
}

#[cfg(test)]
#[path = "local_tests.rs"]
mod tests;
