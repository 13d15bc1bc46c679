//! Texts for the model that lie in files: context files, system prompts, prompt templates.
//!
//! A file comes from whoever wrote it, and its name may lead anywhere. So: only regular files count, nothing waits for a pipe, a
//! link leads only where its reader allows, sizes have an end, and what an eye would miss is written out before a model reads it.

use crate::screen;
use capstan_policy::text::is_hidden;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Most bytes of one file. Instructions for a model are a few pages; what is longer would cost its price in every request.
pub(crate) const MAX_FILE_BYTES: usize = 64 << 10;

/// Most files of one folder. Beyond them the rest is left out, and that is said.
const MAX_FILES: usize = 256;

/// Where links may lead.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Links<'a> {
    /// The user placed them.
    Anywhere,
    /// Whoever wrote the project placed them: only to `.md` files below this folder, which is canonical. A link to a key would
    /// put the key into requests.
    Below(&'a Path),
}

/// What was read of a file.
#[derive(Debug)]
pub(crate) struct Bytes {
    /// The beginning of the file.
    pub(crate) bytes: Vec<u8>,
    /// Whether the file goes on.
    pub(crate) is_cut: bool,
    /// The user that it belongs to.
    pub(crate) owner: u32,
    /// Device and inode: two paths may lead to one file.
    pub(crate) place: (u64, u64),
}

/// The first `max_bytes` of a file; `None` where there is none.
///
/// # Errors
/// With the reason, without the path, when something of this name is there and cannot be used.
pub(crate) fn bytes(path: &Path, links: Links<'_>, max_bytes: usize) -> Result<Option<Bytes>, String> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        // A link to nowhere is no file, but somebody meant something by it.
        Err(reason) if is_absence(&reason) && path.symlink_metadata().is_err() => return Ok(None),
        Err(reason) => return Err(format!("it cannot be read: {reason}")),
    };
    if let Links::Below(folder) = links {
        if !real.starts_with(folder) {
            return Err(format!(
                "it is a link that leads out of {}, and only your own files may do that",
                screen::path(folder)
            ));
        }
        if !real.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md")) {
            return Err("it is a link to something else than a .md file".to_owned());
        }
    }
    let open = || -> std::io::Result<(File, std::fs::Metadata)> {
        // Nothing that came there meanwhile is followed, and no pipe is waited for.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(&real)?;
        let about = file.metadata()?;
        Ok((file, about))
    };
    let (file, about) = open().map_err(|reason| format!("it cannot be read: {reason}"))?;
    if !about.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(|reason| format!("it cannot be read: {reason}"))?;
    let is_cut = bytes.len() > max_bytes;
    bytes.truncate(max_bytes);
    Ok(Some(Bytes { bytes, is_cut, owner: about.uid(), place: (about.dev(), about.ino()) }))
}

/// A file that counts whole or not at all; `None` where there is none.
///
/// # Errors
/// With the reason, without the path.
pub(crate) fn whole(path: &Path, links: Links<'_>, max_bytes: usize) -> Result<Option<Vec<u8>>, String> {
    match bytes(path, links, max_bytes)? {
        Some(read) if read.is_cut => Err(format!("it is larger than {}", screen::size(max_bytes as u64))),
        read => Ok(read.map(|read| read.bytes)),
    }
}

/// The `.md` files of a folder, by name without the ending, each with its bytes. What cannot be used is left out with a line
/// that names it.
pub(crate) fn folder(folder: &Path, links: Links<'_>, notices: &mut Vec<String>) -> Vec<(String, Vec<u8>)> {
    let mut say = |path: &Path, reason: &str| notices.push(left_out(path, reason));
    let mut paths = match std::fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect::<Vec<_>>(),
        Err(reason) if is_absence(&reason) => return Vec::new(),
        Err(reason) => {
            say(folder, &format!("it cannot be read: {reason}"));
            return Vec::new();
        }
    };
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    if let Some(first) = paths.get(MAX_FILES) {
        say(first, &format!("it and what follows are beyond the {MAX_FILES} files that a folder may have"));
        paths.truncate(MAX_FILES);
    }
    let mut files = Vec::new();
    for path in paths {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
            say(&path, "its name is no UTF-8 text");
            continue;
        };
        match whole(&path, links, MAX_FILE_BYTES) {
            Ok(Some(bytes)) => files.push((name.to_owned(), bytes)),
            // It went away meanwhile.
            Ok(None) => {}
            Err(reason) => say(&path, &reason),
        }
    }
    files
}

/// The line that says that a file does not count.
pub(crate) fn left_out(path: &Path, reason: &str) -> String {
    format!("{} is left out: {reason}", screen::path(path))
}

/// Bytes as a text that reads to a model as it looks to a person: without byte order mark, with plain line ends, and with
/// everything written out that an eye would miss, because instructions can hide in it.
///
/// # Errors
/// With the reason, when they are no text.
pub(crate) fn text(bytes: &[u8]) -> Result<String, String> {
    let text = std::str::from_utf8(bytes).map_err(|reason| format!("it is no UTF-8 text: {reason}"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    Ok(screen::visible(&text).into_owned())
}

/// How many characters [`text`] writes out, for those who want to tell.
pub(crate) fn n_hidden(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n");
    text.chars().filter(|c| is_hidden(*c)).count()
}

fn is_absence(reason: &std::io::Error) -> bool {
    matches!(reason.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
