//! The model port: one request in, a stream of events out.

use crate::event::AssistantEvent;
use crate::message::{AssistantMessage, Message};
use crate::session::SessionId;
use crate::tool::ToolDefinition;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use std::fmt;
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

/// The models that a session can be continued with.
pub trait ModelCatalog: Send + Sync {
    /// Those that can be named without knowing their ids, in the order in which they are offered.
    fn available(&self) -> Vec<ModelInfo>;

    /// The model with this id at this provider, ready to be asked. It need not be one of [`ModelCatalog::available`].
    ///
    /// # Errors
    /// [`ModelErrorKind::InvalidRequest`] when there is no such provider, [`ModelErrorKind::Auth`] without a key for it.
    fn find(&self, provider: &str, id: &str) -> Result<Arc<dyn Model>, ModelError>;
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

impl ThinkingLevel {
    /// All of them, from least to most.
    pub const ALL: [Self; 6] = [Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::XHigh];

    /// As users and files write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
        }
    }

    /// The level of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// Which of the tools the model has to use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it sees fit.
    #[default]
    Auto,
    /// None.
    NoTool,
    /// At least one.
    Required,
    /// This one.
    NamedTool(String),
}

/// A list of messages that is cheap to hand on: clones share it until one of them changes it. A request, a hook's view
/// and the loop's own transcript are one list as long as nothing differs, so a round does not pay for the length of the
/// conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Messages(Arc<Vec<Arc<Message>>>);

impl Messages {
    /// The list for changing; copies it first when somebody else still looks at it.
    pub fn to_mut(&mut self) -> &mut Vec<Arc<Message>> {
        Arc::make_mut(&mut self.0)
    }

    /// Whether both are one list in memory.
    pub fn is_same_list(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::ops::Deref for Messages {
    type Target = [Arc<Message>];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl From<Vec<Arc<Message>>> for Messages {
    fn from(messages: Vec<Arc<Message>>) -> Self {
        Self(Arc::new(messages))
    }
}

impl FromIterator<Arc<Message>> for Messages {
    fn from_iter<I: IntoIterator<Item = Arc<Message>>>(messages: I) -> Self {
        Self(Arc::new(messages.into_iter().collect()))
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Arc<Message>;
    type IntoIter = std::slice::Iter<'a, Arc<Message>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// One request to a model.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    /// The system prompt.
    pub system: String,
    /// The conversation, repaired: each call has its result and each result its call. The loop has made custom messages
    /// into ones of the user by then; a model that meets one all the same treats it so, too.
    pub messages: Messages,
    /// What the model may call.
    pub tools: Arc<[ToolDefinition]>,
    /// Reasoning effort.
    pub thinking: ThinkingLevel,
    /// At most this many tokens of answer; `None` leaves it to the model's own limit.
    pub max_output_tokens: Option<u32>,
    /// How freely it chooses words; `None` leaves it to the model's default.
    pub temperature: Option<f32>,
    /// Which tools it has to use.
    pub tool_choice: ToolChoice,
    /// How the request should travel, in words that only the model understands (`sse`, `websocket`). One that does not
    /// know the word, or knows only one way, ignores it.
    pub transport: Option<String>,
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

    /// A request that could not be built (003-130).
    pub fn request_build(message: impl fmt::Display) -> Self {
        Self::new(ModelErrorKind::InvalidRequest, format!("the request could not be built: {message}"))
    }

    /// A connection that could not be made or broke (003-130).
    pub fn transport(message: impl fmt::Display) -> Self {
        Self::new(ModelErrorKind::Network, format!("the model could not be reached: {message}"))
    }

    /// An answer that could not be read (003-130).
    pub fn response_parse(message: impl fmt::Display) -> Self {
        Self::new(ModelErrorKind::Protocol, format!("the answer could not be read: {message}"))
    }

    /// Adds what lies beneath.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}
