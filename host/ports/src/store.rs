//! The session store port of seed 003: whole sessions by id.
//!
//! A [`SessionLog`](crate::SessionLog) is what an interactive session writes to, entry by entry; a store is what a
//! service keeps its conversations in. A turn over a store loads once and saves once, also when it fails; what a process
//! loses that dies within a turn is that turn.

use crate::message::Message;
use crate::session::{SessionError, SessionId};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A conversation and what a program keeps with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// Oldest first.
    pub messages: Vec<Arc<Message>>,
    /// Survives every turn (X14).
    pub metadata: Map<String, Value>,
}

impl Session {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.metadata.is_empty()
    }
}

/// The metadata key under which a session names the one that it continues (003-069).
pub const PARENT_SESSION: &str = "parent_session_id";

/// Keeps sessions.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// The session of this id; an unknown id is an empty session.
    ///
    /// # Errors
    /// [`SessionError::Load`] and the like when it is there and cannot be read.
    async fn load(&self, id: &SessionId) -> Result<Session, SessionError>;

    /// Puts the session in the place of what was there. Either all of it is saved or nothing.
    ///
    /// # Errors
    /// [`SessionError::Save`] and the like; what was there before is then still there.
    async fn save(&self, id: &SessionId, session: &Session) -> Result<(), SessionError>;

    /// Saves a session that does not exist yet.
    ///
    /// # Errors
    /// [`SessionError::Exists`] when the id is taken (003-071), otherwise those of the two others.
    async fn create(&self, id: &SessionId, session: &Session) -> Result<(), SessionError> {
        if !self.load(id).await?.is_empty() {
            return Err(SessionError::Exists { id: id.clone() });
        }
        self.save(id, session).await
    }
}
