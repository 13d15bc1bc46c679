//! From a file to an extension that is understood: what was learnt of a file is kept, so that a reload costs no second
//! compilation, no second `describe`, and what did not change keeps its very objects.

use crate::screen;
use capstan_engine::{Extension, Glance, Inspected, LimitTable, LoadError, Sandbox};
use capstan_policy::{Effective, Source};
use capstan_ports::extension::Digest;
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Whether whoever wants the extensions waits for those that have to be compiled first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Until all are there.
    #[default]
    Wait,
    /// They join later; see [`Memory::learn`].
    Beside,
}

/// What one look at the folders leaves for the next.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) pace: Pace,
    /// Files as they were when they were last read.
    seen: HashMap<PathBuf, (Stamp, Digest)>,
    known: HashMap<Digest, Arc<Inspected>>,
    /// Why these bytes are no extension. Compiling is not tried a second time.
    refused: HashMap<Digest, String>,
    in_force: Vec<InForce>,
}

/// An extension in force and where it came from.
#[derive(Clone)]
pub(crate) struct InForce {
    pub(crate) path: PathBuf,
    pub(crate) source: Source,
    pub(crate) extension: Extension,
}

/// What a file is.
pub(crate) enum Loaded {
    Understood(Arc<Inspected>),
    /// These bytes have to be compiled first.
    Compiling(Digest),
    /// With the reason, which names the file.
    Broken(String),
}

impl Memory {
    /// One that does not wait.
    pub(crate) fn beside() -> Self {
        Self { pace: Pace::Beside, ..Self::default() }
    }

    /// What these files are, in their order.
    pub(crate) async fn load(&mut self, sandbox: &Sandbox, files: &[PathBuf]) -> Vec<Loaded> {
        match self.pace {
            // All at once: one that takes long to compile holds nobody else up.
            Pace::Wait => {
                let loading = files.iter().map(|path| inspect(sandbox, path));
                let loaded = futures::future::join_all(loading).await;
                loaded.into_iter().map(Loaded::from).collect()
            }
            Pace::Beside => {
                let loaded: Vec<_> = files.iter().map(|path| self.glance(sandbox, path)).collect();
                self.forget_all_but(&loaded, files);
                loaded
            }
        }
    }

    /// Takes up what compiling a file beside led to. `digest` is of the bytes for which it was begun.
    pub(crate) fn learn(&mut self, digest: Digest, inspected: Result<Inspected, LoadError>) {
        match inspected {
            // Other bytes than those that were seen, if the file changed meanwhile; the next look finds them known.
            Ok(file) => {
                self.known.insert(file.digest, Arc::new(file));
            }
            Err(error) => {
                self.refused.insert(digest, error.to_string());
            }
        }
    }

    fn glance(&mut self, sandbox: &Sandbox, path: &Path) -> Loaded {
        let stamp = Stamp::of(path);
        let seen = self.seen.get(path).filter(|(seen, _)| stamp.as_ref() == Some(seen));
        if let Some(loaded) = seen.and_then(|(_, digest)| self.recall(digest)) {
            return loaded;
        }
        let (digest, loaded) = match sandbox.glance(path) {
            Ok(Glance::Known(file)) => {
                let file = self.known.entry(file.digest).or_insert_with(|| Arc::new(*file)).clone();
                (file.digest, Loaded::Understood(file))
            }
            Ok(Glance::Uncompiled(digest)) => {
                (digest, self.recall(&digest).unwrap_or(Loaded::Compiling(digest)))
            }
            Err(error) => {
                self.seen.remove(path);
                return Loaded::Broken(error.to_string());
            }
        };
        match stamp.filter(Stamp::is_settled) {
            Some(stamp) => self.seen.insert(path.to_owned(), (stamp, digest)),
            None => self.seen.remove(path),
        };
        loaded
    }

    fn recall(&self, digest: &Digest) -> Option<Loaded> {
        match (self.known.get(digest), self.refused.get(digest)) {
            (Some(file), _) => Some(Loaded::Understood(file.clone())),
            (None, Some(reason)) => Some(Loaded::Broken(reason.clone())),
            (None, None) => None,
        }
    }

    /// Files that are gone are forgotten, so that a session of weeks does not grow with what was once there.
    fn forget_all_but(&mut self, loaded: &[Loaded], files: &[PathBuf]) {
        let present: HashSet<Digest> = loaded
            .iter()
            .filter_map(|loaded| match loaded {
                Loaded::Understood(file) => Some(file.digest),
                Loaded::Compiling(digest) => Some(*digest),
                Loaded::Broken(_) => None,
            })
            .chain(self.seen.iter().filter(|(path, _)| files.contains(path)).map(|(_, (_, digest))| *digest))
            .collect();
        self.seen.retain(|path, _| files.contains(path));
        self.known.retain(|digest, _| present.contains(digest));
        self.refused.retain(|digest, _| present.contains(digest));
    }

    /// What was in force after the last look.
    pub(crate) fn in_force(&self) -> &[InForce] {
        &self.in_force
    }

    /// Remembers what is in force now.
    pub(crate) fn put_in_force(&mut self, in_force: Vec<InForce>) {
        self.in_force = in_force;
    }

    /// The very extension, if one of these bytes, grants and configuration is in force already.
    pub(crate) fn unchanged(
        &self,
        digest: &Digest,
        effective: &Effective,
        config: &serde_json::Value,
        limits: &LimitTable,
    ) -> Option<Extension> {
        let held = self.in_force.iter().map(|held| &held.extension);
        held.into_iter().find(|extension| extension.is_made_of(digest, effective, config, limits)).cloned()
    }
}

impl From<Result<Inspected, LoadError>> for Loaded {
    fn from(inspected: Result<Inspected, LoadError>) -> Self {
        match inspected {
            Ok(file) => Self::Understood(Arc::new(file)),
            Err(error) => Self::Broken(error.to_string()),
        }
    }
}

/// Compiling a large component takes seconds; after the first of them the user is told what the wait is for.
async fn inspect(sandbox: &Sandbox, path: &Path) -> Result<Inspected, LoadError> {
    let inspecting = sandbox.inspect(path);
    tokio::pin!(inspecting);
    tokio::select! {
        result = &mut inspecting => return result,
        () = tokio::time::sleep(Duration::from_secs(1)) => {}
    }
    screen::note(&format!(
        "capstan: compiling {}; this happens once for each version of it",
        screen::path(path)
    ));
    inspecting.await
}

/// What tells two states of a file apart without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    place: (u64, u64),
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// The coarsest clock of a file system in use. A file that was touched a moment ago could be touched again without showing
/// another time.
const CLOCK: Duration = Duration::from_secs(2);

impl Stamp {
    /// `None` when there is no such file. A link counts by what it leads to.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok()?;
        Some(Self {
            place: (found.dev(), found.ino()),
            len: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    /// Device and inode.
    pub(crate) fn place(&self) -> (u64, u64) {
        self.place
    }

    /// Whether this stamp cannot stand for two states.
    fn is_settled(&self) -> bool {
        self.age() > CLOCK
    }

    /// How long ago the file was touched, by its own account.
    pub(crate) fn age(&self) -> Duration {
        let (seconds, nanoseconds) = self.changed;
        let since_epoch = Duration::from_secs(seconds.max(0).unsigned_abs())
            + Duration::from_nanos(nanoseconds.max(0).unsigned_abs());
        let changed = SystemTime::UNIX_EPOCH + since_epoch;
        SystemTime::now().duration_since(changed).unwrap_or_default()
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
