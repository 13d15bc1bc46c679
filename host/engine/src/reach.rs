//! What of a granted directory a guest may change.
//!
//! Decided by where an open file or directory really lies, as the system tells it, and never by the path that a guest wrote:
//! a link, another case or a rename between check and use would make a path say something else than what is reached. Where
//! the system does not tell, nothing is changed.

use capstan_policy::protected::is_protected;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The bounds of one instance. Cheap to copy.
#[derive(Clone, Default)]
pub(crate) struct Reach {
    /// The directories that are granted for writing, open.
    writable: Arc<[Arc<File>]>,
    /// The host's own files, canonical.
    own: Arc<[PathBuf]>,
}

impl Reach {
    pub(crate) fn new(writable: Vec<Arc<File>>, own: Arc<[PathBuf]>) -> Self {
        Self { writable: writable.into(), own }
    }

    /// Whether what really lies here may be made, changed or removed: it lies in a directory that is granted for writing,
    /// and its path from there on has no protected name. Grants add up, so one that allows it is enough.
    pub(crate) fn may_change(&self, real: &Path) -> bool {
        !self.is_own(real)
            && self.writable.iter().any(|granted| {
                // Asked each time, for a directory can be moved while it is open.
                real_path(&**granted)
                    .is_some_and(|granted| real.strip_prefix(granted).is_ok_and(|below| !is_protected(below)))
            })
    }

    /// Whether this is one of the host's own files. No grant reaches them when it is given; they could be moved into one
    /// later.
    pub(crate) fn is_own(&self, real: &Path) -> bool {
        self.own.iter().any(|own| real.starts_with(own))
    }
}

/// Where an open file lies at this moment; `None` where the system does not say.
pub(crate) fn real_path(file: impl AsFd) -> Option<PathBuf> {
    told(file.as_fd()).filter(|path| path.is_absolute())
}

#[cfg(target_os = "linux")]
fn told(file: BorrowedFd<'_>) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

#[cfg(target_vendor = "apple")]
fn told(file: BorrowedFd<'_>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    let path = rustix::fs::getpath(file).ok()?;
    Some(std::ffi::OsString::from_vec(path.into_bytes()).into())
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn told(_file: BorrowedFd<'_>) -> Option<PathBuf> {
    None
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
