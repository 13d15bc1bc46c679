//! What a screen, a log or a program sees of a run: the ten events of seed 000, and what becomes of a
//! conversation that is too long, in pi's JSON form.

use crate::message::{AssistantMessage, Content, Message, ToolCall, ToolResultMessage};
use crate::session::EntryId;
use crate::tool::ToolOutcome;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// One event of a run.
///
/// `TurnStart` and `TurnEnd` keep the names of seed 000 and pi although they bracket one *round*: a model call and the
/// tool calls it asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AgentEvent {
    /// The first event of a run, exactly once.
    AgentStart,
    /// The last event of a run, exactly once.
    AgentEnd {
        /// What this run added to the transcript.
        messages: Vec<Arc<Message>>,
    },
    /// A round begins.
    TurnStart,
    /// A round is over.
    TurnEnd {
        /// The assistant's message of the round.
        message: Arc<Message>,
        /// Its results in source order.
        tool_results: Vec<Arc<Message>>,
    },
    /// A message begins: a prompt, a queued message, an answer or a tool result.
    MessageStart {
        /// The message, for an answer as far as it is known.
        message: Arc<Message>,
    },
    /// The model wrote something more.
    MessageUpdate {
        /// The answer so far.
        message: Arc<Message>,
        /// What changed.
        assistant_message_event: AssistantEvent,
    },
    /// A message is complete.
    MessageEnd {
        /// The whole message.
        message: Arc<Message>,
    },
    /// A call was taken up; it is not yet validated or allowed.
    ToolExecutionStart {
        /// The call's id.
        tool_call_id: String,
        /// The tool's name as the model wrote it.
        tool_name: String,
        /// The arguments as the model wrote them.
        args: Value,
    },
    /// A partial result.
    ToolExecutionUpdate {
        /// The call's id.
        tool_call_id: String,
        /// The tool's name.
        tool_name: String,
        /// The arguments as the model wrote them.
        args: Value,
        /// Replaces earlier partial results of this call.
        partial_result: ToolOutcome,
    },
    /// The conversation is being shortened; the session takes no prompt until its end, but keeps those that come.
    CompactionStart {
        /// Why.
        reason: CompactionReason,
    },
    /// The conversation was shortened, or was not.
    CompactionEnd {
        /// Why it was tried.
        reason: CompactionReason,
        /// What came of it; absent when nothing was changed.
        result: Option<CompactionResult>,
        /// Somebody ended it.
        aborted: bool,
        /// The request that did not fit is made again.
        will_retry: bool,
        /// Why nothing was changed, if something failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_message: Option<String>,
    },
    /// A call is over, also a blocked, unknown, invalid or aborted one.
    ToolExecutionEnd {
        /// The call's id.
        tool_call_id: String,
        /// The tool's name.
        tool_name: String,
        /// What the model will read, and details.
        result: ToolOutcome,
        /// True when it failed.
        is_error: bool,
    },
}

/// Why a conversation is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    /// A person asked for it.
    Manual,
    /// It has grown so far that the answer might not fit.
    Threshold,
    /// The provider refused it as too long.
    Overflow,
}

/// What a compaction came to, as its entry in the session says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionResult {
    /// What stands for everything that is no longer shown to the model.
    pub summary: String,
    /// The first entry that is still shown as it is; absent where no session is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_kept_entry_id: Option<EntryId>,
    /// Tokens of the context before, as far as they are known.
    pub tokens_before: u64,
    /// What the summariser wants to know next time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// What changed in an answer. `content_index` counts the pieces of the message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum AssistantEvent {
    /// A text piece begins.
    TextStart {
        /// Which piece.
        content_index: usize,
    },
    /// More text.
    TextDelta {
        /// Which piece.
        content_index: usize,
        /// The new characters.
        delta: String,
    },
    /// A text piece is complete.
    TextEnd {
        /// Which piece.
        content_index: usize,
        /// All of it.
        content: String,
    },
    /// A thinking piece begins.
    ThinkingStart {
        /// Which piece.
        content_index: usize,
    },
    /// More thinking.
    ThinkingDelta {
        /// Which piece.
        content_index: usize,
        /// The new characters.
        delta: String,
    },
    /// A thinking piece is complete.
    ThinkingEnd {
        /// Which piece.
        content_index: usize,
        /// All of it.
        content: String,
        /// The provider's proof of origin.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
        /// True when `signature` holds encrypted reasoning and `content` is empty.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        redacted: bool,
    },
    /// A tool call begins.
    #[serde(rename = "toolcall_start")]
    ToolCallStart {
        /// Which piece.
        content_index: usize,
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// More of the arguments' JSON text.
    #[serde(rename = "toolcall_delta")]
    ToolCallDelta {
        /// Which piece.
        content_index: usize,
        /// The new characters.
        delta: String,
    },
    /// A tool call is complete.
    #[serde(rename = "toolcall_end")]
    ToolCallEnd {
        /// Which piece.
        content_index: usize,
        /// The call with its parsed arguments.
        tool_call: ToolCall,
    },
}

impl AssistantMessage {
    /// Folds one event into the answer so far.
    ///
    /// Providers and subscribers use this same function, so that folding the events gives the final content exactly.
    /// An event that does not fit the pieces so far is ignored.
    pub fn apply(&mut self, event: &AssistantEvent) {
        match event {
            AssistantEvent::TextStart { content_index } => {
                self.open(*content_index, Content::text(""));
            }
            AssistantEvent::TextDelta { content_index, delta } => {
                if let Some(Content::Text { text }) = self.content.get_mut(*content_index) {
                    text.push_str(delta);
                }
            }
            AssistantEvent::TextEnd { content_index, content } => {
                if let Some(Content::Text { text }) = self.content.get_mut(*content_index) {
                    text.clone_from(content);
                }
            }
            AssistantEvent::ThinkingStart { content_index } => self.open(
                *content_index,
                Content::Thinking { thinking: String::new(), thinking_signature: None, redacted: false },
            ),
            AssistantEvent::ThinkingDelta { content_index, delta } => {
                if let Some(Content::Thinking { thinking, .. }) = self.content.get_mut(*content_index) {
                    thinking.push_str(delta);
                }
            }
            AssistantEvent::ThinkingEnd { content_index, content, signature, redacted } => {
                if let Some(piece @ Content::Thinking { .. }) = self.content.get_mut(*content_index) {
                    *piece = Content::Thinking {
                        thinking: content.clone(),
                        thinking_signature: signature.clone(),
                        redacted: *redacted,
                    };
                }
            }
            AssistantEvent::ToolCallStart { content_index, id, name } => self.open(
                *content_index,
                Content::ToolCall(ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: Value::Object(serde_json::Map::new()),
                    malformed: None,
                }),
            ),
            // The text of half an argument object means nothing; the finished call brings the value.
            AssistantEvent::ToolCallDelta { .. } => {}
            AssistantEvent::ToolCallEnd { content_index, tool_call } => {
                if let Some(piece @ Content::ToolCall(_)) = self.content.get_mut(*content_index) {
                    *piece = Content::ToolCall(tool_call.clone());
                }
            }
        }
    }

    fn open(&mut self, index: usize, piece: Content) {
        if index == self.content.len() {
            self.content.push(piece);
        }
    }
}

/// Receives events. The loop waits for each call, so a sink that must not delay the run hands the event on and returns.
#[async_trait]
pub trait EventSink: Send + Sync {
    /// Takes one event. There is nothing to report back: a sink that fails deals with it itself.
    async fn emit(&self, event: AgentEvent);

    /// Whether anyone looks at [`AgentEvent::MessageUpdate`]; false saves a copy of the answer for each delta.
    fn wants_updates(&self) -> bool {
        true
    }
}

/// Drops every event.
pub struct NoEvents;

#[async_trait]
impl EventSink for NoEvents {
    async fn emit(&self, _event: AgentEvent) {}

    fn wants_updates(&self) -> bool {
        false
    }
}

impl From<ToolResultMessage> for Message {
    fn from(message: ToolResultMessage) -> Self {
        Self::ToolResult(message)
    }
}

impl From<AssistantMessage> for Message {
    fn from(message: AssistantMessage) -> Self {
        Self::Assistant(message)
    }
}
