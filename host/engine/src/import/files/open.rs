//! Opening: regular files and directories, never waiting, never making what is protected.

use super::place::{Place, Refusal, beneath, check_words};
use crate::reach::{Reach, real_path};
use cap_std::fs::{Dir as Beneath, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use std::fs::File as OpenFile;
use std::io::ErrorKind;
use wasmtime_wasi::filesystem::{Descriptor, Dir, File};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};
use wasmtime_wasi::{FsPerms, OpenMode};

/// How often a file may come and go between looking for it and making it.
const ATTEMPTS: usize = 3;

/// What a guest wants to open, and how.
pub(super) struct Wanted {
    pub(super) links: PathFlags,
    pub(super) path: String,
    pub(super) how: OpenFlags,
    pub(super) access: DescriptorFlags,
}

impl Wanted {
    fn writes(&self) -> bool {
        self.access.contains(DescriptorFlags::WRITE)
            || self.how.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE)
    }

    fn reads(&self) -> bool {
        // As wasmtime does it: what is not opened for writing is opened for reading, whatever the guest says.
        self.access.contains(DescriptorFlags::READ) || !self.access.contains(DescriptorFlags::WRITE)
    }

    fn follows(&self) -> bool {
        self.links.contains(PathFlags::SYMLINK_FOLLOW)
    }

    /// Opens what is there, and changes nothing.
    fn options(&self, follows: bool) -> OpenOptions {
        let mut flags = OFlags::NONBLOCK;
        flags.set(OFlags::NOFOLLOW, !follows);
        let mut options = OpenOptions::new();
        options.read(self.reads()).write(self.writes()).custom_flags(flags.bits().cast_signed());
        options
    }

    fn mode(&self) -> OpenMode {
        let mut mode = OpenMode::empty();
        mode.set(OpenMode::READ, self.reads());
        mode.set(OpenMode::WRITE, self.writes());
        mode
    }

    /// Refuses combinations that mean nothing, and what a read-only grant does not allow.
    fn check(&self, at: &Dir) -> Result<(), ErrorCode> {
        if self.writes() && at.perms == FsPerms::ReadOnly {
            return Err(ErrorCode::NotPermitted);
        }
        let durable = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if self.access.intersects(durable) {
            return Err(ErrorCode::Unsupported);
        }
        let making = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
        if self.how.contains(OpenFlags::DIRECTORY) && self.how.intersects(making) {
            return Err(ErrorCode::Invalid);
        }
        Ok(())
    }
}

/// Opens, and makes the file if that is wanted.
pub(super) fn open(at: &Dir, wanted: &Wanted, reach: &Reach) -> Result<Descriptor, Refusal> {
    wanted.check(at)?;
    let named_protected = check_words(&wanted.path);
    if !wanted.writes() {
        let file =
            existing(&beneath(at)?, &wanted.path, &wanted.options(wanted.follows()), wanted.follows())?;
        return descriptor(file, at.perms, named_protected.is_ok(), wanted, reach);
    }
    named_protected?;
    let makes = wanted.how.contains(OpenFlags::CREATE);
    let must_make = makes && wanted.how.contains(OpenFlags::EXCLUSIVE);
    let directory = beneath(at)?;
    for _ in 0..ATTEMPTS {
        if !must_make {
            match existing(&directory, &wanted.path, &wanted.options(wanted.follows()), wanted.follows()) {
                Err(Refusal::Code(ErrorCode::NoEntry)) if makes => {}
                file => return changeable(file?, at.perms, wanted, reach),
            }
        }
        let place = Place::to_change(at, &wanted.path, reach)?;
        if place.slash {
            return Err(ErrorCode::IsDirectory.into());
        }
        // A link at this name is not followed, wherever it leads.
        match place.parent.open_with(&place.name, wanted.options(false).create_new(true)) {
            Ok(file) => return changeable(file.into_std(), at.perms, wanted, reach),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && !must_make => {}
            Err(error) => return Err(error.into()),
        }
    }
    // There is something at this name, and yet there is not: a link that leads to nothing. What it leads to might be
    // protected, so it is not made.
    Err(ErrorCode::NotPermitted.into())
}

/// Opens what is there. A device or a pipe is left alone.
fn existing(
    directory: &Beneath,
    path: &str,
    options: &OpenOptions,
    follows: bool,
) -> Result<OpenFile, Refusal> {
    // Opening alone can have an effect on a device, so what is seen to be one is not opened.
    let seen = match follows {
        true => directory.metadata(path),
        false => directory.symlink_metadata(path),
    };
    if seen.is_ok_and(|seen| !(seen.is_file() || seen.is_dir() || seen.is_symlink())) {
        return Err(ErrorCode::NotPermitted.into());
    }
    Ok(directory.open_with(path, options)?.into_std())
}

/// A file that was opened for writing: if it may be, it is emptied now where that is wanted.
fn changeable(
    file: OpenFile,
    granted: FsPerms,
    wanted: &Wanted,
    reach: &Reach,
) -> Result<Descriptor, Refusal> {
    match real_path(&file) {
        Some(real) if reach.may_change(&real) => {}
        real => return Err(Refusal::Protected(real.unwrap_or_else(|| wanted.path.clone().into()))),
    }
    if wanted.how.contains(OpenFlags::TRUNCATE) && file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    descriptor(file, granted, true, wanted, reach)
}

/// What the guest gets for an open file. Through a descriptor of something protected, nothing can be changed.
fn descriptor(
    file: OpenFile,
    granted: FsPerms,
    may_change: bool,
    wanted: &Wanted,
    reach: &Reach,
) -> Result<Descriptor, Refusal> {
    let real = real_path(&file);
    if let Some(real) = &real
        && reach.is_own(real)
    {
        return Err(Refusal::Protected(real.clone()));
    }
    let perms = match granted {
        FsPerms::ReadWrite if may_change && real.is_some_and(|real| reach.may_change(&real)) => {
            FsPerms::ReadWrite
        }
        FsPerms::ReadWrite | FsPerms::ReadOnly => FsPerms::ReadOnly,
    };
    // What counts is what was opened; the name may lead elsewhere by now.
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        Ok(Descriptor::Dir(Dir::new(file, perms, wanted.mode(), false)))
    } else if !kind.is_file() {
        Err(ErrorCode::NotPermitted.into())
    } else if wanted.how.contains(OpenFlags::DIRECTORY) {
        Err(ErrorCode::NotDirectory.into())
    } else {
        Ok(Descriptor::File(File::new(file, perms, wanted.mode(), false)))
    }
}
