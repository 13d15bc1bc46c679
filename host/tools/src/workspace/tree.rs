//! What a workspace tells of its directories: the words of listing and walking.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

/// Entries of one directory that are looked at. A directory with more is listed up to here and said not to be whole; it
/// bounds what one call holds in memory at some tens of megabytes.
pub const MAX_FOLDER_ENTRIES: usize = 200_000;

/// What a name in a directory stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A link, wherever it leads. Walking never follows one.
    Link,
    /// A pipe, socket or device.
    Special,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedEntry {
    /// Bytes that are no UTF-8 are shown as replacement characters.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// True for a directory, and for a link that leads to one inside the workspace.
    pub is_directory: bool,
}

/// A directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// In no particular order.
    pub entries: Vec<ListedEntry>,
    /// False when there were more than [`MAX_FOLDER_ENTRIES`].
    pub is_whole: bool,
}

/// What a visitor says of an entry before the rules about ignored files are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Take it even if the rules ignore it.
    Take,
    /// Pass it over, with everything beneath it.
    Leave,
    /// As the rules have it.
    ByRules,
}

/// Something met on a walk.
pub trait WalkEntry {
    /// Relative to where the walk began. Where it began at a file, the file's name.
    fn path(&self) -> &Path;

    /// What it is.
    fn kind(&self) -> EntryKind;

    /// Opens a regular file. Waits for nothing but the disk.
    ///
    /// # Errors
    /// When it is no regular file any more, or the system refuses.
    fn open(&self) -> io::Result<Box<dyn Read + '_>>;
}

/// Hears of what a walk meets, on a thread that may block.
pub trait Visitor: Send + Sync {
    /// Asked before the rules are.
    fn choose(&self, path: &Path, is_directory: bool) -> Choice;

    /// Called for every entry that is not passed over, a directory before what is in it. `Break` ends the walk.
    fn visit(&self, entry: &dyn WalkEntry) -> ControlFlow<()>;
}

/// How a walk went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Walked {
    /// The walk began at a file, and that was all of it.
    pub began_at_file: bool,
    /// Directories that could not be read, for example for lack of permission.
    pub n_unreadable: usize,
    /// Directories that were too large or too deep and were not looked at whole.
    pub n_cut: usize,
}
