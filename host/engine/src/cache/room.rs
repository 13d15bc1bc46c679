//! How much lies in the store of compiled code, and what is removed when it is too much.
//!
//! Everything here goes by names, sizes and times of files, never by what is in them: removing is always safe, because
//! what is missing is made again. So it may happen beside other processes that read and write the same directory; a file
//! that another one removed first is no error.

use capstan_ports::extension::Digest;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What the store may hold unless the user says otherwise: some hundred extensions, a handful of them whole interpreters.
pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

/// A hit counts as use by a write to the file's time, and a store that is read often must not be written often.
pub(crate) const TOUCH_AFTER: Duration = Duration::from_secs(3600);

/// Half-written files of a process that was ended. Writing takes milliseconds; an hour is beyond doubt.
const TEMPORARY_FOR: Duration = Duration::from_secs(3600);

/// Code of another version of this program, or of another configuration: who goes back to it within a month finds it.
const FOREIGN_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// What is kept for one extension's bytes: code, descriptor, or both.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The extension's bytes.
    pub digest: Digest,
    /// Which wasmtime and configuration it is for, as it stands in the name.
    pub(crate) compatibility: u64,
    /// Size of all its files.
    pub bytes: u64,
    /// When it was last used, to the hour.
    pub last_used: SystemTime,
    files: Vec<PathBuf>,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Entries; half-written files are not counted.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Everything in a directory of the store.
#[derive(Debug, Default)]
struct Contents {
    entries: Vec<Entry>,
    temporary: Vec<(PathBuf, SystemTime)>,
}

/// What a store holds, the most recently used first. A directory that is not there holds nothing.
///
/// # Errors
/// When the directory cannot be read.
pub fn entries(directory: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = contents(directory)?.entries;
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.last_used));
    Ok(entries)
}

/// Empties a store. Extensions are compiled again at the next start; files that are no entries stay.
///
/// # Errors
/// When the directory cannot be read or a file cannot be removed.
pub fn clear(directory: &Path) -> io::Result<Removed> {
    let contents = contents(directory)?;
    let mut removed = Removed::default();
    for entry in &contents.entries {
        remove(entry, &mut removed)?;
    }
    sweep(&contents.temporary, SystemTime::now())?;
    Ok(removed)
}

/// Removes what is stale, then the least recently used until no more than `max_bytes` are left.
pub(crate) fn make_room(
    directory: &Path,
    compatibility: u64,
    max_bytes: u64,
    now: SystemTime,
) -> io::Result<Removed> {
    let contents = contents(directory)?;
    sweep(&contents.temporary, now)?;
    let mut removed = Removed::default();
    let (stale, mut kept): (Vec<_>, Vec<_>) = contents.entries.into_iter().partition(|entry| {
        entry.compatibility != compatibility && is_older(entry.last_used, FOREIGN_FOR, now)
    });
    for entry in &stale {
        remove(entry, &mut removed)?;
    }
    kept.sort_by_key(|entry| entry.last_used);
    let mut bytes: u64 = kept.iter().map(|entry| entry.bytes).sum();
    for entry in &kept {
        if bytes <= max_bytes {
            break;
        }
        remove(entry, &mut removed)?;
        bytes -= entry.bytes;
    }
    Ok(removed)
}

/// Removes half-written files that nobody can be writing any more.
fn sweep(temporary: &[(PathBuf, SystemTime)], now: SystemTime) -> io::Result<()> {
    let stale = temporary.iter().filter(|(_, time)| is_older(*time, TEMPORARY_FOR, now));
    stale.map(|(path, _)| path).try_for_each(|path| unlink(path))
}

fn is_older(time: SystemTime, limit: Duration, now: SystemTime) -> bool {
    now.duration_since(time).is_ok_and(|age| age > limit)
}

fn contents(directory: &Path) -> io::Result<Contents> {
    let files = match fs::read_dir(directory) {
        Ok(files) => files,
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => return Ok(Contents::default()),
        Err(reason) => return Err(reason),
    };
    let mut temporary = Vec::new();
    let mut entries: BTreeMap<(String, u64), Entry> = BTreeMap::new();
    for file in files {
        let file = file?;
        let found = match file.metadata() {
            Ok(found) if found.is_file() => found,
            Ok(_) => continue,
            Err(reason) if reason.kind() == io::ErrorKind::NotFound => continue,
            Err(reason) => return Err(reason),
        };
        let (name, path, time) = (file.file_name(), file.path(), found.modified()?);
        match name.to_str().and_then(parse) {
            Some(Name::Temporary) => temporary.push((path, time)),
            Some(Name::Part(digest, compatibility)) => {
                let entry = entries.entry((digest.to_string(), compatibility)).or_insert_with(|| Entry {
                    digest,
                    compatibility,
                    bytes: 0,
                    last_used: time,
                    files: Vec::new(),
                });
                entry.bytes += found.len();
                entry.last_used = entry.last_used.max(time);
                entry.files.push(path);
            }
            // Not ours: neither counted nor removed.
            None => {}
        }
    }
    Ok(Contents { entries: entries.into_values().collect(), temporary })
}

enum Name {
    Part(Digest, u64),
    Temporary,
}

/// `<digest>-<compatibility>.cwasm`, `….json`, and `….<random>.tmp` for what is being written.
fn parse(name: &str) -> Option<Name> {
    let (stem, ending) = name.split_once('.')?;
    let (digest, compatibility) = stem.split_once('-')?;
    let digest = digest.parse().ok()?;
    let compatibility = u64::from_str_radix(compatibility, 16).ok()?;
    match ending {
        "cwasm" | "json" => Some(Name::Part(digest, compatibility)),
        ending if ending.ends_with(".tmp") => Some(Name::Temporary),
        _ => None,
    }
}

fn remove(entry: &Entry, removed: &mut Removed) -> io::Result<()> {
    for path in &entry.files {
        unlink(path)?;
    }
    removed.entries += 1;
    removed.bytes += entry.bytes;
    Ok(())
}

fn unlink(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(reason) if reason.kind() != io::ErrorKind::NotFound => Err(reason),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
#[path = "room_tests.rs"]
mod tests;
