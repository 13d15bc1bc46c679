//! Makes what happened durable, inside the loop: a slow event listener cannot come between a message and its record
//! (X7).

use capstan_ports::entry::{Compaction, EntryKind};
use capstan_ports::store::{PARENT_SESSION, Session, SessionStore};
use capstan_ports::{EntryId, Message, SessionError, SessionId, SessionLog};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Where a run keeps its conversation.
pub(crate) enum Journal {
    /// Nowhere but in memory.
    Nothing,
    /// In a log, entry by entry.
    Log {
        log: Arc<dyn SessionLog>,
        uncommitted: bool,
        /// What was appended and nobody asked about yet.
        recent: Vec<(Arc<Message>, EntryId)>,
    },
    /// In a store, as a whole at the end of the turn.
    Store { store: Arc<dyn SessionStore>, id: SessionId, metadata: Map<String, Value> },
}

impl Journal {
    pub(crate) fn new(log: Option<Arc<dyn SessionLog>>) -> Self {
        log.map_or(Self::Nothing, |log| Self::Log { log, uncommitted: false, recent: Vec::new() })
    }

    /// Adds a message; a log has it durable after the next [`Journal::commit`].
    pub(crate) async fn append(&mut self, message: &Arc<Message>) -> Result<(), SessionError> {
        if let Self::Log { log, uncommitted, recent } = self {
            let id = log.append_message(message.clone()).await?;
            recent.push((message.clone(), id));
            *uncommitted = true;
        }
        Ok(())
    }

    /// The entry that a message became. Asked once for each message.
    pub(crate) fn take_entry(&mut self, message: &Arc<Message>) -> Option<EntryId> {
        let Self::Log { recent, .. } = self else { return None };
        let at = recent.iter().position(|(appended, _)| Arc::ptr_eq(appended, message))?;
        Some(recent.swap_remove(at).1)
    }

    /// Adds a compaction to the log and makes it durable.
    pub(crate) async fn record_compaction(
        &mut self,
        log: &dyn SessionLog,
        compaction: Compaction,
    ) -> Result<EntryId, SessionError> {
        self.commit().await?;
        let id = log.append(EntryKind::Compaction(compaction)).await?;
        log.commit().await?;
        Ok(id)
    }

    /// Makes everything appended to a log durable.
    pub(crate) async fn commit(&mut self) -> Result<(), SessionError> {
        if let Self::Log { log, uncommitted, .. } = self
            && *uncommitted
        {
            log.commit().await?;
            *uncommitted = false;
        }
        Ok(())
    }

    /// Adds a message and makes it durable.
    pub(crate) async fn record(&mut self, message: &Arc<Message>) -> Result<(), SessionError> {
        self.append(message).await?;
        self.commit().await
    }

    /// Keeps the turn. A store gets the whole conversation now.
    pub(crate) async fn finish(&mut self, transcript: &[Arc<Message>]) -> Result<(), SessionError> {
        match self {
            Self::Nothing | Self::Log { .. } => self.commit().await,
            Self::Store { store, id, metadata } => {
                let session = Session { messages: transcript.to_vec(), metadata: metadata.clone() };
                store.save(id, &session).await
            }
        }
    }

    /// Goes on in a new session of the store, which begins with `messages`. `None` where there is no store: a log is one
    /// session and stays it. The old session is not touched.
    pub(crate) async fn redirect(
        &mut self,
        to: Option<SessionId>,
        messages: &[Arc<Message>],
    ) -> Result<Option<SessionId>, SessionError> {
        let Self::Store { store, id, metadata } = self else { return Ok(None) };
        let to = to.unwrap_or_else(|| next_id(id));
        let mut inherited = metadata.clone();
        inherited.insert(PARENT_SESSION.to_owned(), Value::String(id.to_string()));
        let session = Session { messages: messages.to_vec(), metadata: inherited };
        store.create(&to, &session).await?;
        *metadata = session.metadata;
        *id = to.clone();
        Ok(Some(to))
    }
}

/// `talk` is followed by `talk-2`, that by `talk-3`: a person sees what belongs together.
fn next_id(id: &SessionId) -> SessionId {
    let numbered =
        id.as_str().rsplit_once('-').and_then(|(stem, number)| Some((stem, number.parse::<u32>().ok()?)));
    SessionId::new(match numbered {
        Some((stem, number)) => format!("{stem}-{}", number.saturating_add(1)),
        None => format!("{id}-2"),
    })
}
