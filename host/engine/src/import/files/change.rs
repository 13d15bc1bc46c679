//! Changes of directories: each acts on a single name in an open directory whose place was looked at.

use super::open::{Wanted, open};
use super::place::{Place, Refusal};
use crate::reach::Reach;
use rustix::fs::{AtFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, futimens, utimensat};
use wasmtime_wasi::FsPerms;
use wasmtime_wasi::filesystem::{Descriptor, Dir};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};

fn check_granted(at: &Dir) -> Result<(), Refusal> {
    match at.perms {
        FsPerms::ReadWrite => Ok(()),
        FsPerms::ReadOnly => Err(ErrorCode::NotPermitted.into()),
    }
}

/// Makes a directory.
pub(super) fn make(at: &Dir, path: &str, reach: &Reach) -> Result<(), Refusal> {
    check_granted(at)?;
    let place = Place::to_change(at, path, reach)?;
    Ok(place.parent.create_dir(&place.name)?)
}

/// Removes a directory.
pub(super) fn remove(at: &Dir, path: &str, reach: &Reach) -> Result<(), Refusal> {
    check_granted(at)?;
    let place = Place::to_change(at, path, reach)?;
    Ok(place.parent.remove_dir(&place.name)?)
}

/// Removes a file or a link.
pub(super) fn unlink(at: &Dir, path: &str, reach: &Reach) -> Result<(), Refusal> {
    check_granted(at)?;
    let place = Place::to_change(at, path, reach)?;
    check_slash(&place)?;
    Ok(place.parent.remove_file(&place.name)?)
}

/// Makes a link to `target`, which must be relative.
pub(super) fn symlink(at: &Dir, target: &str, path: &str, reach: &Reach) -> Result<(), Refusal> {
    check_granted(at)?;
    let place = Place::to_change(at, path, reach)?;
    if place.slash {
        return Err(ErrorCode::NoEntry.into());
    }
    Ok(place.parent.symlink(target, &place.name)?)
}

/// Renames, and replaces what has the new name.
pub(super) fn rename(at: &Dir, path: &str, to_at: &Dir, to: &str, reach: &Reach) -> Result<(), Refusal> {
    check_granted(at)?;
    check_granted(to_at)?;
    let from = Place::to_change(at, path, reach)?;
    let to = Place::to_change(to_at, to, reach)?;
    if (from.slash || to.slash) && !from.is_directory()? {
        return Err(ErrorCode::NotDirectory.into());
    }
    Ok(from.parent.rename(&from.name, &to.parent, &to.name)?)
}

/// A second name for a file. A protected file gets none, for it could be written by it.
pub(super) fn link(
    at: &Dir,
    links: PathFlags,
    path: &str,
    to_at: &Dir,
    to: &str,
    reach: &Reach,
) -> Result<(), Refusal> {
    check_granted(at)?;
    check_granted(to_at)?;
    if links.contains(PathFlags::SYMLINK_FOLLOW) {
        return Err(ErrorCode::Invalid.into());
    }
    let from = Place::to_change(at, path, reach)?;
    check_slash(&from)?;
    let to = Place::to_change(to_at, to, reach)?;
    if to.slash {
        return Err(ErrorCode::NoEntry.into());
    }
    Ok(from.parent.hard_link(&from.name, &to.parent, &to.name)?)
}

/// Sets when something was last read and changed.
pub(super) fn set_times(
    at: &Dir,
    links: PathFlags,
    path: &str,
    times: &Timestamps,
    reach: &Reach,
) -> Result<(), Refusal> {
    check_granted(at)?;
    if !links.contains(PathFlags::SYMLINK_FOLLOW) {
        let place = Place::to_change(at, path, reach)?;
        return Ok(utimensat(&place.parent, place.name.as_str(), times, AtFlags::SYMLINK_NOFOLLOW)?);
    }
    let wanted =
        Wanted { links, path: path.to_owned(), how: OpenFlags::empty(), access: DescriptorFlags::READ };
    let (file, perms) = match open(at, &wanted, reach)? {
        Descriptor::File(file) => (file.file, file.perms),
        Descriptor::Dir(directory) => (directory.dir, directory.perms),
    };
    match perms {
        FsPerms::ReadWrite => Ok(futimens(&*file, times)?),
        FsPerms::ReadOnly => Err(Refusal::Protected(path.into())),
    }
}

/// A slash after the name of a file is a mistake.
fn check_slash(place: &Place) -> Result<(), Refusal> {
    match place.slash {
        false => Ok(()),
        true if place.is_directory()? => Err(ErrorCode::IsDirectory.into()),
        true => Err(ErrorCode::NotDirectory.into()),
    }
}

/// Times as the system takes them.
pub(super) fn times(accessed: NewTimestamp, modified: NewTimestamp) -> Result<Timestamps, ErrorCode> {
    Ok(Timestamps { last_access: time(accessed)?, last_modification: time(modified)? })
}

fn time(new: NewTimestamp) -> Result<Timespec, ErrorCode> {
    Ok(match new {
        NewTimestamp::NoChange => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        NewTimestamp::Now => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
        NewTimestamp::Timestamp(time) => {
            // Whole seconds among the nanoseconds are carried over.
            let carried = u64::from(time.nanoseconds / 1_000_000_000);
            let seconds = time.seconds.checked_add(carried).ok_or(ErrorCode::Overflow)?;
            Timespec { tv_sec: seconds.try_into()?, tv_nsec: i64::from(time.nanoseconds % 1_000_000_000) }
        }
    })
}
