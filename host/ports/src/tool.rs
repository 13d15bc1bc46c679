//! The tool port: something the model can call.

use crate::message::{Content, ToolCall};
use crate::permission::CallAccess;
use crate::session::SessionId;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Where in the conversation something happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnContext {
    /// The session.
    pub session_id: SessionId,
    /// Turns of this session before this one.
    pub turn: u32,
    /// Model calls of this turn before this one.
    pub round: u32,
    /// `provider/model`.
    pub model: Arc<str>,
}

/// Whether a tool's calls may run beside other calls of the same round (000-126).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Execution {
    /// At the same time as others.
    #[default]
    Parallel,
    /// One such tool in a batch makes the whole batch run one call after another.
    Sequential,
}

/// What the model and the screen know of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Exact and case-sensitive.
    pub name: String,
    /// For screens; never sent to the model.
    pub label: String,
    /// Sent to the model word for word.
    pub description: String,
    /// JSON Schema of the arguments, sent as it is.
    pub parameters: Value,
    /// Whether its calls may run beside others.
    #[serde(default)]
    pub execution: Execution,
}

/// What a tool call came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutcome {
    /// What the model reads.
    pub content: Vec<Content>,
    /// For programs and screens; never sent to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// A failure that the tool reports in its own words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// The turn ends after this batch if every result of the batch says so (000-140).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminate: bool,
}

impl ToolOutcome {
    /// A good outcome of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], ..Self::default() }
    }

    /// A failure of one text.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

/// Why a call failed. Every variant becomes an error result that the model reads; none ends the turn.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The arguments make no sense to the tool.
    #[error("{0}")]
    InvalidArguments(String),
    /// It was not allowed. The text says what would allow it.
    #[error("{0}")]
    Denied(String),
    /// The run was aborted.
    #[error("Operation aborted")]
    Aborted,
    /// It took too long.
    #[error("{0}")]
    TimedOut(String),
    /// It did not work.
    #[error("{message}")]
    Failed {
        /// What the model reads.
        message: String,
        /// What lies beneath, for the log.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

impl ToolError {
    /// A failure of one text.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), source: None }
    }
}

/// Takes partial results of a running call. The loop drops what comes after the call ended (000-023).
pub trait Progress: Send + Sync {
    /// Replaces what was reported before.
    fn report(&self, partial: ToolOutcome);
}

/// Drops partial results.
pub struct NoProgress;

impl Progress for NoProgress {
    fn report(&self, _partial: ToolOutcome) {}
}

/// What a tool gets besides its arguments.
#[derive(Clone)]
pub struct ToolContext {
    /// Where in the conversation.
    pub turn: TurnContext,
    /// Fires when the run is aborted. A tool that ignores it is dropped a moment later.
    pub cancel: CancellationToken,
    /// Partial results.
    pub progress: Arc<dyn Progress>,
}

/// Something the model can call: prepare, validate (by the host, against the schema), execute.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model and the screen know of it.
    fn definition(&self) -> &ToolDefinition;

    /// Maps old or sloppy argument shapes to the present schema, before validation (000-014).
    ///
    /// # Errors
    /// The text becomes the call's error result; nothing is executed.
    async fn prepare(&self, arguments: Value) -> Result<Value, ToolError> {
        Ok(arguments)
    }

    /// What a call with these validated arguments would touch; the permission decision looks at it.
    fn access(&self, arguments: &Value) -> CallAccess;

    /// Runs one call. `call.arguments` satisfies the schema.
    ///
    /// # Errors
    /// Becomes an error result that the model reads.
    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError>;
}
