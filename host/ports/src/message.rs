//! Messages, in the JSON form of pi session files (version 3), so that sessions and event streams need no second shape.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

mod reading;

/// Milliseconds since the Unix epoch, the unit of every `timestamp` field here.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// Reasoning that the model showed. Goes back only to the provider that wrote it.
    Thinking {
        /// The reasoning, possibly empty when the provider hides it.
        thinking: String,
        /// The provider's proof of origin, required when the block is sent back.
        #[serde(skip_serializing_if = "Option::is_none")]
        thinking_signature: Option<String>,
        /// True when the provider encrypted the reasoning; then the signature holds it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        redacted: bool,
    },
    /// A picture.
    Image {
        /// Base64 of the encoded file.
        data: String,
        /// `image/png` and the like.
        mime_type: String,
    },
    /// A tool call, only in assistant messages.
    ToolCall(ToolCall),
}

impl Content {
    /// Text content.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// A tool call as the model made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id, unique in its message.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments; always an object once the call is complete.
    pub arguments: Value,
    /// What the model wrote, when that was no complete JSON object (cut off, garbled). Such a call is never executed:
    /// half of a command is not a command.
    #[serde(default, rename = "malformedArguments", skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

/// Tokens and money of one model call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Tokens read that no cache served.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// The sum as the provider gives it.
    pub total_tokens: u64,
    /// Cost in US dollars; zero where no price is known.
    pub cost: Cost,
}

/// Cost of one model call in US dollars.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cost {
    /// For `input` tokens.
    pub input: f64,
    /// For `output` tokens.
    pub output: f64,
    /// For `cache_read` tokens.
    pub cache_read: f64,
    /// For `cache_write` tokens.
    pub cache_write: f64,
    /// The sum.
    pub total: f64,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// It was done.
    #[default]
    Stop,
    /// It ran into the output limit. Its tool calls are not executed.
    Length,
    /// It wants tool results.
    ToolUse,
    /// The request failed; the message's `error_message` says how.
    Error,
    /// The run was aborted while the model spoke.
    Aborted,
}

/// An answer of the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    /// Text, thinking and tool calls in the order the model wrote them.
    #[serde(deserialize_with = "reading::pieces")]
    pub content: Vec<Content>,
    /// The wire format that was spoken, for example `anthropic-messages`.
    #[serde(default)]
    pub api: String,
    /// The provider's name in the configuration.
    #[serde(default)]
    pub provider: String,
    /// The model's id at the provider.
    #[serde(default)]
    pub model: String,
    /// Tokens and cost.
    #[serde(default)]
    pub usage: Usage,
    /// Why it stopped.
    pub stop_reason: StopReason,
    /// Set with [`StopReason::Error`] and [`StopReason::Aborted`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Milliseconds since the Unix epoch.
    #[serde(default)]
    pub timestamp: u64,
}

impl AssistantMessage {
    /// The tool calls in the order the model wrote them (000-002).
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|content| match content {
            Content::ToolCall(call) => Some(call),
            Content::Text { .. } | Content::Thinking { .. } | Content::Image { .. } => None,
        })
    }

    /// All text, pieces joined without a separator.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }

    /// The reasoning that the provider showed, pieces joined by a line break.
    pub fn reasoning(&self) -> Option<String> {
        let mut shown = self.content.iter().filter_map(|piece| match piece {
            Content::Thinking { thinking, .. } if !thinking.is_empty() => Some(thinking.as_str()),
            Content::Thinking { .. }
            | Content::Text { .. }
            | Content::Image { .. }
            | Content::ToolCall(_) => None,
        });
        let first = shown.next()?.to_owned();
        Some(shown.fold(first, |text, more| text + "\n" + more))
    }
}

/// What a tool call came to, as the transcript keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMessage {
    /// The id of the call that this answers.
    pub tool_call_id: String,
    /// The tool's name as the model wrote it.
    pub tool_name: String,
    /// What the model reads.
    #[serde(deserialize_with = "reading::pieces")]
    pub content: Vec<Content>,
    /// For programs and screens; stored, never sent to a provider (X2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// True when the call failed.
    pub is_error: bool,
    /// Milliseconds since the Unix epoch.
    #[serde(default)]
    pub timestamp: u64,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// From a person, or the program that drives the agent.
    User(UserMessage),
    /// From the model.
    Assistant(AssistantMessage),
    /// From a tool.
    ToolResult(ToolResultMessage),
    /// From an extension or the program around the agent. Models see it as a user message.
    Custom(CustomMessage),
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// Text and images. A bare string is accepted when reading (pi writes both).
    #[serde(deserialize_with = "reading::pieces_or_text")]
    pub content: Vec<Content>,
    /// Milliseconds since the Unix epoch.
    #[serde(default)]
    pub timestamp: u64,
}

/// What an extension, or the program around the agent, adds to the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomMessage {
    /// Its author's name for this kind of message.
    pub custom_type: String,
    /// What the model reads: text and images. A bare string is accepted when reading (pi writes both).
    #[serde(deserialize_with = "reading::pieces_or_text")]
    pub content: Vec<Content>,
    /// False when screens should not show it. The model sees it in any case.
    pub display: bool,
    /// For programs and screens; stored, never sent to a provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Milliseconds since the Unix epoch.
    #[serde(default)]
    pub timestamp: u64,
}

impl CustomMessage {
    /// A message of one text that screens show, stamped now.
    pub fn new(custom_type: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            custom_type: custom_type.into(),
            content: vec![Content::text(text)],
            display: true,
            details: None,
            timestamp: now_ms(),
        }
    }

    /// As a model sees it.
    pub fn to_user(&self) -> UserMessage {
        UserMessage { content: self.content.clone(), timestamp: self.timestamp }
    }
}

impl Message {
    /// A user message of one text, stamped now.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(UserMessage { content: vec![Content::text(text)], timestamp: now_ms() })
    }

    /// The pieces of the message.
    pub fn content(&self) -> &[Content] {
        match self {
            Self::User(message) => &message.content,
            Self::Assistant(message) => &message.content,
            Self::ToolResult(message) => &message.content,
            Self::Custom(message) => &message.content,
        }
    }

    /// All text, pieces joined without a separator.
    pub fn text(&self) -> String {
        text_of(self.content())
    }

    /// The role's name as it is written in JSON.
    pub fn role(&self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Assistant(_) => "assistant",
            Self::ToolResult(_) => "toolResult",
            Self::Custom(_) => "custom",
        }
    }
}

/// The text pieces of `content`, joined.
pub fn text_of(content: &[Content]) -> String {
    content
        .iter()
        .filter_map(|piece| match piece {
            Content::Text { text } => Some(text.as_str()),
            Content::Thinking { .. } | Content::Image { .. } | Content::ToolCall(_) => None,
        })
        .collect()
}
