//! Listing a directory, page by page: the host holds one page at a time, however long the directory is.

use super::place::{Refusal, beneath};
use crate::limits::MAX_LISTING;
use cap_std::fs::{DirEntry, FileType, FileTypeExt, ReadDir};
use std::collections::VecDeque;
use wasmtime_wasi::filesystem::Dir;
use wasmtime_wasi::p2::bindings::filesystem::types::{DescriptorType, DirectoryEntry, ErrorCode};
use wasmtime_wasi::runtime::spawn_blocking;

/// Entries that are read at a time: enough that going to another thread for them costs nothing measurable.
const PAGE: usize = 256;

type Entry = Result<DirectoryEntry, ErrorCode>;

/// A directory that is being listed.
pub(crate) struct Listing {
    /// Gone when there is nothing more, and while a page is read.
    rest: Option<ReadDir>,
    page: VecDeque<Entry>,
    /// Entries that may still be given.
    left: usize,
}

impl Listing {
    pub(super) fn begin(at: &Dir) -> Result<Self, Refusal> {
        Self::of_at_most(at, MAX_LISTING)
    }

    fn of_at_most(at: &Dir, entries: usize) -> Result<Self, Refusal> {
        Ok(Self { rest: Some(beneath(at)?.entries()?), page: VecDeque::new(), left: entries })
    }

    /// The next entry, or nothing at the end. A directory with more entries than are given ends as an error and not as if it
    /// were complete.
    pub(super) async fn next(&mut self) -> Result<Option<DirectoryEntry>, ErrorCode> {
        if self.page.is_empty()
            && let Some(mut rest) = self.rest.take()
        {
            let (page, rest) = spawn_blocking(move || {
                let page: VecDeque<_> = rest.by_ref().take(PAGE).map(|found| entry(&found?)).collect();
                (page, rest)
            })
            .await;
            self.rest = (!page.is_empty()).then_some(rest);
            self.page = page;
        }
        match self.page.pop_front() {
            None => Ok(None),
            Some(_) if self.left == 0 => {
                self.page.clear();
                self.rest = None;
                Err(ErrorCode::Overflow)
            }
            Some(next) => {
                self.left -= 1;
                next.map(Some)
            }
        }
    }
}

fn entry(found: &DirEntry) -> Entry {
    // Some file systems do not say with the name what it is.
    let kind = match found.file_type()? {
        kind if kind == FileType::unknown() => found.metadata()?.file_type(),
        kind => kind,
    };
    match found.file_name().into_string() {
        Ok(name) => Ok(DirectoryEntry { type_: descriptor_type(kind), name }),
        // WASI has no other names than text.
        Err(_bytes) => Err(ErrorCode::IllegalByteSequence),
    }
}

fn descriptor_type(kind: FileType) -> DescriptorType {
    if kind.is_dir() {
        DescriptorType::Directory
    } else if kind.is_symlink() {
        DescriptorType::SymbolicLink
    } else if kind.is_file() {
        DescriptorType::RegularFile
    } else if kind.is_block_device() {
        DescriptorType::BlockDevice
    } else if kind.is_char_device() {
        DescriptorType::CharacterDevice
    } else {
        DescriptorType::Unknown
    }
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
