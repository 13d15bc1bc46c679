//! The session port: what was said, kept.

use crate::entry::{Entry, EntryKind, SessionContext};
use crate::message::Message;
use async_trait::async_trait;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Identifies a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct SessionId(Arc<str>);

/// Identifies an entry of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct EntryId(Arc<str>);

macro_rules! text_id {
    ($name:ident) => {
        impl $name {
            /// Takes the text as it is.
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(Arc::from(text.as_ref()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(ReadText).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// Puts text where it stays, without a copy on the way: a session has as many ids as entries.
struct ReadText;

impl Visitor<'_> for ReadText {
    type Value = Arc<str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Arc<str>, E> {
        Ok(Arc::from(text))
    }
}

text_id!(SessionId);
text_id!(EntryId);

/// Why a session could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The file system said no.
    #[error("session {path}: {action} failed: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// The file is not what this version can continue.
    #[error("session {path}, line {line}: {reason}")]
    Corrupt {
        /// Which file.
        path: PathBuf,
        /// Counts from 1.
        line: usize,
        /// What is wrong and what to do.
        reason: String,
    },
    /// Another process holds the session.
    #[error("session {path} is in use by another process; close it there, or start a new session")]
    Locked {
        /// Which file.
        path: PathBuf,
    },
    /// The session cannot be written any more.
    #[error("session {path} is read-only: {reason}")]
    ReadOnly {
        /// Which file.
        path: PathBuf,
        /// Why, and what to do.
        reason: String,
    },
    /// A store could not hand a session out.
    #[error("session {id} could not be loaded: {message}")]
    Load {
        /// Which session.
        id: SessionId,
        /// Why.
        message: String,
        /// What lies beneath.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// A store could not take a session in.
    #[error("session {id} could not be saved: {message}")]
    Save {
        /// Which session.
        id: SessionId,
        /// Why.
        message: String,
        /// What lies beneath.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// A session that was to be made is there already; it is left as it is.
    #[error("session {id} exists already; choose another id")]
    Exists {
        /// Which session.
        id: SessionId,
    },
    /// The session has no such entry.
    #[error("session {session} has no entry {entry}; list the session's tree to see which there are")]
    UnknownEntry {
        /// Which session.
        session: SessionId,
        /// What was asked for.
        entry: EntryId,
    },
    /// Nothing with this name.
    #[error("no session {name}: {hint}")]
    NotFound {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        hint: String,
    },
}

/// One conversation that is being continued: a tree of entries, of which one branch is the conversation now.
///
/// An entry counts as acknowledged once [`SessionLog::commit`] after its append returned; the loop commits each finished
/// answer and tool result before the next model call. Nothing removes or changes an entry (001-031). What is handed out
/// is shared and never changes (001-048).
#[async_trait]
pub trait SessionLog: Send + Sync {
    /// Which session.
    fn id(&self) -> &SessionId;

    /// The branch as a model should see it: with contributions of extensions, with summaries in the place of what they
    /// stand for, and with the settings that it was last continued with.
    ///
    /// # Errors
    /// When the entries cannot be read.
    fn context(&self) -> Result<SessionContext, SessionError>;

    /// What was said on the branch by the user, the model and the tools, oldest first, whatever was summarized since.
    ///
    /// # Errors
    /// When the entries cannot be read.
    fn transcript(&self) -> Result<Vec<Arc<Message>>, SessionError>;

    /// The entry that the next one follows; `None` at the root.
    fn leaf(&self) -> Option<EntryId>;

    /// The entry with this id.
    fn entry(&self, id: &EntryId) -> Option<Arc<Entry>>;

    /// All entries in the order in which they were added, also those of other branches.
    fn entries(&self) -> Vec<Arc<Entry>>;

    /// The entries from the root to `to`, or to the leaf.
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`].
    fn path(&self, to: Option<&EntryId>) -> Result<Vec<Arc<Entry>>, SessionError>;

    /// Moves the leaf, so that the next entry follows `to`; `None` begins at the root again. What was said elsewhere stays.
    /// The move itself is not recorded; the next entry makes it last.
    ///
    /// # Errors
    /// [`SessionError::UnknownEntry`]; the leaf then stays where it is.
    fn branch(&self, to: Option<&EntryId>) -> Result<(), SessionError>;

    /// Adds an entry after the leaf, which it becomes.
    ///
    /// # Errors
    /// When it could not be written; the session then still holds everything that was written before.
    /// [`SessionError::UnknownEntry`] when the entry speaks of another one that is not there.
    async fn append(&self, kind: EntryKind) -> Result<EntryId, SessionError>;

    /// Adds a message after the leaf. As [`SessionLog::append`], but a custom message keeps its own time.
    ///
    /// # Errors
    /// Those of [`SessionLog::append`].
    async fn append_message(&self, message: Arc<Message>) -> Result<EntryId, SessionError> {
        self.append(EntryKind::message(message)).await
    }

    /// Makes all appended entries durable, as far as the store promises durability.
    ///
    /// # Errors
    /// When the device did not confirm; this is never retried silently.
    async fn commit(&self) -> Result<(), SessionError>;
}
