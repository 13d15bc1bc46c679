//! A component that watches, as the observer port.
//!
//! What it sees are the lines of `capstan --mode json`, and of the turn's own events those that have no line there. The agent
//! calls observers beside the turn, so everything here, the JSON too, costs the turn nothing.

use crate::error::CallError;
use crate::extension::Extension;
use crate::limits::Role;
use async_trait::async_trait;
use capstan_ports::event::AgentEvent;
use capstan_ports::session::SessionId;
use capstan_ports::turn_event::{ObserverPort, TurnEvent};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

pub(super) struct ComponentObserver {
    extension: Extension,
    /// Where the conversation is at the moment.
    session: Mutex<SessionId>,
    left_out: AtomicBool,
}

impl ComponentObserver {
    pub(super) fn new(extension: &Extension, session: &SessionId) -> Self {
        Self {
            extension: extension.clone(),
            session: Mutex::new(session.clone()),
            left_out: AtomicBool::new(false),
        }
    }

    async fn show(&self, event: &(impl Serialize + Sync)) {
        if self.left_out.load(Ordering::Relaxed) {
            return;
        }
        let id = self.extension.id();
        let text = match serde_json::to_string(event) {
            Ok(text) => text,
            Err(reason) => {
                tracing::warn!(extension = %id, %reason, "an event has no JSON form; observers miss it");
                return;
            }
        };
        let most = self.extension.limits(Role::Observer).input_bytes;
        if text.len() > most {
            // No doing of the guest, so it stays in.
            tracing::warn!(extension = %id, bytes = text.len(), most, "an event is too large for observers; they miss it");
            return;
        }
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Err(source) = self.extension.observe(&session, text).await {
            self.leave_out(&source);
        }
    }

    /// Switches it off and says so once.
    fn leave_out(&self, source: &CallError) {
        if !self.left_out.swap(true, Ordering::Relaxed) {
            let id = self.extension.id();
            tracing::warn!(extension = %id, "the observer {id} failed and is left out from now on: {source}");
        }
    }
}

#[async_trait]
impl ObserverPort for ComponentObserver {
    async fn on_event(&self, event: &TurnEvent) {
        match event {
            TurnEvent::SessionRedirect { to, .. } => {
                self.show(event).await;
                *self.session.lock().unwrap_or_else(PoisonError::into_inner) = to.clone();
            }
            TurnEvent::Custom { .. } => self.show(&event.extension_line()).await,
            TurnEvent::TurnCompleted | TurnEvent::TurnFailed { .. } | TurnEvent::ToolCallDeferred { .. } => {
                self.show(event).await;
            }
            // What a screen shows says these already: `agent_start`, `tool_execution_start` and `_end`, `message_end`.
            TurnEvent::TurnStarted
            | TurnEvent::ToolCallPending { .. }
            | TurnEvent::ToolCallResult { .. }
            | TurnEvent::ModelResponseReceived { .. } => {}
        }
    }

    async fn on_agent_event(&self, event: &AgentEvent) {
        self.show(event).await;
    }

    fn watches_agent_events(&self) -> bool {
        true
    }
}
