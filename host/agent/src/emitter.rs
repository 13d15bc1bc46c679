//! Sends events to the sink and survives a sink that panics; observers are told beside it.

use crate::error::panic_text;
use crate::observers::Observers;
use capstan_ports::{AgentEvent, EventSink, Message};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

/// The sink of a run. After a panic the run is ended by the loop (000-157), which still sends the closing events.
pub(crate) struct Emitter<'a> {
    sink: &'a dyn EventSink,
    observers: Option<&'a Observers>,
    failure: Mutex<Option<String>>,
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(sink: &'a dyn EventSink) -> Self {
        Self { sink, observers: None, failure: Mutex::new(None) }
    }

    /// The same, with observers that are told but never waited for.
    pub(crate) fn observed_by(mut self, observers: &'a Observers) -> Self {
        self.observers = Some(observers);
        self
    }

    pub(crate) async fn emit(&self, event: AgentEvent) {
        if let Some(observers) = self.observers {
            observers.tell_shown(&event);
        }
        if let Err(payload) = AssertUnwindSafe(self.sink.emit(event)).catch_unwind().await {
            let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            failure.get_or_insert_with(|| panic_text(payload.as_ref()));
        }
    }

    /// Start and end of a message that is complete already.
    pub(crate) async fn emit_message(&self, message: &Arc<Message>) {
        self.emit(AgentEvent::MessageStart { message: message.clone() }).await;
        self.emit(AgentEvent::MessageEnd { message: message.clone() }).await;
    }

    pub(crate) fn wants_updates(&self) -> bool {
        self.sink.wants_updates()
    }

    /// The first panic's text.
    pub(crate) fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
