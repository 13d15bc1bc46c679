//! Goes through a directory tree, from one open directory to the next.
//!
//! No path is ever looked up: each directory and file is opened by its name in the directory that is already open, and
//! a link is refused there. So a walk cannot leave the tree it began in, not even when somebody swaps a directory for a
//! link meanwhile. Names come sorted, so that the same tree gives the same answer.

use crate::workspace::ignored::{Layer, REPOSITORY, is_ignored};
use crate::workspace::tree::{Choice, EntryKind, Visitor, WalkEntry, Walked};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

/// Directories within each other that a walk goes down. Every level holds an open directory; real trees have some
/// thirty.
const MAX_DEPTH: usize = 128;

/// An open directory.
pub(super) trait Folder: Sized {
    /// The names in it, sorted, without `.` and `..`.
    fn names(&self, is_cancelled: &dyn Fn() -> bool) -> io::Result<Names>;

    /// Opens a directory in it. A link is refused.
    fn folder(&self, name: &OsStr) -> io::Result<Self>;

    /// Opens a regular file in it. A link is refused.
    fn file(&self, name: &OsStr) -> io::Result<Box<dyn Read>>;
}

/// The names in a directory.
pub(super) struct Names {
    pub(super) entries: Vec<(OsString, EntryKind)>,
    /// False when there are more than are looked at.
    pub(super) is_whole: bool,
}

struct Level<F> {
    folder: F,
    left: IntoIter<(OsString, EntryKind)>,
}

/// Walks `start`, whose absolute path is `absolute` and above which `layers` hold.
pub(super) fn walk<F: Folder>(
    start: F,
    mut absolute: PathBuf,
    mut layers: Vec<Layer>,
    visitor: &dyn Visitor,
    is_cancelled: &dyn Fn() -> bool,
) -> io::Result<Walked> {
    let mut walked = Walked::default();
    let names = start.names(is_cancelled)?;
    walked.n_cut += usize::from(!names.is_whole);
    layers.push(Layer::of(&start, &absolute));
    let mut relative = PathBuf::new();
    let mut levels = vec![Level { folder: start, left: names.entries.into_iter() }];
    loop {
        let depth = levels.len();
        let Some(level) = levels.last_mut() else { break };
        if is_cancelled() {
            break;
        }
        let Some((name, kind)) = level.left.next() else {
            levels.pop();
            layers.pop();
            relative.pop();
            absolute.pop();
            continue;
        };
        let is_directory = kind == EntryKind::Directory;
        relative.push(&name);
        absolute.push(&name);
        let goes_down = name != REPOSITORY
            && match visitor.choose(&relative, is_directory) {
                Choice::Take => true,
                Choice::Leave => false,
                Choice::ByRules => !is_ignored(&layers, &absolute, is_directory),
            };
        if goes_down {
            let entry = Met { folder: &level.folder, name: &name, path: &relative, kind };
            if visitor.visit(&entry).is_break() {
                break;
            }
            if is_directory {
                match open(&level.folder, &name, depth, is_cancelled) {
                    Opened::Level { level, is_whole } => {
                        walked.n_cut += usize::from(!is_whole);
                        layers.push(Layer::of(&level.folder, &absolute));
                        levels.push(level);
                        continue;
                    }
                    Opened::TooDeep => walked.n_cut += 1,
                    Opened::Unreadable => walked.n_unreadable += 1,
                }
            }
        }
        relative.pop();
        absolute.pop();
    }
    Ok(walked)
}

enum Opened<F> {
    Level { level: Level<F>, is_whole: bool },
    TooDeep,
    Unreadable,
}

fn open<F: Folder>(parent: &F, name: &OsStr, depth: usize, is_cancelled: &dyn Fn() -> bool) -> Opened<F> {
    if depth >= MAX_DEPTH {
        return Opened::TooDeep;
    }
    let opened = parent.folder(name).and_then(|folder| Ok((folder.names(is_cancelled)?, folder)));
    match opened {
        Ok((names, folder)) => Opened::Level {
            level: Level { folder, left: names.entries.into_iter() },
            is_whole: names.is_whole,
        },
        // What vanished meanwhile is counted too; telling it apart would help nobody.
        Err(_) => Opened::Unreadable,
    }
}

/// The one entry of a walk that begins at the file `name` in `folder`.
pub(super) fn visit_file<F: Folder>(folder: &F, name: &OsStr, visitor: &dyn Visitor) -> Walked {
    let entry = Met { folder, name, path: Path::new(name), kind: EntryKind::File };
    // There is nothing left to go on with or to stop.
    let _ended = visitor.visit(&entry);
    Walked { began_at_file: true, ..Walked::default() }
}

struct Met<'a, F> {
    folder: &'a F,
    name: &'a OsStr,
    path: &'a Path,
    kind: EntryKind,
}

impl<F: Folder> WalkEntry for Met<'_, F> {
    fn path(&self) -> &Path {
        self.path
    }

    fn kind(&self) -> EntryKind {
        self.kind
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        self.folder.file(self.name).map(|file| file as Box<dyn Read + '_>)
    }
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
