//! Reading the lines of a file, some at a time and on several threads.
//!
//! The file is cut into stretches of one size. A line belongs to the stretch that it begins in, so that each stretch can
//! be read without knowing the others, and the lines come out in their order all the same. Never more of the file is in
//! memory than a stretch and its last line for each thread.

use crate::disk::{Disk, read_exactly};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

/// Bytes of a stretch: some hundred lines, so that handing them over costs nothing beside reading them, and little enough
/// to stay in a processor's cache.
pub(crate) const STRETCH_BYTES: u64 = 1 << 18;

/// Most threads that read. More of them wait for memory and not for each other.
const MAX_THREADS: usize = 8;

/// One line and what was made of it.
#[derive(Debug)]
pub(crate) struct Line<T> {
    /// With its end.
    pub(crate) n_bytes: usize,
    /// `None` for a blank line.
    pub(crate) read: Option<T>,
    /// The bytes of a line without an end, which only the last one can be.
    pub(crate) unended: Option<Vec<u8>>,
}

/// Calls `take` with every line of `range` in its order, after `read` was called with its bytes, in any order.
///
/// `range` begins where a line begins. What was added to the file since its end was looked up is not read.
///
/// # Errors
/// When the file cannot be read, or became shorter than `range`.
pub(crate) fn each_line<T: Send>(
    disk: &dyn Disk,
    range: Range<u64>,
    stretch_bytes: u64,
    read: impl Fn(&[u8]) -> T + Sync,
    mut take: impl FnMut(Line<T>),
) -> io::Result<()> {
    let n_stretches = (range.end - range.start).div_ceil(stretch_bytes);
    let stretch = |n: u64, bytes: &mut Vec<u8>| {
        let from = range.start + n * stretch_bytes;
        lines_of(disk, &range, from..(from + stretch_bytes).min(range.end), bytes, &read)
    };
    let wanted = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let n_threads = wanted.min(usize::try_from(n_stretches).unwrap_or(wanted));
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let mut n_started = 0;
        // One thread is no quicker than this one.
        while n_threads > 1 && n_started < n_threads {
            let (sender, next, stretch) = (sender.clone(), &next, &stretch);
            let work = move || {
                let mut bytes = Vec::new();
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= n_stretches || sender.send((n, stretch(n, &mut bytes))).is_err() {
                        break;
                    }
                }
            };
            // With fewer threads it only takes longer.
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, work) {
                tracing::debug!(%error, "a thread could not be started");
                break;
            }
            n_started += 1;
        }
        drop(sender);
        if n_started == 0 {
            let mut bytes = Vec::new();
            return (0..n_stretches).try_for_each(|n| {
                stretch(n, &mut bytes)?.into_iter().for_each(&mut take);
                Ok(())
            });
        }
        let mut early = BTreeMap::new();
        let mut due = 0;
        for (n, lines) in receiver {
            early.insert(n, lines?);
            while let Some(lines) = early.remove(&due) {
                lines.into_iter().for_each(&mut take);
                due += 1;
            }
        }
        Ok(())
    })
}

/// The lines that begin in `stretch`. `bytes` is room to read into, whatever is in it.
fn lines_of<T>(
    disk: &dyn Disk,
    whole: &Range<u64>,
    stretch: Range<u64>,
    bytes: &mut Vec<u8>,
    read: &impl Fn(&[u8]) -> T,
) -> io::Result<Vec<Line<T>>> {
    // The byte before says whether a line begins with the stretch.
    let begin = if stretch.start == whole.start { stretch.start } else { stretch.start - 1 };
    bytes.clear();
    make_room(2 * (stretch.end - stretch.start));
    read_more(disk, bytes, begin, stretch.end)?;
    let mut at = 0;
    if begin < stretch.start {
        match memchr::memchr(b'\n', bytes) {
            Some(end) => at = end + 1,
            None => return Ok(Vec::new()),
        }
    }
    let mut lines = Vec::new();
    let mut searched = at;
    while begin + (at as u64) < stretch.end {
        let found = bytes.get(searched..).and_then(|rest| memchr::memchr(b'\n', rest));
        let Some(end) = found.map(|end| searched + end + 1) else {
            searched = bytes.len();
            let known = begin + searched as u64;
            if known < whole.end {
                // As much again as there is, so that a long line is not searched many times.
                read_more(disk, bytes, begin, (known + searched as u64).min(whole.end))?;
                continue;
            }
            let line = bytes.get(at..).unwrap_or_default();
            lines.push(Line { n_bytes: line.len(), read: Some(read(line)), unended: Some(line.to_vec()) });
            break;
        };
        let line = bytes.get(at..end).unwrap_or_default();
        let blank = line.trim_ascii().is_empty();
        lines.push(Line { n_bytes: line.len(), read: (!blank).then(|| read(line)), unended: None });
        (at, searched) = (end, end);
    }
    Ok(lines)
}

/// Lets the allocator take `n_bytes` from the system at once. What is read of a stretch stays, in many small pieces, and
/// glibc extends the memory of any but the first thread by a page or two at a time: a system call for each of them, a fifth
/// of the time that a long session takes to open.
fn make_room(n_bytes: u64) {
    let n_bytes = usize::try_from(n_bytes).unwrap_or_default();
    drop(std::hint::black_box(Vec::<u8>::with_capacity(n_bytes)));
}

/// Reads on up to the byte `end` of the file; `bytes` begins at `begin`.
fn read_more(disk: &dyn Disk, bytes: &mut Vec<u8>, begin: u64, end: u64) -> io::Result<()> {
    let known = bytes.len();
    let wanted =
        usize::try_from(end - begin).map_err(|error| io::Error::new(io::ErrorKind::FileTooLarge, error))?;
    bytes.resize(wanted, 0);
    read_exactly(disk, bytes.get_mut(known..).unwrap_or_default(), begin + known as u64)
}

/// The bytes of the first line, with its end where it has one.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn first_line(disk: &dyn Disk, end: u64) -> io::Result<Vec<u8>> {
    /// More than a header has.
    const USUAL_BYTES: u64 = 1 << 12;
    let mut bytes = Vec::new();
    let mut known = USUAL_BYTES.min(end);
    loop {
        let searched = bytes.len();
        read_more(disk, &mut bytes, 0, known)?;
        if let Some(found) = memchr::memchr(b'\n', bytes.get(searched..).unwrap_or_default()) {
            bytes.truncate(searched + found + 1);
            return Ok(bytes);
        }
        if known == end {
            return Ok(bytes);
        }
        known = known.saturating_mul(2).min(end);
    }
}

#[cfg(test)]
#[path = "stretch_tests.rs"]
mod tests;
