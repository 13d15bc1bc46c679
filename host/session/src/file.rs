//! A session that lives in a file.

use crate::disk::Disk;
use crate::entry::StoredEntry;
use crate::error::{io_failed, unwritable};
use crate::header::{Header, VERSION};
use crate::mend;
use crate::tree::Tree;
use crate::writer::{Barrier, Unsynced, Writer};
use capstan_ports::entry::{Entry, EntryKind};
use capstan_ports::{EntryId, SessionError, SessionId};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session that lives in a file, held under an exclusive lock until it is dropped.
///
/// Appending is safe from many tasks at once: the order of the lines is the order in which the appends returned.
pub struct SessionFile {
    id: SessionId,
    pub(crate) notices: Vec<Notice>,
    pub(crate) inner: Arc<Inner>,
}

/// What a commit takes along to another thread.
pub(crate) struct Inner {
    path: PathBuf,
    state: Mutex<State>,
    /// Held while syncing, so that of two commits the second finds the work done or the session closed. The state is
    /// not locked meanwhile: a slow device delays commits, not readers.
    sync_gate: Mutex<()>,
}

struct State {
    tree: Tree,
    writer: Writer,
}

/// Something about a session that its user should hear once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The last line was incomplete and was moved to another file.
    TailCut {
        /// Its length.
        n_bytes: usize,
        /// Where the bytes are now.
        kept_in: PathBuf,
    },
    /// The last line was incomplete. It is not shown, and stays in the file because the file is only being read.
    TailIgnored {
        /// Its length.
        n_bytes: usize,
    },
    /// The last line was complete but for its end, which was added.
    LineEndAdded,
    /// Messages of a role, or with content, that this version does not know. They stay in the file and are not sent to
    /// a model.
    OpaqueMessages {
        /// How many.
        n: usize,
    },
    /// The session had an older format. It is continued in this file, and the old file was left as it is.
    Migrated {
        /// The version of the old file.
        version: u64,
        /// The old file.
        from: PathBuf,
    },
    /// Lines that were to be copied could not be read any more. The copy has what this version knows of them.
    LinesFromMemory {
        /// How many.
        n: usize,
    },
    /// The session can be read and not be continued.
    ReadOnly {
        /// Why, and what to do.
        reason: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TailCut { n_bytes, kept_in } => write!(
                f,
                "the last entry was never completely written; its {n_bytes} bytes are kept in {}",
                kept_in.display()
            ),
            Self::TailIgnored { n_bytes } => {
                write!(f, "the last entry was never completely written; its {n_bytes} bytes are not shown")
            }
            Self::LineEndAdded => f.write_str("the last entry lacked its line end, which was added"),
            Self::OpaqueMessages { n } => write!(
                f,
                "{n} messages are of a kind this version does not know; they are kept and not sent to the model"
            ),
            Self::Migrated { version, from } => write!(
                f,
                "{} has the older format version {version} and was left as it is; the session is continued in this new \
                 file",
                from.display()
            ),
            Self::LinesFromMemory { n } => write!(
                f,
                "{n} lines of the copied session could not be read any more; what this version does not know of them is \
                 missing in the copy"
            ),
            Self::ReadOnly { reason } => write!(f, "the session is read-only: {reason}"),
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // No code of this crate panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_pending(&self) -> bool {
        self.state().writer.is_pending()
    }

    /// Waits for the device. Must not run on a thread that serves other tasks.
    ///
    /// The outcome is noted here and not by who waits for it, because who waits may be cancelled, and a failure is told
    /// only once.
    pub(crate) fn confirm(&self) -> Result<(), SessionError> {
        let _turn = self.sync_gate.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Unsynced { disk, len }) = self.state().writer.begin_sync()? else {
            return Ok(());
        };
        let outcome = disk.sync();
        self.state().writer.end_sync(len, outcome)
    }
}

impl SessionFile {
    /// Continues what was read from, or just written to, `disk`: `len` durable bytes that hold `tree`.
    pub(crate) fn over(
        path: PathBuf,
        disk: Arc<dyn Disk>,
        tree: Tree,
        len: u64,
        barrier: Option<Barrier>,
        notices: Vec<Notice>,
    ) -> Self {
        let writer = Writer::new(path.clone(), disk, len, barrier);
        Self {
            id: tree.header().id.clone(),
            notices,
            inner: Arc::new(Inner {
                path,
                state: Mutex::new(State { tree, writer }),
                sync_gate: Mutex::new(()),
            }),
        }
    }

    /// Which session.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// What was found when the file was opened, to be told to the user.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Why the session cannot be continued: what the next append would fail with. `None` while it can.
    pub fn read_only(&self) -> Option<SessionError> {
        self.inner.state().writer.barrier_error()
    }

    /// The first line.
    pub fn header(&self) -> Header {
        self.inner.state().tree.header().clone()
    }

    /// All entries in the order of their lines.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.look(|tree| tree.entries().cloned().collect())
    }

    /// The entry that the next one follows.
    pub fn leaf(&self) -> Option<EntryId> {
        self.look(|tree| tree.leaf().cloned())
    }

    /// Looks at the tree. Nothing can be added meanwhile.
    pub fn look<T>(&self, at: impl FnOnce(&Tree) -> T) -> T {
        at(&self.inner.state().tree)
    }

    /// Moves the leaf; see [`Tree::branch_to`].
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`].
    pub(crate) fn branch_to(&self, to: Option<&EntryId>) -> Result<(), SessionError> {
        self.inner.state().tree.branch_to(to)
    }

    /// Adds an entry after the leaf and hands it to the system. It survives the end of this process at once, and a
    /// power cut after the next commit.
    ///
    /// # Errors
    /// When the session is read-only, the file is not as it was left, or writing failed. Nothing of the entry is kept
    /// then, and it may be tried again.
    pub fn append_entry(&self, kind: EntryKind) -> Result<EntryId, SessionError> {
        self.append_made_at(kind, None)
    }

    /// The same for an entry that was made at another time than now.
    pub(crate) fn append_made_at(
        &self,
        kind: EntryKind,
        at_ms: Option<u64>,
    ) -> Result<EntryId, SessionError> {
        let mut state = self.inner.state();
        let State { tree, writer } = &mut *state;
        let entry: StoredEntry = tree.next(kind, at_ms)?;
        let id = entry.entry().id.clone();
        let mut line = entry.to_line().map_err(|error| unwritable(self.path(), error))?;
        let depth = mend::depth(line.as_bytes());
        if depth > mend::MAX_DEPTH {
            let error = crate::LineError::TooDeep { depth, max: mend::MAX_DEPTH };
            return Err(unwritable(self.path(), error));
        }
        line.push('\n');
        writer.append(line.as_bytes())?;
        tree.push(entry).map_err(|error| unwritable(self.path(), error))?;
        Ok(id)
    }

    /// Writes everything that is in memory to a new session under `root`, which names this one as its parent, and
    /// returns it. This is the way on for a session that became read-only. Lines are copied from the old file as they are, also
    /// when it was deleted or replaced; those that cannot be read any more are written from memory, which
    /// [`Notice::LinesFromMemory`] says.
    ///
    /// # Errors
    /// When the new file cannot be written, and for a session of a newer format version: a copy would claim a form that
    /// its entries do not have.
    pub fn save_copy(&self, root: &Path) -> Result<Self, SessionError> {
        let state = self.inner.state();
        let tree = &state.tree;
        let header = self.header_of_copy(tree, Path::new(&tree.header().cwd))?;
        let entries = self.copies_of(tree)?;
        drop(state);
        Self::create_from(root, header, entries)
    }

    /// All entries, for a new file.
    pub(crate) fn copies_of(&self, tree: &Tree) -> Result<Vec<StoredEntry>, SessionError> {
        tree.copies().map_err(|error| unwritable(self.path(), error))
    }

    /// Ends writing for good, and says so among the notices.
    pub(crate) fn close(&mut self, reason: String) {
        tracing::warn!(path = %self.path().display(), "{reason}");
        self.inner.state().writer.close(reason.clone());
        self.notices.push(Notice::ReadOnly { reason });
    }

    /// The lines of all entries as the file has them, in the order of [`SessionFile::entries`]: JSON objects, with what this
    /// version does not know of them. In a damaged session an entry whose parent was lost names the one that it continues.
    ///
    /// # Errors
    /// When a line cannot be made, which one that was read can.
    pub fn lines(&self) -> Result<Vec<String>, SessionError> {
        let copies = self.look(Tree::copies);
        let lines = copies.and_then(|copies| copies.iter().map(StoredEntry::to_line).collect());
        lines.map_err(|error| unwritable(self.path(), error))
    }

    /// The header of a session that is split off from this one and works in `cwd`.
    pub(crate) fn header_of_copy(&self, tree: &Tree, cwd: &Path) -> Result<Header, SessionError> {
        let version = tree.header().version;
        // Older formats were brought to this one when the file was read.
        if version > VERSION {
            let reason = format!("its format version {version} cannot be copied into version {VERSION}");
            return Err(SessionError::ReadOnly { path: self.path().to_owned(), reason });
        }
        let mut header = Header::new(cwd);
        header.parent_session = Some(self.path().to_string_lossy().into_owned());
        header.extra = tree.header().extra.clone();
        Ok(header)
    }

    /// The failure of an operation on this session's file.
    pub(crate) fn failed(&self, action: &'static str, source: io::Error) -> SessionError {
        io_failed(self.path(), action, source)
    }
}

impl fmt::Debug for SessionFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionFile")
            .field("id", &self.id)
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
