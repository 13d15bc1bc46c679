//! What an observer sees of a turn: the nine events of seed 003, and the port that receives them.

use crate::event::AgentEvent;
use crate::message::{AssistantMessage, Message, ToolCall, Usage};
use crate::session::SessionId;
use crate::tool::ToolOutcome;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

/// One event of a turn. The displayed form is stable, so that it can be matched in logs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum TurnEvent {
    /// After the `before-turn` hooks, before the session is loaded.
    TurnStarted,
    /// A call as the model made it, before it is checked.
    ToolCallPending {
        /// The call.
        call: ToolCall,
    },
    /// A call is over; also a blocked, unknown or invalid one. Not a deferred one.
    ToolCallResult {
        /// The call as it was executed, after every rewrite.
        call: ToolCall,
        /// The result as the model reads it.
        result: ToolOutcome,
        /// True when the tool failed or reported a failure, the same as `result.is_error`.
        is_error: bool,
    },
    /// The model answered.
    ModelResponseReceived {
        /// The answer as it came, before the `after-model` hooks.
        message: Arc<Message>,
        /// What it cost; absent when the provider gave no counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// The reasoning that the provider showed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning_summary: Option<String>,
    },
    /// The conversation goes on in another session.
    SessionRedirect {
        /// Where it was.
        from: SessionId,
        /// Where it is now.
        to: SessionId,
        /// Messages there were.
        messages_before: usize,
        /// Messages there are.
        messages_after: usize,
    },
    /// The turn ended well and was saved.
    TurnCompleted,
    /// The turn failed.
    TurnFailed {
        /// Why.
        message: String,
    },
    /// A call was put off; it was not executed.
    ToolCallDeferred {
        /// The call.
        call: ToolCall,
        /// The hook's reason.
        reason: String,
    },
    /// Something an extension or a part of the host wants observers to know.
    Custom {
        /// Whose.
        source: String,
        /// What.
        label: String,
        /// Anything.
        data: Value,
    },
}

impl TurnEvent {
    /// What an extension reports, as a line for programs and for components that watch:
    /// `{"type": "extension_event", "extension": …, "label": …, "data": …}`. `None` for every other event.
    pub fn extension_line(&self) -> Option<Value> {
        match self {
            Self::Custom { source, label, data } => {
                Some(json!({ "type": "extension_event", "extension": source, "label": label, "data": data }))
            }
            _ => None,
        }
    }

    /// The event of an answer.
    pub fn response(message: AssistantMessage) -> Self {
        let usage = Some(message.usage.clone()).filter(|usage| *usage != Usage::default());
        let reasoning_summary = message.reasoning();
        Self::ModelResponseReceived {
            message: Arc::new(Message::Assistant(message)),
            usage,
            reasoning_summary,
        }
    }
}

impl fmt::Display for TurnEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TurnStarted => f.write_str("TurnStarted"),
            Self::ToolCallPending { call } => write!(f, "ToolCallPending({})", call.id),
            Self::ToolCallResult { call, is_error, .. } => {
                write!(f, "ToolCallResult({}, is_error={is_error})", call.id)
            }
            Self::ModelResponseReceived { .. } => f.write_str("ModelResponseReceived"),
            Self::SessionRedirect { from, to, .. } => write!(f, "SessionRedirect({from}, {to})"),
            Self::TurnCompleted => f.write_str("TurnCompleted"),
            Self::TurnFailed { message } => write!(f, "TurnFailed({message})"),
            Self::ToolCallDeferred { call, reason } => {
                write!(f, "ToolCallDeferred({}, {reason})", call.id)
            }
            Self::Custom { source, label, .. } => write!(f, "Custom({source}, {label})"),
        }
    }
}

/// Watches turns. It runs beside the turn, not in it: however slow it is or however it fails, no turn notices.
#[async_trait]
pub trait ObserverPort: Send + Sync {
    /// Takes one event. Events come in order, one at a time; an observer that is slower than the turn for long misses
    /// some, which is counted.
    async fn on_event(&self, event: &TurnEvent);

    /// Takes one event of what a screen shows, in one order with the others. What grows and is replaced is left out
    /// ([`AgentEvent::MessageUpdate`], [`AgentEvent::ToolExecutionUpdate`]): it comes many times a second, and the end
    /// holds all of it.
    async fn on_agent_event(&self, _event: &AgentEvent) {}

    /// Whether [`ObserverPort::on_agent_event`] is to be called at all; asked once, when the observer is added.
    fn watches_agent_events(&self) -> bool {
        false
    }
}

/// Takes turn events from parts of the host that are not the loop itself: an extension that reports something of its own.
pub trait TurnEventSink: Send + Sync {
    /// Hands the event to whoever watches, and returns at once.
    fn tell(&self, event: TurnEvent);
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopObserver;

#[async_trait]
impl ObserverPort for NoopObserver {
    async fn on_event(&self, _event: &TurnEvent) {}
}
