//! Replaces a file in one step: a temporary file beside it takes its name.

use crate::error::RuntimeError;
use crate::workspace::{FileVersion, WriteCondition, Written};
use cap_std::fs::{Dir, File, Metadata, MetadataExt, OpenOptions, OpenOptionsExt, Permissions};
use cap_tempfile::TempFile;
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, fchown};

/// Replaces `name` in `folder` by way of a temporary file.
pub(super) fn replace(
    folder: &Dir,
    name: &OsStr,
    path: &str,
    contents: &[u8],
    condition: &WriteCondition,
) -> Result<Written, RuntimeError> {
    let failed = |error| RuntimeError::file("write", path, error);
    let existing = existing(folder, name, path)?;
    if let WriteCondition::Unchanged(expected) = condition
        && existing.as_ref().map(version).as_ref() != Some(expected)
    {
        return Err(RuntimeError::Changed { path: path.to_owned() });
    }
    let mut temporary = TempFile::new(folder).map_err(failed)?;
    temporary.write_all(contents).map_err(failed)?;
    if let Some(existing) = &existing {
        keep_owner_and_mode(temporary.as_file(), existing).map_err(failed)?;
    }
    temporary.replace(name).map_err(failed)?;
    Ok(if existing.is_some() { Written::Replaced } else { Written::Created })
}

/// The file that a write would replace. Replacing needs only a writable folder; opening the file as well refuses to
/// overwrite one that is marked read-only.
fn existing(folder: &Dir, name: &OsStr, path: &str) -> Result<Option<Metadata>, RuntimeError> {
    let failed = |error| RuntimeError::file("write", path, error);
    match folder.symlink_metadata(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
        Ok(metadata) => {
            regular(path, &metadata)?;
            let file = folder
                .open_with(name, OpenOptions::new().write(true).custom_flags(no_waiting()))
                .map_err(failed)?;
            let metadata = file.metadata().map_err(failed)?;
            regular(path, &metadata)?;
            Ok(Some(metadata))
        }
    }
}

fn keep_owner_and_mode(new: &File, old: &Metadata) -> io::Result<()> {
    let fresh = new.metadata()?;
    let (owner, group) = (old.uid(), old.gid());
    let mut mode = old.mode() & 0o7777;
    if (fresh.uid(), fresh.gid()) != (owner, group)
        && fchown(new, Some(owner), Some(group)).is_err()
        && fchown(new, None, Some(group)).is_err()
    {
        // Only the superuser gives files away. A file that changes hands must not carry its owner's powers along.
        mode &= 0o0777;
    }
    new.set_permissions(Permissions::from_std(PermissionsExt::from_mode(mode)))
}

/// Refuses what is not a plain file. `metadata` must not have followed a link.
pub(super) fn regular(path: &str, metadata: &Metadata) -> Result<(), RuntimeError> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return Ok(());
    }
    let path = path.to_owned();
    if kind.is_dir() {
        return Err(RuntimeError::Directory { path });
    }
    let kind = if kind.is_symlink() { "a link that leads nowhere" } else { "a pipe, socket or device" };
    Err(RuntimeError::Special { path, kind })
}

pub(super) fn version(metadata: &Metadata) -> FileVersion {
    FileVersion {
        identity: metadata.ino(),
        length: metadata.len(),
        modified: i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()),
    }
}

/// Opening a pipe waits for its other end, and no abort reaches a thread that waits in `open`.
pub(super) fn no_waiting() -> i32 {
    (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed()
}
