//! Reading a session file as it was left, whatever happened to it.
//!
//! The file is taken as bytes, line by line: a tear may lie inside a character. Nothing is changed here; what a finding
//! leads to is decided by who opens the file.

use crate::disk::Disk;
use crate::entry::{Place, StoredEntry, read_entry};
use crate::error::LineError;
use crate::header::{Header, VERSION};
use crate::legacy::Upgrade;
use crate::stretch::{Line, STRETCH_BYTES, each_line, first_line};
use crate::tree::Tree;
use capstan_ports::entry::{Entry, EntryKind, MessageBody, MessageEntry};
use std::io;
use std::sync::Arc;

/// What was found in a file.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) tree: Tree,
    /// Bytes up to the end of the last complete line.
    pub(crate) good_len: u64,
    pub(crate) tail: Tail,
    /// The first line that is no entry.
    pub(crate) damage: Option<Damage>,
    /// Messages of roles or with content that this version does not know.
    pub(crate) n_opaque: usize,
}

/// What follows the last line break.
#[derive(Debug, PartialEq)]
pub(crate) enum Tail {
    Empty,
    /// A whole line (it is part of the tree) of this many bytes; only its end is missing.
    Whole(u64),
    /// The beginning of a line whose writing was interrupted.
    Torn(Vec<u8>),
}

/// A complete line that is no entry.
#[derive(Debug)]
pub(crate) struct Damage {
    /// Counts from 1.
    pub(crate) line: usize,
    pub(crate) error: LineError,
}

/// Why there is no session in a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScanError {
    #[error("reading failed: {0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Header(#[source] LineError),
}

/// Reads the whole file, as long as it is now. Lines of older formats are brought to the current one in memory.
pub(crate) fn scan(disk: &Arc<dyn Disk>) -> Result<Scan, ScanError> {
    scan_in_stretches(disk, STRETCH_BYTES)
}

fn scan_in_stretches(disk: &Arc<dyn Disk>, stretch_bytes: u64) -> Result<Scan, ScanError> {
    let len = disk.n_bytes()?;
    let first = first_line(disk.as_ref(), len)?;
    let header = Header::parse(&first).map_err(ScanError::Header)?;
    let version = header.version;
    let mut joined = Joined {
        scan: Scan { tree: Tree::new(header), good_len: 0, tail: Tail::Empty, damage: None, n_opaque: 0 },
        newer: version > VERSION,
        number: 1,
        stand_in: None,
    };
    if !first.ends_with(b"\n") {
        joined.scan.tail = Tail::Whole(len);
        return Ok(joined.scan);
    }
    joined.scan.good_len = first.len() as u64;
    let lines = joined.scan.good_len..len;
    if version < VERSION {
        let mut upgrade = Upgrade::from(version);
        each_line(disk.as_ref(), lines, stretch_bytes, Upgrade::read, |line| {
            joined.add(line, |read, _, _| upgrade.take(read?));
        })?;
    } else {
        each_line(disk.as_ref(), lines, stretch_bytes, read_entry, |line| {
            joined.add(line, |read, offset, n_bytes| {
                Ok(StoredEntry::read_at(read?, Place { disk: Arc::clone(disk), offset, n_bytes }))
            });
        })?;
    }
    Ok(joined.scan)
}

/// The lines so far, in their order.
struct Joined {
    scan: Scan,
    newer: bool,
    /// Of the last line, counted from 1.
    number: usize,
    /// Where the children of a damaged line are hung, so that the conversation before it stays visible.
    stand_in: Option<usize>,
}

impl Joined {
    fn add<T>(&mut self, line: Line<T>, entry: impl FnOnce(T, u64, usize) -> Result<StoredEntry, LineError>) {
        let Line { n_bytes, read, unended } = line;
        let scan = &mut self.scan;
        let offset = scan.good_len;
        self.number += 1;
        // Blank lines mean nothing, and pi skips them too. A blank tail is still a tail.
        let Some(read) = read else {
            scan.good_len += n_bytes as u64;
            return;
        };
        let text_bytes = n_bytes - usize::from(unended.is_none());
        let added = entry(read, offset, text_bytes).and_then(|entry| {
            let opaque = is_opaque(entry.entry());
            scan.tree.push_after_gap(entry, self.stand_in)?;
            scan.n_opaque += usize::from(opaque);
            Ok(())
        });
        match (added, unended) {
            (Ok(()), None) => scan.good_len += n_bytes as u64,
            (Ok(()), Some(_)) => scan.tail = Tail::Whole(n_bytes as u64),
            (Err(_), Some(bytes)) => scan.tail = Tail::Torn(bytes),
            (Err(error), None) => {
                scan.good_len += n_bytes as u64;
                self.stand_in = scan.tree.leaf_position();
                // A newer format may have lines of another shape; the version alone decides what is done with it.
                if !self.newer {
                    scan.damage.get_or_insert(Damage { line: self.number, error });
                }
            }
        }
    }
}

fn is_opaque(entry: &Entry) -> bool {
    matches!(entry.kind, EntryKind::Message(MessageEntry { message: MessageBody::Other(_) }))
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
