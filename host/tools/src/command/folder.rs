//! The folder in which the full output of commands waits to be read.

use crate::error::RuntimeError;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};
use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Entries that one sweep looks at. It runs while a session starts; what it does not reach is left to the next one.
const MAX_SWEPT: usize = 10_000;

/// A folder that only the user can look into: output may hold what a command printed of the user's secrets. Its files
/// outlive the session, because a transcript names them, and go when a sweep finds them old.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
}

impl OutputFolder {
    /// Makes the folder and what is missing above it, or takes the one that is there.
    ///
    /// # Errors
    /// When it cannot be made or made private.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, RuntimeError> {
        let path = path.into();
        let made = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .and_then(|()| std::fs::set_permissions(&path, Permissions::from_mode(0o700)))
            // A sweep takes an old empty folder; this one is in use from now on.
            .and_then(|()| File::open(&path)?.set_modified(SystemTime::now()));
        match made {
            Ok(()) => Ok(Self { path }),
            Err(source) => Err(RuntimeError::OutputFolder { path, source }),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Deletes files older than `max_age` from the folders in `parent`, and folders of that age that are empty then. Blocks
    /// for a moment at most, however much there is: what it does not come to is left for the next time.
    /// Returns how many files went. Nothing else is touched; what cannot be deleted stays for the next time.
    pub fn sweep(parent: &Path, max_age: Duration) -> usize {
        let Some(before) = SystemTime::now().checked_sub(max_age) else { return 0 };
        sweep(parent, before).unwrap_or(0)
    }
}

fn sweep(parent: &Path, before: SystemTime) -> io::Result<usize> {
    let parent = Dir::open_ambient_dir(parent, ambient_authority())?;
    let (mut n_seen, mut n_deleted) = (0, 0);
    for folder in parent.entries()?.flatten() {
        n_seen += 1;
        let Ok(metadata) = folder.metadata() else { continue };
        if n_seen > MAX_SWEPT {
            break;
        }
        if !metadata.is_dir() {
            continue;
        }
        // Asked before its files go, which makes it young.
        let is_old_folder = is_older(&metadata, before);
        let Ok(files) = folder.open_dir().and_then(|open| open.entries()) else { continue };
        for file in files.flatten() {
            n_seen += 1;
            if n_seen > MAX_SWEPT {
                break;
            }
            let is_old_file = file.metadata().is_ok_and(|file| file.is_file() && is_older(&file, before));
            n_deleted += usize::from(is_old_file && file.remove_file().is_ok());
        }
        if is_old_folder {
            let _not_empty = folder.remove_dir();
        }
    }
    Ok(n_deleted)
}

/// By when it was last changed. The metadata of an entry is that of a link itself, not of what it leads to.
fn is_older(metadata: &Metadata, before: SystemTime) -> bool {
    metadata.modified().is_ok_and(|modified| modified.into_std() < before)
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
