//! Whole sessions by id, over session files: what a service keeps its conversations in.
//!
//! A store replaces a session as a whole; a session file only ever grows. So a save adds what is new after what it has in common with
//! the branch before it, between two private records: the first says that a save began, the second that it is whole and holds the
//! metadata. A save that a process did not live to finish lacks the second, and counts for nothing. What was replaced stays in
//! the file as a branch that was left, and `capstan session tree` shows it.

use crate::file::SessionFile;
use crate::find::path_by_id;
use crate::header::Header;
use crate::log::own_time;
use async_trait::async_trait;
use capstan_ports::entry::{Custom, Entry, EntryKind, SessionContext};
use capstan_ports::{EntryId, Message, Session, SessionError, SessionId, SessionStore};
use serde_json::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The record before the first entry of a save.
const BEGUN: &str = "capstan.store.begun";
/// The record after the last one; its data is the metadata.
const SAVED: &str = "capstan.store.saved";

/// How long a save waits for another process that holds the session.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(5);

/// The longest id. It is part of a file's name.
const MAX_ID: usize = 64;

/// Keeps each session in a file of its own below one folder (003-156).
///
/// Files of this store are ordinary session files, and those that a program wrote entry by entry can be loaded and saved. Saves
/// of one session wait for each other, in this process and between processes; the last one stands. A loaded session is what a
/// model should see: where a branch was compacted, the summary stands for what it replaced.
#[derive(Debug, Clone)]
pub struct FileStore {
    root: PathBuf,
    cwd: PathBuf,
    /// The lock of a file tells other processes, not other tasks, how long to wait.
    turn: Arc<Mutex<()>>,
}

impl FileStore {
    /// A store below `root` for sessions of programs that work in `cwd`. Nothing is made before the first save.
    pub fn new(root: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), cwd: cwd.into(), turn: Arc::default() }
    }

    fn read(&self, id: &SessionId) -> Result<Session, SessionError> {
        match self.file_of(id)? {
            Some(path) => Ok(Kept::of(&SessionFile::open_read_only(&path)?)?.session),
            None => Ok(Session::default()),
        }
    }

    fn write(&self, id: &SessionId, session: &Session, new: bool) -> Result<(), SessionError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match self.file_of(id)? {
            Some(path) => open_when_free(&path)?,
            None => {
                let mut header = Header::new(&self.cwd);
                header.id = id.clone();
                SessionFile::create_with(&self.root, header)?
            }
        };
        let kept = Kept::of(&file)?;
        if new && !kept.session.is_empty() {
            return Err(SessionError::Exists { id: id.clone() });
        }
        let (after, rest) = kept.common(&session.messages);
        file.branch_to(after.as_ref())?;
        file.append_entry(record(BEGUN, None))?;
        for message in rest {
            file.append_made_at(EntryKind::message(Arc::clone(message)), own_time(message))?;
        }
        file.append_entry(record(SAVED, Some(Value::Object(session.metadata.clone()))))?;
        file.inner.confirm()
    }

    /// The file of exactly this session.
    fn file_of(&self, id: &SessionId) -> Result<Option<PathBuf>, SessionError> {
        let text = id.as_str();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if text.is_empty() || text.len() > MAX_ID || !text.chars().all(is_plain) {
            let hint = format!("an id has 1 to {MAX_ID} of a-z, A-Z, 0-9, `-` and `_`");
            return Err(SessionError::NotFound { name: text.to_owned(), hint });
        }
        match path_by_id(&self.root, text) {
            // The beginning of another id finds that one, too.
            Ok(path) => Ok(Some(path).filter(|path| ends_with_id(path, text))),
            Err(SessionError::NotFound { .. }) => Ok(None),
            Err(SessionError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(other) => Err(other),
        }
    }
}

#[async_trait]
impl SessionStore for FileStore {
    async fn load(&self, id: &SessionId) -> Result<Session, SessionError> {
        let (store, of) = (self.clone(), id.clone());
        let outcome = tokio::task::spawn_blocking(move || store.read(&of)).await;
        match outcome {
            Ok(Ok(session)) => Ok(session),
            Ok(Err(error)) => Err(SessionError::Load {
                id: id.clone(),
                message: error.to_string(),
                source: Some(Box::new(error)),
            }),
            Err(error) => Err(SessionError::Load {
                id: id.clone(),
                message: "reading was interrupted".to_owned(),
                source: Some(Box::new(error)),
            }),
        }
    }

    async fn save(&self, id: &SessionId, session: &Session) -> Result<(), SessionError> {
        self.put(id, session, false).await
    }

    async fn create(&self, id: &SessionId, session: &Session) -> Result<(), SessionError> {
        self.put(id, session, true).await
    }
}

impl FileStore {
    async fn put(&self, id: &SessionId, session: &Session, new: bool) -> Result<(), SessionError> {
        let (store, of, session) = (self.clone(), id.clone(), session.clone());
        let outcome = tokio::task::spawn_blocking(move || store.write(&of, &session, new)).await;
        match outcome {
            Ok(Err(exists @ SessionError::Exists { .. })) => Err(exists),
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(SessionError::Save {
                id: id.clone(),
                message: error.to_string(),
                source: Some(Box::new(error)),
            }),
            Err(error) => Err(SessionError::Save {
                id: id.clone(),
                message: "writing was interrupted".to_owned(),
                source: Some(Box::new(error)),
            }),
        }
    }
}

/// The session that a file holds, and where its messages stand.
struct Kept {
    session: Session,
    /// The entry after which the next one would follow.
    leaf: Option<EntryId>,
    /// The entry that each message comes from.
    sources: Vec<EntryId>,
    /// How many of the messages a compaction made or kept; they have no entries after which one could go on.
    compacted: usize,
}

impl Kept {
    fn of(file: &SessionFile) -> Result<Self, SessionError> {
        file.look(|tree| {
            let mut branch = tree.path(None)?;
            // A save that was not finished is the end of the branch from its first record on.
            if let Some(begun) = branch.iter().rposition(|entry| is_record(entry, BEGUN))
                && !branch[begun..].iter().any(|entry| is_record(entry, SAVED))
            {
                branch.truncate(begun);
            }
            let saved = branch.iter().rev().find_map(|entry| match &entry.kind {
                EntryKind::Custom(Custom { custom_type, data: Some(Value::Object(data)) })
                    if custom_type == SAVED =>
                {
                    Some(data.clone())
                }
                _ => None,
            });
            let context = SessionContext::of_branch(&branch);
            Ok(Self {
                leaf: branch.last().map(|entry| entry.id.clone()),
                sources: context.sources,
                compacted: context.compacted,
                session: Session { messages: context.messages, metadata: saved.unwrap_or_else(Map::new) },
            })
        })
    }

    /// After which entry what is new of `messages` goes, and what that is.
    fn common<'a>(&self, messages: &'a [Arc<Message>]) -> (Option<EntryId>, &'a [Arc<Message>]) {
        let kept = &self.session.messages;
        let same = kept.iter().zip(messages).take_while(|(old, new)| old == new).count();
        if same == kept.len() {
            return (self.leaf.clone(), &messages[same..]);
        }
        match same.checked_sub(1).filter(|last| *last >= self.compacted) {
            Some(last) => (self.sources.get(last).cloned(), &messages[same..]),
            None => (None, messages),
        }
    }
}

fn record(custom_type: &str, data: Option<Value>) -> EntryKind {
    EntryKind::Custom(Custom { custom_type: custom_type.to_owned(), data })
}

fn is_record(entry: &Entry, name: &str) -> bool {
    matches!(&entry.kind, EntryKind::Custom(Custom { custom_type, .. }) if custom_type == name)
}

fn ends_with_id(path: &Path, id: &str) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    stem.is_some_and(|stem| stem.strip_suffix(id).is_some_and(|before| before.ends_with('_')))
}

/// Opens a session for writing, and waits a while for one that is being written.
fn open_when_free(path: &Path) -> Result<SessionFile, SessionError> {
    let began = Instant::now();
    loop {
        match SessionFile::open(path) {
            Err(SessionError::Locked { .. }) if began.elapsed() < PATIENCE => thread::sleep(PAUSE),
            Ok(file) => return file.read_only().map_or(Ok(file), Err),
            other => return other,
        }
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
