//! Which session: where it is kept, and going on with another one while the program runs.

use crate::home::Home;
use crate::live::Live;
use crate::screen;
use anyhow::{Context, Result, bail, ensure};
use capstan_agent::AgentSession;
use capstan_ports::{EntryId, Message, SessionLog};
use capstan_session::{Header, MemorySession, SessionFile};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Which session to begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Which {
    /// A new one.
    New,
    /// The last one of this directory.
    Last,
    /// The one in this file.
    File(PathBuf),
    /// A copy of the one in this file.
    CopyOf(PathBuf),
    /// One that is not kept.
    Unkept,
}

/// Where a session is kept.
#[derive(Clone)]
pub(crate) enum Kept {
    File(Arc<SessionFile>),
    Memory(Arc<MemorySession>),
}

impl Kept {
    /// The session, as the agent knows it.
    pub(crate) fn log(&self) -> Arc<dyn SessionLog> {
        match self {
            Self::File(file) => file.clone(),
            Self::Memory(session) => session.clone(),
        }
    }

    /// The first line of its file.
    pub(crate) fn header(&self) -> Header {
        match self {
            Self::File(file) => file.header(),
            Self::Memory(session) => session.header(),
        }
    }

    /// Its file, if it has one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(file) => Some(file.path()),
            Self::Memory(_) => None,
        }
    }
}

/// The session that a program begins with.
///
/// # Errors
/// When it cannot be made, found or continued.
pub(crate) fn open(home: &Home, which: Which) -> Result<Kept> {
    let root = home.sessions();
    match which {
        Which::Unkept => Ok(Kept::Memory(Arc::new(MemorySession::new(&home.workspace)))),
        Which::New => {
            // Without a place to keep it nobody's conversation is begun, unless that is what was asked for.
            let session = SessionFile::create(&root, &home.workspace).context(
                "no session can be kept, so nothing was run; `--no-session` runs without keeping anything",
            )?;
            Ok(Kept::File(Arc::new(session)))
        }
        Which::Last => {
            let search = capstan_session::latest_in(&root, &home.workspace);
            for skipped in &search.skipped {
                screen::note(&format!(
                    "capstan: {} was passed over: {}",
                    screen::path(&skipped.path),
                    screen::visible(&skipped.reason)
                ));
            }
            let path = search.found.with_context(|| {
                format!("there is no session of {} to go on with", home.workspace.display())
            })?;
            continued(&path)
        }
        Which::File(path) => continued(&path),
        Which::CopyOf(path) => {
            // Without the lock, so that a copy can be made of a session that another process goes on with.
            let original = SessionFile::open_read_only(&path)?;
            let copy = match Path::new(&original.header().cwd) == home.workspace {
                true => original.save_copy(&root)?,
                // In another directory it is another story, of which what is on the other branches is no part.
                false => original.fork_into(&root, &home.workspace, original.leaf().as_ref())?,
            };
            Ok(Kept::File(Arc::new(copy)))
        }
    }
}

/// Opens a file to go on with it, and says what was found in it.
fn continued(path: &Path) -> Result<Kept> {
    let opened = SessionFile::open(path)?;
    for notice in opened.notices() {
        let notice = notice.to_string();
        screen::note(&format!("capstan: {}: {}", screen::path(opened.path()), screen::visible(&notice)));
    }
    if let Some(error) = opened.read_only() {
        return Err(error).with_context(|| {
            let path = screen::path(path);
            format!("the session cannot be continued; start a new one, or go on with a copy of it: capstan --fork {path}")
        });
    }
    Ok(Kept::File(Arc::new(opened)))
}

/// The sessions of one run of the program: the current one, and the way to others.
pub(crate) struct Sessions {
    home: Home,
    session: AgentSession,
    live: Arc<Live>,
    current: Mutex<Kept>,
}

impl Sessions {
    pub(crate) fn new(home: &Home, kept: Kept, session: AgentSession, live: Arc<Live>) -> Self {
        Self { home: home.clone(), session, live, current: Mutex::new(kept) }
    }

    /// The current session.
    pub(crate) fn current(&self) -> Kept {
        // One reference, whole at any time.
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first line of the current session's file.
    pub(crate) fn header(&self) -> Header {
        self.current().header()
    }

    /// The current session's file, if it has one.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.current().path().map(Path::to_owned)
    }

    /// Goes on with a new session. `parent` names the file of the one that it follows.
    ///
    /// # Errors
    /// During a run, and when the session cannot be made; then nothing changes.
    pub(crate) async fn new_session(&self, parent: Option<String>) -> Result<()> {
        let mut header = Header::new(&self.home.workspace);
        header.parent_session = parent;
        let next = match self.current() {
            Kept::File(_) => Kept::File(Arc::new(SessionFile::create_with(&self.home.sessions(), header)?)),
            Kept::Memory(_) => Kept::Memory(Arc::new(MemorySession::with_header(header))),
        };
        self.go_on_with(next).await
    }

    /// Goes on with the session in this file, or the one with this id.
    ///
    /// # Errors
    /// During a run, when there is no such session, when it belongs to another directory, and when another process has
    /// it; then nothing changes.
    pub(crate) async fn open(&self, id_or_path: &str) -> Result<()> {
        let path = self.find(id_or_path)?;
        if self.path().as_deref() == Some(path.as_path()) {
            return Ok(());
        }
        ensure!(
            !self.session.agent().state().is_streaming,
            "the agent is busy; wait for it or stop it first"
        );
        let next = continued(&path)?;
        let cwd = next.header().cwd;
        if Path::new(&cwd) != self.home.workspace {
            bail!(
                "the session belongs to {}; go on with it there: capstan --session {}",
                screen::path(Path::new(&cwd)),
                next.header().id
            );
        }
        self.go_on_with(next).await
    }

    /// The file that is meant by a path, or by an id or its beginning.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub(crate) fn find(&self, id_or_path: &str) -> Result<PathBuf> {
        find(&self.home, id_or_path)
    }

    /// Goes on in a new session with what was said before a message of the user. Answers the message's text, for the user
    /// to change it.
    ///
    /// # Errors
    /// During a run, when the entry is no message of the user, and when the new session cannot be written; then nothing
    /// changes.
    pub(crate) async fn fork(&self, entry: &EntryId) -> Result<String> {
        let log = self.session.log();
        let forked = log.entry(entry).with_context(|| format!("the session has no entry {entry}"))?;
        let text = match forked.message().as_deref() {
            Some(message @ Message::User(_)) => message.text(),
            _ => bail!("{entry} is no message of yours; a fork begins before one"),
        };
        self.split_off(forked.parent_id.as_ref()).await?;
        Ok(text)
    }

    /// Goes on in a new session with everything that was said on the branch.
    ///
    /// # Errors
    /// As [`Sessions::fork`].
    pub(crate) async fn clone_current(&self) -> Result<()> {
        let leaf = self.session.log().leaf();
        self.split_off(leaf.as_ref()).await
    }

    async fn split_off(&self, leaf: Option<&EntryId>) -> Result<()> {
        ensure!(
            !self.session.agent().state().is_streaming,
            "the agent is busy; wait for it or stop it first"
        );
        let next = match self.current() {
            Kept::File(file) => Kept::File(Arc::new(file.fork(&self.home.sessions(), leaf)?)),
            Kept::Memory(session) => Kept::Memory(Arc::new(session.fork(leaf)?)),
        };
        self.go_on_with(next).await
    }

    async fn go_on_with(&self, next: Kept) -> Result<()> {
        self.session.switch(next.log()).await?;
        for notice in self.session.notices() {
            screen::note(&format!("capstan: {}", screen::visible(&notice.to_string())));
        }
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = next;
        self.live.rebind()
    }
}

/// The file that is meant by a path, or by an id or its beginning.
///
/// # Errors
/// When there is none, or more than one.
pub(crate) fn find(home: &Home, id_or_path: &str) -> Result<PathBuf> {
    let path = Path::new(id_or_path);
    if id_or_path.contains('/') || path.extension().is_some_and(|extension| extension == "jsonl") {
        return path.canonicalize().with_context(|| format!("there is no session file {}", path.display()));
    }
    Ok(capstan_session::path_by_id(&home.sessions(), id_or_path)?)
}

/// The entry that is meant by an id or its beginning. A whole id counts, also where others begin with it.
///
/// # Errors
/// When there is none, or more than one.
pub(crate) fn entry(log: &dyn SessionLog, id: &str) -> Result<EntryId> {
    let whole = EntryId::new(id);
    if log.entry(&whole).is_some() {
        return Ok(whole);
    }
    let entries = log.entries();
    let mut fitting = entries.iter().map(|entry| &entry.id).filter(|known| known.as_str().starts_with(id));
    let shown = screen::brief(id, 60);
    match (fitting.next(), fitting.next()) {
        (None, _) => bail!("the session has no entry {shown}; its tree shows those that there are"),
        (Some(only), None) => Ok(only.clone()),
        (Some(first), Some(_)) => {
            bail!("several entries begin with {shown}, among them {first}; give more of the id")
        }
    }
}
