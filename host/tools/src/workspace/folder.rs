//! Open directories of the local disk, for listing and walking.

use crate::workspace::ignored::{Layer, REPOSITORY};
use crate::workspace::links::or_dot;
use crate::workspace::tree::{EntryKind, MAX_FOLDER_ENTRIES};
use crate::workspace::walk::{Folder, Names};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType, FileTypeExt};
use rustix::fs::{Mode, OFlags, openat};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Directories above the workspace that are searched for the repository it belongs to.
const MAX_ABOVE: usize = 32;

/// Names read between two looks at whether the call was aborted.
const NAMES_PER_CHECK: usize = 256;

pub(super) struct LocalFolder(pub(super) Dir);

impl LocalFolder {
    /// `name` is one component, so refusing a link is all that keeps it inside.
    fn open(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.0, name, flags, Mode::empty())?))
    }

    fn names_up_to(&self, max_entries: usize, is_cancelled: &dyn Fn() -> bool) -> io::Result<Names> {
        let mut names = Names { entries: Vec::new(), is_whole: true };
        for entry in self.0.entries()? {
            if names.entries.len() >= max_entries {
                names.is_whole = false;
                break;
            }
            if names.entries.len().is_multiple_of(NAMES_PER_CHECK) && is_cancelled() {
                break;
            }
            let entry = entry?;
            let known = entry.file_type()?;
            // Some file systems do not tell it with the name.
            let kind = match kind_of(known) {
                Some(kind) => kind,
                None => {
                    entry.metadata().ok().and_then(|it| kind_of(it.file_type())).unwrap_or(EntryKind::Special)
                }
            };
            names.entries.push((entry.file_name(), kind));
        }
        names.entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Ok(names)
    }
}

impl Folder for LocalFolder {
    fn names(&self, is_cancelled: &dyn Fn() -> bool) -> io::Result<Names> {
        self.names_up_to(MAX_FOLDER_ENTRIES, is_cancelled)
    }

    fn folder(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self(Dir::from_std_file(self.open(name, OFlags::DIRECTORY)?)))
    }

    fn file(&self, name: &OsStr) -> io::Result<Box<dyn Read>> {
        // Opening a pipe would wait for its other end.
        let file = self.open(name, OFlags::NONBLOCK | OFlags::NOCTTY)?;
        if file.metadata()?.is_file() {
            Ok(Box::new(file))
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
        }
    }
}

fn kind_of(file_type: FileType) -> Option<EntryKind> {
    if file_type.is_file() {
        Some(EntryKind::File)
    } else if file_type.is_dir() {
        Some(EntryKind::Directory)
    } else if file_type.is_symlink() {
        Some(EntryKind::Link)
    } else if file_type.is_fifo()
        || file_type.is_socket()
        || file_type.is_char_device()
        || file_type.is_block_device()
    {
        Some(EntryKind::Special)
    } else {
        None
    }
}

/// The lists that hold in the directory `relative` of the root `dir` without being in it: those of the directories
/// between, and those of the repository that the root itself lies in.
pub(super) fn layers_above(dir: &Dir, real: &Path, relative: &Path) -> Vec<Layer> {
    let mut layers = above_root(dir, real);
    let Some(parent) = relative.parent() else { return layers };
    let mut between: Vec<_> = parent.ancestors().collect();
    between.reverse();
    for relative in between {
        if let Ok(folder) = dir.open_dir(or_dot(relative)) {
            layers.push(Layer::of(&LocalFolder(folder), &real.join(relative)));
        }
    }
    layers
}

/// A workspace that is a part of a repository obeys the lists of the whole. Only they are read out there, nothing of
/// them is shown, and only up to where the repository begins.
fn above_root(dir: &Dir, real: &Path) -> Vec<Layer> {
    let begins = |path: &Path| path.join(REPOSITORY).symlink_metadata().is_ok();
    if dir.symlink_metadata(REPOSITORY).is_ok() {
        return Vec::new();
    }
    let outside: Vec<_> = real.ancestors().skip(1).take(MAX_ABOVE).collect();
    let Some(top) = outside.iter().position(|path| begins(path)) else { return Vec::new() };
    let mut layers = Vec::new();
    for path in outside[..=top].iter().rev() {
        if let Ok(folder) = Dir::open_ambient_dir(path, ambient_authority()) {
            layers.push(Layer::of(&LocalFolder(folder), path));
        }
    }
    layers
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
