//! Functions of `wasi:filesystem` in a version of our own: all that hand out, change or list something. The others (reading,
//! looking, syncing) are wasmtime's.
//!
//! - Granted directories are opened by the host ([`crate::directory`]), not handed over as paths to be opened again.
//! - Opening never waits and gives regular files and directories only: opening a pipe waits for its other end, on a thread
//!   that nothing can stop ([`open`]).
//! - What is protected cannot be changed, by whatever path ([`crate::reach`], [`change`]).
//! - Bytes written are counted ([`write`], [`crate::quota`]).
//! - Directories are listed page by page ([`list`]).

mod change;
mod list;
mod open;
mod place;
mod write;

use crate::reach::Reach;
use crate::state::State;
use list::Listing;
use open::Wanted;
use place::Refusal;
use std::path::PathBuf;
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource, ResourceType};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::filesystem::{Descriptor, Dir};
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::runtime::spawn_blocking;

type Descriptors = Resource<Descriptor>;
type Store<'a> = StoreContextMut<'a, State>;

/// The outer error ends the call, the inner one is the guest's.
type Answer<R> = wasmtime::Result<Result<R, ErrorCode>>;

/// Replaces the functions in a linker that has all of WASI.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    linker
        .instance(wasi!("filesystem/preopens"))?
        .func_wrap("get-directories", |mut store: Store<'_>, (): ()| {
            Ok((store.data_mut().directories()?,))
        })?;
    add_opening(linker)?;
    add_changes(linker)?;
    add_changes_of_two(linker)?;
    add_writing(linker)?;
    add_listing(linker)?;
    linker.allow_shadowing(false);
    Ok(())
}

const TYPES: &str = wasi!("filesystem/types");

fn add_opening(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    type Arguments = (Descriptors, PathFlags, String, OpenFlags, DescriptorFlags);
    linker.instance(TYPES)?.func_wrap_async(
        "[method]descriptor.open-at",
        |mut store: Store<'_>, (at, links, path, how, access): Arguments| {
            Box::new(async move {
                let wanted = Wanted { links, path, how, access };
                let state = store.data_mut();
                match state.beneath(&at, move |at, reach| open::open(at, &wanted, reach)).await? {
                    Ok(opened) => Ok((Ok(state.ctx().table.push(opened)?),)),
                    Err(refused) => Ok((Err(refused),)),
                }
            })
        },
    )
}

/// Changes of one name.
fn add_changes(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    let mut types = linker.instance(TYPES)?;
    types.func_wrap_async(
        "[method]descriptor.create-directory-at",
        |mut store: Store<'_>, (at, path): (Descriptors, String)| {
            Box::new(async move {
                let made = store.data_mut().beneath(&at, move |at, reach| change::make(at, &path, reach));
                Ok((made.await?,))
            })
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.remove-directory-at",
        |mut store: Store<'_>, (at, path): (Descriptors, String)| {
            Box::new(async move {
                let gone = store.data_mut().beneath(&at, move |at, reach| change::remove(at, &path, reach));
                Ok((gone.await?,))
            })
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.unlink-file-at",
        |mut store: Store<'_>, (at, path): (Descriptors, String)| {
            Box::new(async move {
                let gone = store.data_mut().beneath(&at, move |at, reach| change::unlink(at, &path, reach));
                Ok((gone.await?,))
            })
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.symlink-at",
        |mut store: Store<'_>, (at, target, path): (Descriptors, String, String)| {
            Box::new(async move {
                let work = move |at: &Dir, reach: &Reach| change::symlink(at, &target, &path, reach);
                Ok((store.data_mut().beneath(&at, work).await?,))
            })
        },
    )?;
    type Times = (Descriptors, PathFlags, String, NewTimestamp, NewTimestamp);
    types.func_wrap_async(
        "[method]descriptor.set-times-at",
        |mut store: Store<'_>, (at, links, path, accessed, modified): Times| {
            Box::new(async move {
                let work = move |at: &Dir, reach: &Reach| {
                    change::set_times(at, links, &path, &change::times(accessed, modified)?, reach)
                };
                Ok((store.data_mut().beneath(&at, work).await?,))
            })
        },
    )
}

/// Changes from one name to another, maybe of another directory.
fn add_changes_of_two(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    let mut types = linker.instance(TYPES)?;
    types.func_wrap_async(
        "[method]descriptor.rename-at",
        |mut store: Store<'_>, (at, path, to_at, to): (Descriptors, String, Descriptors, String)| {
            Box::new(async move {
                let state = store.data_mut();
                let Some(target) = state.directory(&to_at)? else {
                    return Ok((Err(ErrorCode::NotDirectory),));
                };
                let work = move |at: &Dir, reach: &Reach| change::rename(at, &path, &target, &to, reach);
                Ok((state.beneath(&at, work).await?,))
            })
        },
    )?;
    type Link = (Descriptors, PathFlags, String, Descriptors, String);
    types.func_wrap_async(
        "[method]descriptor.link-at",
        |mut store: Store<'_>, (at, links, path, to_at, to): Link| {
            Box::new(async move {
                let state = store.data_mut();
                let Some(target) = state.directory(&to_at)? else {
                    return Ok((Err(ErrorCode::NotDirectory),));
                };
                let work = move |at: &Dir, reach: &Reach| change::link(at, links, &path, &target, &to, reach);
                Ok((state.beneath(&at, work).await?,))
            })
        },
    )
}

fn add_writing(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    let mut types = linker.instance(TYPES)?;
    types.func_wrap_async(
        "[method]descriptor.write",
        |mut store: Store<'_>, (file, bytes, offset): (Descriptors, Vec<u8>, u64)| {
            Box::new(async move { Ok((write::write(store.data_mut(), &file, bytes, offset).await?,)) })
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.set-size",
        |mut store: Store<'_>, (file, size): (Descriptors, u64)| {
            Box::new(async move { Ok((write::set_size(store.data_mut(), &file, size).await?,)) })
        },
    )?;
    types.func_wrap(
        "[method]descriptor.write-via-stream",
        |mut store: Store<'_>, (file, offset): (Descriptors, u64)| {
            Ok((write::stream(store.data_mut(), file, Some(offset))?,))
        },
    )?;
    types.func_wrap(
        "[method]descriptor.append-via-stream",
        |mut store: Store<'_>, (file,): (Descriptors,)| Ok((write::stream(store.data_mut(), file, None)?,)),
    )?;
    types.func_wrap(
        "filesystem-error-code",
        |mut store: Store<'_>, (error,): (Resource<wasmtime::Error>,)| {
            Ok((write::error_code(store.data_mut(), error)?,))
        },
    )
}

fn add_listing(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    let mut types = linker.instance(TYPES)?;
    // A resource of our own, for wasmtime's holds the whole directory.
    types.resource(
        "directory-entry-stream",
        ResourceType::host::<Listing>(),
        |mut store: Store<'_>, listing| {
            store.data_mut().ctx().table.delete(Resource::<Listing>::new_own(listing))?;
            Ok(())
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.read-directory",
        |mut store: Store<'_>, (at,): (Descriptors,)| {
            Box::new(async move {
                let state = store.data_mut();
                match state.beneath(&at, |at, _| Listing::begin(at)).await? {
                    Ok(listing) => Ok((Ok(state.ctx().table.push(listing)?),)),
                    Err(refused) => Ok((Err(refused),)),
                }
            })
        },
    )?;
    types.func_wrap_async(
        "[method]directory-entry-stream.read-directory-entry",
        |mut store: Store<'_>, (listing,): (Resource<Listing>,)| {
            Box::new(async move { Ok((store.data_mut().ctx().table.get_mut(&listing)?.next().await,)) })
        },
    )
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

    /// The directory behind a descriptor, unless it is a file.
    fn directory(&mut self, at: &Resource<Descriptor>) -> wasmtime::Result<Option<Dir>> {
        Ok(match self.ctx().table.get(at)? {
            Descriptor::Dir(directory) => Some(directory.clone()),
            Descriptor::File(_) => None,
        })
    }

    /// Works in a directory, on a thread that may wait for the disk.
    async fn beneath<R: Send + 'static>(
        &mut self,
        at: &Resource<Descriptor>,
        work: impl FnOnce(&Dir, &Reach) -> Result<R, Refusal> + Send + 'static,
    ) -> Answer<R> {
        let Some(directory) = self.directory(at)? else { return Ok(Err(ErrorCode::NotDirectory)) };
        let reach = self.reach();
        match spawn_blocking(move || work(&directory, &reach)).await {
            Ok(done) => Ok(Ok(done)),
            Err(Refusal::Code(code)) => Ok(Err(code)),
            Err(Refusal::Protected(path)) => {
                self.protected_path(path);
                Ok(Err(ErrorCode::NotPermitted))
            }
        }
    }

    /// Keeps the first of a call for its log; WASI's error codes cannot say why something is not permitted.
    fn protected_path(&mut self, path: PathBuf) {
        self.scope.protected_path.get_or_insert(path);
    }
}
