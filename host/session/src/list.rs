//! Which sessions there are.
//!
//! A list is for choosing from, and must be there at once however many sessions were kept. So entries are not read as
//! such: the bytes are taken line by line, and only lines that are asked about are parsed. What is wrong inside an entry
//! is found when the session is opened.

use crate::error::{LineError, io_failed};
use crate::find::{folders, id_in_name, session_files};
use crate::header::{Header, VERSION, folder_name};
use crate::migrate::migrated_from;
use capstan_ports::entry::TextOrPieces;
use capstan_ports::message::text_of;
use capstan_ports::{SessionError, SessionId};
use serde::Deserialize;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Of a longer file the middle is not looked at, and [`Listed::is_whole`] says so. Reading this much for the first time takes
/// as long as reading hundreds of ordinary sessions; without a limit one of gigabytes would hold up the list of all.
const MAX_READ_BYTES: u64 = 16 << 20;

/// Characters of a first message that are kept. Nobody reads a longer one in a list, and people paste whole files.
const MAX_FIRST_MESSAGE_CHARS: usize = 400;

/// What is known of a session without opening it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The file.
    pub path: PathBuf,
    /// Which session; of a file without a readable first line, what its name says.
    pub id: SessionId,
    /// The directory that it works in; empty when the first line is unreadable.
    pub cwd: String,
    /// When it began, as in [`Header::timestamp`].
    pub began: String,
    /// The file of the session that it was split off from.
    pub parent_session: Option<String>,
    /// What the user calls it.
    pub name: Option<String>,
    /// How the first message of the user begins.
    pub first_message: Option<String>,
    /// Messages on all branches; at least this many where `is_whole` is false.
    pub n_messages: usize,
    /// False for a file so long that its middle was not looked at. A name that was given there is then not known.
    pub is_whole: bool,
    /// When it was last written.
    pub modified: SystemTime,
    /// Whether it can be continued, as far as that shows without opening it.
    pub condition: Condition,
}

/// Whether a session can be continued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Nothing speaks against it.
    Good,
    /// It has another format version than the one that is written here.
    OtherVersion(u64),
    /// A line is visibly no entry; the session opens read-only.
    Damaged {
        /// Counts from 1.
        line: usize,
    },
    /// There is no session in the file, or it cannot be read.
    Unreadable {
        /// Why.
        reason: String,
    },
}

/// The sessions of one directory, or of all, the one that was written last first (001-159). A file that is damaged or no
/// session is listed as such; a file of an older format that goes on in another one is not, that one stands for it.
///
/// # Errors
/// When a folder cannot be listed. No folder at all means that there are no sessions.
pub fn list(root: &Path, cwd: Option<&Path>) -> Result<Vec<Listed>, SessionError> {
    let in_folders = match cwd {
        Some(cwd) => vec![root.join(folder_name(cwd))],
        None => folders(root)?,
    };
    let cwd = cwd.map(Path::to_string_lossy);
    let mut buffer = Vec::new();
    let mut listed = Vec::new();
    // Files of older formats that go on in another one. As long as they have not grown since, opening them opens that.
    let mut continued = HashSet::new();
    for folder in in_folders {
        let files = match session_files(&folder) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(io_failed(&folder, "list sessions", error)),
        };
        for (path, modified) in files {
            let session = look_into(path, modified, &mut buffer, &mut continued);
            let is_elsewhere = cwd.as_ref().is_some_and(|cwd| session.cwd != *cwd);
            // Two directories can share a folder. What cannot be read may belong to either.
            if !is_elsewhere || matches!(session.condition, Condition::Unreadable { .. }) {
                listed.push(session);
            }
        }
    }
    listed.retain(|session| {
        let is_old = matches!(session.condition, Condition::OtherVersion(version) if version < VERSION);
        let as_continued = || -> io::Result<(PathBuf, u64)> {
            let path = session.path.canonicalize()?;
            let n_bytes = path.metadata()?.len();
            Ok((path, n_bytes))
        };
        !(is_old && as_continued().is_ok_and(|file| continued.contains(&file)))
    });
    listed.sort_by(|a, b| {
        (Reverse(a.modified), Reverse(&a.path)).cmp(&(Reverse(b.modified), Reverse(&b.path)))
    });
    Ok(listed)
}

fn look_into(
    path: PathBuf,
    modified: SystemTime,
    buffer: &mut Vec<u8>,
    continued: &mut HashSet<(PathBuf, u64)>,
) -> Listed {
    let id = SessionId::new(id_in_name(&path).unwrap_or_default());
    let mut listed = Listed {
        path,
        id,
        cwd: String::new(),
        began: String::new(),
        parent_session: None,
        name: None,
        first_message: None,
        n_messages: 0,
        is_whole: true,
        modified,
        condition: Condition::Good,
    };
    if let Err(reason) = fill(&mut listed, buffer, continued) {
        listed.condition = Condition::Unreadable { reason };
    }
    listed
}

fn fill(
    listed: &mut Listed,
    buffer: &mut Vec<u8>,
    continued: &mut HashSet<(PathBuf, u64)>,
) -> Result<(), String> {
    let seam = read_ends(&listed.path, buffer).map_err(|error| error.to_string())?;
    listed.is_whole = seam.is_none();
    let mut lines = Lines { text: buffer, at: 0 };
    let header = match lines.next() {
        Some(line) => Header::parse(line.text).map_err(|error| error.to_string())?,
        None => return Err("the file is empty".into()),
    };
    if header.version != VERSION {
        listed.condition = Condition::OtherVersion(header.version);
    }
    continued.extend(migrated_from(&header));
    listed.id = header.id;
    listed.cwd = header.cwd;
    listed.began = header.timestamp;
    listed.parent_session = header.parent_session;
    for (number, line) in (2..).zip(lines) {
        let crosses_seam = seam.is_some_and(|seam| line.starts_at <= seam && seam < line.ends_at);
        if crosses_seam || line.text.trim_ascii().is_empty() {
            continue;
        }
        match about(&line) {
            Ok(kind) => note(listed, &kind, line.text),
            // A last line without its end was being written.
            Err(_) if !line.is_ended => {}
            // Lines after the part that was not looked at have no number.
            Err(_) if listed.condition == Condition::Good && listed.is_whole => {
                listed.condition = Condition::Damaged { line: number };
            }
            Err(_) => {}
        }
    }
    Ok(())
}

/// The type of an entry. Programs write it first, and then nothing else of the line needs to be looked at but its end. A
/// last line without a line end may be half of one, and is parsed.
fn about<'t>(line: &Line<'t>) -> Result<Cow<'t, str>, LineError> {
    const BEGINNING: &[u8] = b"{\"type\":\"";
    #[derive(Deserialize)]
    struct Typed<'l> {
        #[serde(rename = "type", borrow)]
        kind: Cow<'l, str>,
    }
    if let Some(rest) = line.text.strip_prefix(BEGINNING)
        && line.is_ended
        && line.text.trim_ascii_end().ends_with(b"}")
        && let Some(end) = rest.iter().position(|byte| !byte.is_ascii_lowercase() && *byte != b'_')
        && rest[end] == b'"'
    {
        return Ok(String::from_utf8_lossy(&rest[..end]));
    }
    serde_json::from_slice(line.text).map(|typed: Typed<'_>| typed.kind).map_err(LineError::Json)
}

fn note(listed: &mut Listed, kind: &str, line: &[u8]) {
    #[derive(Deserialize)]
    struct Named {
        name: Option<String>,
    }
    match kind {
        "message" => {
            listed.n_messages += 1;
            if listed.first_message.is_none() {
                listed.first_message = said_by_user(line);
            }
        }
        // What does not fit is an unknown entry for everybody who opens the session, and gives no name.
        "session_info" => {
            if let Ok(info) = serde_json::from_slice::<Named>(line) {
                listed.name = info.name;
            }
        }
        _ => {}
    }
}

/// How the line's message begins, if the user said it.
fn said_by_user(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Entry {
        message: Said,
    }
    #[derive(Deserialize)]
    #[serde(tag = "role", rename_all = "camelCase")]
    enum Said {
        User {
            content: TextOrPieces,
        },
        #[serde(other)]
        Another,
    }
    // Spares the parsing of all messages of a session in which nobody said anything.
    memchr::memmem::find(line, b"\"user\"")?;
    // The reason is of no use: a message that is not understood is not shown.
    match serde_json::from_slice::<Entry>(line).ok()?.message {
        Said::User { content } => {
            let text = text_of(&content.pieces());
            Some(text.trim().chars().take(MAX_FIRST_MESSAGE_CHARS).collect())
        }
        Said::Another => None,
    }
}

/// Reads the file, or both ends of a long one and then says where they meet.
fn read_ends(path: &Path, into: &mut Vec<u8>) -> io::Result<Option<usize>> {
    into.clear();
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    into.reserve(usize::try_from(len.min(MAX_READ_BYTES)).unwrap_or_default());
    if len <= MAX_READ_BYTES {
        file.take(MAX_READ_BYTES).read_to_end(into)?;
        return Ok(None);
    }
    let half = MAX_READ_BYTES / 2;
    (&mut file).take(half).read_to_end(into)?;
    let seam = into.len();
    file.seek(SeekFrom::Start(len - half))?;
    file.take(half).read_to_end(into)?;
    Ok(Some(seam))
}

struct Lines<'t> {
    text: &'t [u8],
    at: usize,
}

struct Line<'t> {
    text: &'t [u8],
    starts_at: usize,
    /// Its line end included.
    ends_at: usize,
    is_ended: bool,
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        let starts_at = self.at;
        let rest = self.text.get(starts_at..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest);
        let len = end.unwrap_or(rest.len());
        self.at = starts_at + len + usize::from(end.is_some());
        Some(Line { text: &rest[..len], starts_at, ends_at: self.at, is_ended: end.is_some() })
    }
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
