//! Two functions of `wasi:filesystem` in a version of our own; all others are wasmtime's.
//!
//! - `get-directories` hands out directories that the host opened ([`crate::directory`]), not paths to be opened again.
//! - `open-at` opens regular files and directories only, and never waits. Opening a pipe waits for its other end, on a thread
//!   that nothing can stop: it would outlive the call's deadline, and enough of them would stop the host.

use crate::state::State;
use cap_std::fs::{Dir as Beneath, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::filesystem::{Descriptor, Dir, File};
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};
use wasmtime_wasi::{FsPerms, OpenMode, WasiView};

/// The version of WASI that wasmtime links. Were it another, these functions would stand beside wasmtime's instead of
/// replacing them; the suite of files would notice.
const PREOPENS: &str = "wasi:filesystem/preopens@0.2.12";
const TYPES: &str = "wasi:filesystem/types@0.2.12";

/// Replaces the two functions in a linker that has all of WASI.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    linker
        .instance(PREOPENS)?
        .func_wrap("get-directories", |mut store: StoreContextMut<'_, State>, (): ()| {
            Ok((store.data_mut().directories()?,))
        })?;
    linker.instance(TYPES)?.func_wrap_async(
        "[method]descriptor.open-at",
        |mut store: StoreContextMut<'_, State>, (at, links, path, how, access): Arguments| {
            Box::new(async move {
                Ok((open_at(store.data_mut(), &at, Wanted { links, path, how, access }).await?,))
            })
        },
    )?;
    linker.allow_shadowing(false);
    Ok(())
}

type Arguments = (Resource<Descriptor>, PathFlags, String, OpenFlags, DescriptorFlags);

/// What a guest wants to open, and how.
struct Wanted {
    links: PathFlags,
    path: String,
    how: OpenFlags,
    access: DescriptorFlags,
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

    fn options(&self) -> OpenOptions {
        let mut flags = OFlags::NONBLOCK;
        flags.set(OFlags::NOFOLLOW, !self.follows());
        let mut options = OpenOptions::new();
        options
            .read(self.reads())
            .write(self.writes())
            .truncate(self.how.contains(OpenFlags::TRUNCATE))
            .custom_flags(flags.bits().cast_signed());
        if self.how.contains(OpenFlags::CREATE) {
            match self.how.contains(OpenFlags::EXCLUSIVE) {
                true => options.create_new(true),
                false => options.create(true),
            };
        }
        options
    }

    fn mode(&self) -> OpenMode {
        let mut mode = OpenMode::empty();
        mode.set(OpenMode::READ, self.reads());
        mode.set(OpenMode::WRITE, self.writes());
        mode
    }
}

/// The outer error ends the call, the inner one is the guest's.
async fn open_at(
    state: &mut State,
    at: &Resource<Descriptor>,
    wanted: Wanted,
) -> wasmtime::Result<Result<Resource<Descriptor>, ErrorCode>> {
    let directory = match state.ctx().table.get(at)? {
        Descriptor::Dir(directory) => directory.clone(),
        Descriptor::File(_) => return Ok(Err(ErrorCode::NotDirectory)),
    };
    if wanted.writes() && directory.perms == FsPerms::ReadOnly {
        return Ok(Err(ErrorCode::NotPermitted));
    }
    let durable = DescriptorFlags::FILE_INTEGRITY_SYNC
        | DescriptorFlags::DATA_INTEGRITY_SYNC
        | DescriptorFlags::REQUESTED_WRITE_SYNC;
    if wanted.access.intersects(durable) {
        return Ok(Err(ErrorCode::Unsupported));
    }
    let making = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
    if wanted.how.contains(OpenFlags::DIRECTORY) && wanted.how.intersects(making) {
        return Ok(Err(ErrorCode::Invalid));
    }
    match wasmtime_wasi::runtime::spawn_blocking(move || open(&directory, &wanted)).await {
        Ok(opened) => Ok(Ok(state.ctx().table.push(opened)?)),
        Err(reason) => Ok(Err(reason)),
    }
}

fn open(directory: &Dir, wanted: &Wanted) -> Result<Descriptor, ErrorCode> {
    let beneath = Beneath::from_std_file(directory.dir.try_clone()?);
    // Opening alone can have an effect on a device, so what is seen to be one is left alone.
    let seen = match wanted.follows() {
        true => beneath.metadata(&wanted.path),
        false => beneath.symlink_metadata(&wanted.path),
    };
    if seen.is_ok_and(|seen| !(seen.is_file() || seen.is_dir() || seen.is_symlink())) {
        return Err(ErrorCode::NotPermitted);
    }
    let file = beneath.open_with(&wanted.path, &wanted.options())?.into_std();
    // What counts is what was opened; the name may lead elsewhere by now.
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        Ok(Descriptor::Dir(Dir::new(file, directory.perms, wanted.mode(), false)))
    } else if !kind.is_file() {
        Err(ErrorCode::NotPermitted)
    } else if wanted.how.contains(OpenFlags::DIRECTORY) {
        Err(ErrorCode::NotDirectory)
    } else {
        Ok(Descriptor::File(File::new(file, directory.perms, wanted.mode(), false)))
    }
}

impl State {
    /// The granted directories as new resources of the guest.
    fn directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let directories = self.granted().to_vec();
        let table = self.ctx().table;
        directories
            .into_iter()
            .map(|(directory, name)| Ok((table.push(Descriptor::Dir(directory))?, name)))
            .collect()
    }
}
