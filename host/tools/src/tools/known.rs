//! What a session knows of files, so that an edit is never based on a state that somebody else has replaced.

use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files remembered. Beyond this the one that was read longest ago is forgotten, and an edit of it is allowed
/// unchecked, as if it had never been read. Bounds the memory of a long session at some hundred kilobytes.
const MAX_FILES: usize = 1024;

/// A digest of a whole file.
pub(crate) type FileDigest = [u8; 32];

/// The digests of the files that one session has read, as they were then or as its own tools left them since.
#[derive(Default)]
pub struct KnownFiles(Mutex<Known>);

#[derive(Default)]
struct Known {
    by_path: HashMap<PathBuf, Entry>,
    n_reads: u64,
}

struct Entry {
    digest: FileDigest,
    /// Reads before this one.
    read_at: u64,
}

impl KnownFiles {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The file was read. `real_path` has no links in it. To be called under the file's lock, or an older state may
    /// overwrite a newer one.
    pub(crate) fn read(&self, real_path: &Path, digest: FileDigest) {
        let mut known = self.known();
        known.n_reads += 1;
        let read_at = known.n_reads;
        known.by_path.insert(real_path.to_path_buf(), Entry { digest, read_at });
        if known.by_path.len() > MAX_FILES {
            let oldest =
                known.by_path.iter().min_by_key(|(_, entry)| entry.read_at).map(|(path, _)| path.clone());
            if let Some(oldest) = oldest {
                known.by_path.remove(&oldest);
            }
        }
    }

    /// The session itself has written the file. A file that it never read stays unknown: whoever edits by quotation only
    /// needs the quotation to be right.
    pub(crate) fn wrote(&self, real_path: &Path, digest: FileDigest) {
        if let Some(entry) = self.known().by_path.get_mut(real_path) {
            entry.digest = digest;
        }
    }

    /// True unless the file was read before and is another one now.
    pub(crate) fn agrees(&self, real_path: &Path, digest: &FileDigest) -> bool {
        self.known().by_path.get(real_path).is_none_or(|entry| entry.digest == *digest)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Every change is one step, so a panic of another holder leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The digest of a file's bytes.
pub(crate) fn digest(bytes: &[u8]) -> FileDigest {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
#[path = "known_tests.rs"]
mod tests;
