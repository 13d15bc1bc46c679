//! Receives one answer of the model and shows it as it grows.

use crate::emitter::Emitter;
use crate::error::panic_text;
use crate::result::ABORTED;
use capstan_ports::event::NoEvents;
use capstan_ports::message::now_ms;
use capstan_ports::{
    AgentEvent, AssistantEvent, AssistantMessage, Message, Model, ModelError, ModelErrorKind, ModelEvent,
    ModelRequest, StopReason,
};
use futures::{FutureExt, StreamExt};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What came of one request.
pub(crate) struct Received {
    /// The answer; after a failure or an abort, what there was of it.
    pub(crate) message: AssistantMessage,
    /// Whether its `MessageStart` was sent already.
    pub(crate) shown: bool,
    /// The failure, if the request failed. The message then says so, too.
    pub(crate) failure: Option<ModelError>,
}

impl Received {
    /// The answer of a model that was not asked any more.
    pub(crate) fn aborted(model: &dyn Model) -> Self {
        Partial::new(model).aborted()
    }

    /// The failure alone, for a retry that is called off: as the last answer it says why there is none.
    pub(crate) fn given_up(&self) -> Self {
        let failure = self.failure.as_ref().map(|error| ModelError::new(error.kind, error.message.clone()));
        let message = AssistantMessage { content: Vec::new(), ..self.message.clone() };
        Self { message, shown: false, failure }
    }
}

/// Asks `model` and follows its answer to the end, or to the abort.
pub(crate) async fn receive(
    model: &dyn Model,
    request: ModelRequest,
    events: &Emitter<'_>,
    cancel: &CancellationToken,
) -> Received {
    let mut partial = Partial::new(model);
    if cancel.is_cancelled() {
        return partial.aborted();
    }
    let mut stream = match std::panic::catch_unwind(AssertUnwindSafe(|| model.stream(request))) {
        Ok(stream) => stream,
        Err(payload) => return partial.failed(panicked(model, payload.as_ref())),
    };
    loop {
        let next = tokio::select! {
            biased;
            () = cancel.cancelled() => return partial.aborted(),
            next = AssertUnwindSafe(stream.next()).catch_unwind() => next,
        };
        match next {
            Ok(Some(ModelEvent::Update(event))) => partial.update(event, events).await,
            Ok(Some(ModelEvent::Done(message))) => return partial.done(*message),
            Ok(Some(ModelEvent::Failed(error))) => return partial.failed(error),
            Ok(None) => return partial.failed(cut_short(model)),
            Err(payload) => return partial.failed(panicked(model, payload.as_ref())),
        }
    }
}

/// The text of an answer that nobody watches: a request of the host itself.
pub(crate) async fn receive_text(
    model: &dyn Model,
    request: ModelRequest,
    cancel: &CancellationToken,
) -> Result<String, ModelError> {
    let received = receive(model, request, &Emitter::new(&NoEvents), cancel).await;
    if let Some(error) = received.failure {
        return Err(error);
    }
    let text = received.message.text();
    if text.trim().is_empty() || received.message.error_message.is_some() {
        let why = received.message.error_message.unwrap_or_else(|| "the answer holds no text".to_owned());
        return Err(ModelError::new(ModelErrorKind::Protocol, why));
    }
    Ok(text)
}

/// An answer that grows.
struct Partial {
    message: AssistantMessage,
    shown: bool,
}

impl Partial {
    fn new(model: &dyn Model) -> Self {
        let info = model.info();
        let message = AssistantMessage {
            api: info.api.clone(),
            provider: info.provider.clone(),
            model: info.id.clone(),
            timestamp: now_ms(),
            ..AssistantMessage::default()
        };
        Self { message, shown: false }
    }

    async fn update(&mut self, event: AssistantEvent, events: &Emitter<'_>) {
        if !self.shown {
            self.shown = true;
            let message = Arc::new(Message::Assistant(self.message.clone()));
            events.emit(AgentEvent::MessageStart { message }).await;
        }
        self.message.apply(&event);
        // Each update carries a copy of everything so far, which only somebody who looks should pay for.
        if events.wants_updates() {
            let message = Arc::new(Message::Assistant(self.message.clone()));
            events.emit(AgentEvent::MessageUpdate { message, assistant_message_event: event }).await;
        }
    }

    fn done(self, mut message: AssistantMessage) -> Received {
        if message.timestamp == 0 {
            message.timestamp = self.message.timestamp;
        }
        Received { message, shown: self.shown, failure: None }
    }

    fn failed(mut self, error: ModelError) -> Received {
        self.message.stop_reason = StopReason::Error;
        self.message.error_message = Some(error.to_string());
        Received { message: self.message, shown: self.shown, failure: Some(error) }
    }

    fn aborted(mut self) -> Received {
        self.message.stop_reason = StopReason::Aborted;
        self.message.error_message = Some(ABORTED.to_owned());
        Received { message: self.message, shown: self.shown, failure: None }
    }
}

fn cut_short(model: &dyn Model) -> ModelError {
    let name = model.info().full_name();
    ModelError::new(
        ModelErrorKind::Protocol,
        format!("{name}: stream ended without terminal message; try again"),
    )
}

fn panicked(model: &dyn Model, payload: &(dyn std::any::Any + Send)) -> ModelError {
    let text =
        format!("{}: the provider's code panicked ({})", model.info().full_name(), panic_text(payload));
    ModelError::new(ModelErrorKind::Protocol, text)
}
