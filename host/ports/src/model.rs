//! The model port: one request in, a stream of events out.

use crate::event::AssistantEvent;
use crate::message::{AssistantMessage, Message};
use crate::session::SessionId;
use crate::tool::ToolDefinition;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// What is known of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// The provider's name in the configuration, for example `anthropic`.
    pub provider: String,
    /// The wire format, for example `anthropic-messages`.
    pub api: String,
    /// The model's id at the provider.
    pub id: String,
    /// Tokens that a request and its answer may take together.
    pub context_window: u32,
    /// Tokens that an answer may take.
    pub max_output_tokens: u32,
    /// Whether images may be sent; a placeholder text goes out where not.
    pub accepts_images: bool,
}

impl ModelInfo {
    /// `provider/model`, as the user writes it.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }
}

/// How much the model reasons before it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// No reasoning option is sent.
    #[default]
    Off,
    /// As little as the model allows.
    Minimal,
    /// Some.
    Low,
    /// The usual amount.
    Medium,
    /// Much.
    High,
    /// As much as the model allows.
    XHigh,
}

/// One request to a model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The system prompt.
    pub system: String,
    /// The conversation, repaired: each call has its result and each result its call.
    pub messages: Vec<Arc<Message>>,
    /// What the model may call.
    pub tools: Arc<[ToolDefinition]>,
    /// Reasoning effort.
    pub thinking: ThinkingLevel,
    /// At most this many tokens of answer; `None` leaves it to the model's own limit.
    pub max_output_tokens: Option<u32>,
    /// Lets a provider route the requests of one session to one cache (000-169).
    pub session_id: Option<SessionId>,
}

/// What a model does while it answers.
#[derive(Debug)]
pub enum ModelEvent {
    /// Something more was written. Folding these with [`AssistantMessage::apply`] gives the answer's content.
    Update(AssistantEvent),
    /// The answer is complete. The last event of a good stream.
    Done(Box<AssistantMessage>),
    /// The request failed. The last event of a bad stream; what was written before is incomplete.
    Failed(ModelError),
}

/// A running answer. Ends after [`ModelEvent::Done`] or [`ModelEvent::Failed`]; dropping it cancels the request.
pub type ModelStream = BoxStream<'static, ModelEvent>;

/// A model that can be asked.
pub trait Model: Send + Sync {
    /// What is known of it.
    fn info(&self) -> &ModelInfo;

    /// Asks. Never fails by itself: everything that goes wrong is the stream's last event.
    fn stream(&self, request: ModelRequest) -> ModelStream;
}

/// What kind of failure a request met; decides whether trying again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelErrorKind {
    /// No key, or one that was refused (401, 403).
    Auth,
    /// Too many requests (429).
    RateLimited,
    /// The provider failed (5xx, overloaded).
    Server,
    /// The conversation does not fit the model's window.
    ContextOverflow,
    /// The provider did not accept the request (400, 404, 422).
    InvalidRequest,
    /// No connection, or one that broke.
    Network,
    /// Nothing came for too long.
    TimedOut,
    /// The answer was not in the expected form.
    Protocol,
}

impl ModelErrorKind {
    /// Whether the same request may succeed later.
    pub fn is_transient(self) -> bool {
        match self {
            Self::RateLimited | Self::Server | Self::Network | Self::TimedOut => true,
            Self::Auth | Self::ContextOverflow | Self::InvalidRequest | Self::Protocol => false,
        }
    }
}

/// A failed request.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// One paragraph that names provider and model and says what to do. Holds no key.
    pub message: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// What lies beneath.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ModelError {
    /// An error without an underlying cause.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after: None, source: None }
    }

    /// Adds what lies beneath.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}
