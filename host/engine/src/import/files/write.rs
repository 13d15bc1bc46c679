//! Writing: every way to make a file larger or change its bytes is booked on the call's account first.

use super::Answer;
use crate::quota::{Quota, cost};
use crate::state::State;
use bytes::Bytes;
use std::fs::File as OpenFile;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, File, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::filesystem::types::{ErrorCode, Host, HostDescriptor};
use wasmtime_wasi::p2::{DynOutputStream, FsResult, OutputStream, Pollable, StreamError, StreamResult};
use wasmtime_wasi::runtime::spawn_blocking;
use wasmtime_wasi::{FsPerms, OpenMode, WasiView};

/// Writes at an offset; answers how many bytes were written.
pub(super) async fn write(
    state: &mut State,
    file: &Resource<Descriptor>,
    bytes: Vec<u8>,
    offset: u64,
) -> Answer<u64> {
    let file = match state.writable(file)? {
        Ok(file) => file,
        Err(code) => return Ok(Err(code)),
    };
    let quota = state.quota.clone();
    Ok(spawn_blocking(move || {
        let bytes_len = bytes.len() as u64;
        let cost = cost(file.metadata()?.len(), offset, bytes_len);
        booked(&quota, cost)?;
        match file.write_at(&bytes, offset) {
            Ok(written) => {
                let written = written as u64;
                quota.give_back(bytes_len.saturating_sub(written));
                Ok(written)
            }
            Err(error) => {
                quota.give_back(cost);
                Err(error.into())
            }
        }
    })
    .await)
}

/// Makes a file longer or shorter.
pub(super) async fn set_size(state: &mut State, file: &Resource<Descriptor>, size: u64) -> Answer<()> {
    let file = match state.writable(file)? {
        Ok(file) => file,
        Err(code) => return Ok(Err(code)),
    };
    let quota = state.quota.clone();
    Ok(spawn_blocking(move || {
        let growth = size.saturating_sub(file.metadata()?.len());
        booked(&quota, growth)?;
        file.set_len(size).map_err(|error| {
            quota.give_back(growth);
            ErrorCode::from(error)
        })
    })
    .await)
}

/// A stream that writes from an offset on, or at the end.
pub(super) fn stream(
    state: &mut State,
    file: Resource<Descriptor>,
    offset: Option<u64>,
) -> Answer<Resource<DynOutputStream>> {
    let written = match state.writable(&file)? {
        Ok(written) => written,
        Err(code) => return Ok(Err(code)),
    };
    let quota = state.quota.clone();
    let mut wasi = state.filesystem();
    let made: FsResult<_> = match offset {
        Some(offset) => wasi.write_via_stream(file, offset),
        None => wasi.append_via_stream(file),
    };
    let made = match made {
        Ok(made) => made,
        Err(error) => return Ok(Err(error.downcast()?)),
    };
    let table = state.ctx().table;
    let inner = table.delete(made)?;
    let metered: DynOutputStream = Box::new(Metered { inner, file: written, offset, quota, ended: false });
    Ok(Ok(table.push(metered)?))
}

/// What a stream's error means.
pub(super) fn error_code(
    state: &mut State,
    error: Resource<wasmtime::Error>,
) -> wasmtime::Result<Option<ErrorCode>> {
    if state.ctx().table.get(&error)?.downcast_ref::<crate::quota::UsedUp>().is_some() {
        return Ok(Some(ErrorCode::Quota));
    }
    state.filesystem().filesystem_error_code(error)
}

fn booked(quota: &Quota, bytes: u64) -> Result<(), ErrorCode> {
    quota.book(bytes).map_err(|used_up| {
        tracing::debug!("{used_up}");
        ErrorCode::Quota
    })
}

impl State {
    /// The file behind a descriptor, if it may be written.
    fn writable(&mut self, file: &Resource<Descriptor>) -> Answer<Arc<OpenFile>> {
        Ok(match self.ctx().table.get(file)? {
            Descriptor::Dir(_) => Err(ErrorCode::BadDescriptor),
            Descriptor::File(File { perms: FsPerms::ReadOnly, .. }) => Err(ErrorCode::NotPermitted),
            Descriptor::File(file) if !file.open_mode.contains(OpenMode::WRITE) => {
                Err(ErrorCode::BadDescriptor)
            }
            Descriptor::File(file) => Ok(file.file.clone()),
        })
    }
}

/// A file's output stream that books what goes through it. Splicing and writing zeroes go through `write` as well.
struct Metered {
    inner: DynOutputStream,
    file: Arc<OpenFile>,
    /// Where the next bytes go; `None`: at the end.
    offset: Option<u64>,
    quota: Arc<Quota>,
    ended: bool,
}

impl Metered {
    fn book(&mut self, bytes: u64) -> StreamResult<()> {
        if self.ended {
            return Err(StreamError::Closed);
        }
        let cost = match self.offset {
            Some(offset) => cost(self.size()?, offset, bytes),
            None => bytes,
        };
        if let Err(used_up) = self.quota.book(cost) {
            self.ended = true;
            return Err(StreamError::LastOperationFailed(wasmtime::Error::new(used_up)));
        }
        self.offset = self.offset.map(|offset| offset.saturating_add(bytes));
        Ok(())
    }

    fn size(&self) -> StreamResult<u64> {
        let found = self.file.metadata();
        Ok(found.map_err(|error| StreamError::LastOperationFailed(error.into()))?.len())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Metered {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[wasmtime_wasi::async_trait]
impl OutputStream for Metered {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.book(bytes.len() as u64)?;
        self.inner.write(bytes)
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        // What is still on its way decides how long the file is.
        self.inner.ready().await;
        self.book(bytes.len() as u64)?;
        self.inner.blocking_write_and_flush(bytes).await
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.inner.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        if self.ended {
            return Err(StreamError::Closed);
        }
        self.inner.check_write()
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}
