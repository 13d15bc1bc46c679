//! Which session to continue.

use crate::error::io_failed;
use crate::file::SessionFile;
use crate::header::{Header, folder_name};
use capstan_ports::SessionError;
use std::cmp::Reverse;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Longest first line that is read while searching. A header has a few hundred bytes; a file beyond the limit is
/// reported as skipped.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// The outcome of a search.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The file, if there is one.
    pub found: Option<PathBuf>,
    /// Files that might have been the answer and could not be read.
    pub skipped: Vec<Skipped>,
}

/// A file that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Which file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// The session in `cwd` that was written last; of two with the same time the one that began later.
///
/// Only as many files are looked into as it takes. Sessions of another directory that shares the folder are passed over
/// in silence; files that are no sessions are reported, because the user may be looking for just that one.
pub fn latest_in(root: &Path, cwd: &Path) -> Search {
    let folder = root.join(folder_name(cwd));
    let mut search = Search::default();
    let mut files = match session_files(&folder) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return search,
        Err(error) => {
            search.skipped.push(Skipped { path: folder, reason: error.to_string() });
            return search;
        }
    };
    files.sort_by_key(|(path, modified)| Reverse((*modified, path.clone())));
    let cwd = cwd.to_string_lossy();
    for (path, _) in files {
        match read_header(&path) {
            Ok(header) if header.cwd == cwd => {
                search.found = Some(path);
                break;
            }
            Ok(_) => {}
            Err(reason) => search.skipped.push(Skipped { path, reason }),
        }
    }
    search
}

/// The file of the session with this id, or of the only one whose id begins like this, in any folder under `root`.
///
/// # Errors
/// [`SessionError::NotFound`] when there is none or more than one, [`SessionError::Io`] when `root` cannot be listed.
pub fn path_by_id(root: &Path, id: &str) -> Result<PathBuf, SessionError> {
    let not_found = |hint: String| SessionError::NotFound { name: id.to_owned(), hint };
    if id.is_empty() {
        return Err(not_found("the id is empty".into()));
    }
    let folders = folders(root)?;
    if folders.is_empty() {
        return Err(not_found(format!("there are no sessions in {}", root.display())));
    }
    let mut matches = Vec::new();
    for folder in folders {
        let files = session_files(&folder).map_err(|error| io_failed(&folder, "list sessions", error))?;
        for (path, _) in files {
            match id_in_name(&path) {
                Some(whole) if whole == id => return Ok(path),
                Some(whole) if whole.starts_with(id) => matches.push(path),
                Some(_) | None => {}
            }
        }
    }
    matches.sort();
    match matches.as_slice() {
        [] => Err(not_found(format!("no file under {} has this id in its name", root.display()))),
        [path] => Ok(path.clone()),
        [first, second, ..] => Err(not_found(format!(
            "{} sessions begin like this, among them {} and {}; give more of the id",
            matches.len(),
            first.display(),
            second.display()
        ))),
    }
}

/// Continues the session that [`path_by_id`] finds.
///
/// # Errors
/// Those of [`path_by_id`] and [`SessionFile::open`].
pub fn open_by_id(root: &Path, id: &str) -> Result<SessionFile, SessionError> {
    SessionFile::open(&path_by_id(root, id)?)
}

/// The first line of a session's file. Nothing else of it is read, and it is not locked.
///
/// # Errors
/// [`SessionError::NotFound`] when there is no such file, [`SessionError::Corrupt`] when it does not begin as a session does.
pub fn header_of(path: &Path) -> Result<Header, SessionError> {
    if !path.exists() {
        let hint = "there is no such file".to_owned();
        return Err(SessionError::NotFound { name: path.display().to_string(), hint });
    }
    read_header(path).map_err(|reason| SessionError::Corrupt { path: path.to_owned(), line: 1, reason })
}

/// The folders of all working directories. None when `root` is not there.
pub(crate) fn folders(root: &Path) -> Result<Vec<PathBuf>, SessionError> {
    let failed = |error| io_failed(root, "list sessions", error);
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    Ok(folders)
}

/// The session files of a folder and when each was last written.
pub(crate) fn session_files(folder: &Path) -> io::Result<Vec<(PathBuf, SystemTime)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        // A file may be removed while the folder is being listed, which only means that it is not there.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_file() {
            files.push((path, metadata.modified()?));
        }
    }
    Ok(files)
}

/// `<time>_<id>.jsonl` → `<id>`.
pub(crate) fn id_in_name(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.split_once('_').map(|(_, id)| id)
}

/// The first line of a file, or why it has none.
pub(crate) fn read_header(path: &Path) -> Result<Header, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut line = Vec::new();
    BufReader::new(file.take(MAX_HEADER_BYTES))
        .read_until(b'\n', &mut line)
        .map_err(|error| error.to_string())?;
    if line.is_empty() {
        return Err("the file is empty".into());
    }
    Header::parse(&line).map_err(|error| error.to_string())
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
