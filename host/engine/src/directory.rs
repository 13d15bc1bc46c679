//! Opens granted directories.
//!
//! A guest may be allowed to write beside a directory that it was granted, and then put a symbolic link in its place. A path
//! that is checked first and opened afterwards would be followed to wherever that link leads; so nothing is checked, and no
//! step of the path is followed.

use rustix::fs::{Mode, OFlags, open as open_first, openat};
use std::fs::File;
use std::io;
use std::path::{Component, Path};

/// Passing through a directory needs no right to read it.
#[cfg(target_os = "linux")]
const THROUGH: OFlags = STEP.union(OFlags::PATH);
#[cfg(not(target_os = "linux"))]
const THROUGH: OFlags = STEP;

const STEP: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens the directory at a canonical path.
///
/// # Errors
/// When a step of the path is not a directory any more, a symbolic link included.
pub(crate) fn open(canonical: &Path) -> io::Result<File> {
    let mut names = canonical.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        Component::RootDir | Component::CurDir | Component::ParentDir | Component::Prefix(_) => None,
    });
    let Some(last) = names.next_back() else { return Ok(open_first("/", STEP, Mode::empty())?.into()) };
    let mut at = open_first("/", THROUGH, Mode::empty())?;
    for name in names {
        at = openat(&at, name, THROUGH, Mode::empty())?;
    }
    Ok(openat(&at, last, STEP, Mode::empty())?.into())
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
