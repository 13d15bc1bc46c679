//! The conversation of a session, and the way back out of half a turn.

use async_trait::async_trait;
use capstan_ports::{EntryId, Message, SessionError, SessionId, SessionLog, SessionStore, store::Session};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A conversation in memory. The loop loads it as a store's session, so that what a compaction made of it stays.
#[derive(Default)]
pub(crate) struct Conversation(Mutex<Vec<Arc<Message>>>);

impl Conversation {
    fn messages(&self) -> MutexGuard<'_, Vec<Arc<Message>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SessionStore for Conversation {
    async fn load(&self, _id: &SessionId) -> Result<Session, SessionError> {
        Ok(Session { messages: self.messages().clone(), ..Session::default() })
    }

    async fn save(&self, _id: &SessionId, session: &Session) -> Result<(), SessionError> {
        self.messages().clone_from(&session.messages);
        Ok(())
    }
}

/// Where a session keeps its conversation.
pub(crate) enum History {
    Memory(Arc<Conversation>),
    Log(Arc<dyn SessionLog>),
}

impl History {
    /// What was said.
    pub(crate) fn messages(&self) -> Result<Vec<Arc<Message>>, SessionError> {
        match self {
            Self::Memory(conversation) => Ok(conversation.messages().clone()),
            Self::Log(log) => log.transcript(),
        }
    }

    pub(crate) fn store(&self) -> Option<Arc<dyn SessionStore>> {
        match self {
            Self::Memory(conversation) => Some(conversation.clone()),
            Self::Log(_) => None,
        }
    }

    pub(crate) fn log(&self) -> Option<Arc<dyn SessionLog>> {
        match self {
            Self::Memory(_) => None,
            Self::Log(log) => Some(log.clone()),
        }
    }

    pub(crate) fn begin(&self) -> HalfTurn {
        let before = match self {
            Self::Memory(conversation) => {
                Before::Memory(conversation.clone(), conversation.messages().clone())
            }
            Self::Log(log) => Before::Log(log.clone(), log.leaf()),
        };
        HalfTurn { before: Some(before) }
    }
}

enum Before {
    Memory(Arc<Conversation>, Vec<Arc<Message>>),
    Log(Arc<dyn SessionLog>, Option<EntryId>),
}

/// A turn in progress. Unless it is finished the conversation goes back to where it was, also when its future is dropped. A
/// log keeps what was written, on a branch that is left.
pub(crate) struct HalfTurn {
    before: Option<Before>,
}

impl HalfTurn {
    pub(crate) fn finished(mut self) {
        self.before = None;
    }
}

impl Drop for HalfTurn {
    fn drop(&mut self) {
        match self.before.take() {
            None => {}
            Some(Before::Memory(conversation, messages)) => *conversation.messages() = messages,
            Some(Before::Log(log, leaf)) => {
                if let Err(error) = log.branch(leaf.as_ref()) {
                    tracing::error!(%error, "a failed turn could not be left; the session goes on behind it");
                }
            }
        }
    }
}
