//! Reading a session file as it was left, whatever happened to it.
//!
//! The file is taken as bytes, line by line: a tear may lie inside a character. Nothing is changed here; what a finding
//! leads to is decided by who opens the file.

use crate::entry::StoredEntry;
use crate::error::LineError;
use crate::header::{Header, VERSION};
use crate::tree::Tree;
use capstan_ports::entry::{Entry, EntryKind, MessageBody, MessageEntry};
use std::io::{self, BufRead};

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

/// Reads the whole file.
pub(crate) fn scan(mut reader: impl BufRead) -> Result<Scan, ScanError> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line)?;
    let header = Header::parse(&line).map_err(ScanError::Header)?;
    let newer = header.version > VERSION;
    let mut scan =
        Scan { tree: Tree::new(header), good_len: 0, tail: Tail::Empty, damage: None, n_opaque: 0 };
    if !line.ends_with(b"\n") {
        scan.tail = Tail::Whole(line.len() as u64);
        return Ok(scan);
    }
    scan.good_len = line.len() as u64;

    // Where the children of a damaged line are hung, so that the conversation before it stays visible.
    let mut stand_in = None;
    for number in 2usize.. {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let whole = line.ends_with(b"\n");
        // Blank lines mean nothing, and pi skips them too. A blank tail is still a tail.
        if whole && line.trim_ascii().is_empty() {
            scan.good_len += line.len() as u64;
            continue;
        }
        let added = StoredEntry::parse(&line).and_then(|entry| {
            scan.n_opaque += usize::from(is_opaque(entry.entry()));
            scan.tree.push_after_gap(entry, stand_in)
        });
        match added {
            Ok(()) if whole => scan.good_len += line.len() as u64,
            Ok(()) => scan.tail = Tail::Whole(line.len() as u64),
            Err(_) if !whole => scan.tail = Tail::Torn(std::mem::take(&mut line)),
            Err(error) => {
                scan.good_len += line.len() as u64;
                stand_in = scan.tree.leaf_position();
                // A newer format may have lines of another shape; the version alone decides what is done with it.
                if !newer {
                    scan.damage.get_or_insert(Damage { line: number, error });
                }
            }
        }
    }
    Ok(scan)
}

fn is_opaque(entry: &Entry) -> bool {
    matches!(entry.kind, EntryKind::Message(MessageEntry { message: MessageBody::Other(_) }))
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
