//! What a session is made of: entries, and what they say to a person and to a model.
//!
//! The forms are those of version 3 of pi's session files. Whoever keeps sessions writes them; the agent adds them and
//! reads them back; what a model is told of an entry is decided here, once for all.

use crate::message::{Content, CustomMessage, Message};
use crate::session::EntryId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

pub mod context;

pub use context::SessionContext;

/// One entry of a session: who it is, where it hangs, when it was made, what it says. Never changed once it is there.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Unique in its session.
    pub id: EntryId,
    /// The entry before it, as written; it need not exist.
    pub parent_id: Option<EntryId>,
    /// When it was made, ISO 8601. Never used for order: clocks jump, positions do not (J15).
    pub timestamp: String,
    /// What it says.
    pub kind: EntryKind,
}

impl Entry {
    /// The message, when it is one that people and models know: of the user, the model or a tool, or a custom one.
    pub fn message(&self) -> Option<Arc<Message>> {
        match &self.kind {
            EntryKind::Message(MessageEntry { message: MessageBody::Known(message) }) => {
                Some(message.clone())
            }
            EntryKind::CustomMessage(custom) => Some(Arc::new(Message::Custom(CustomMessage {
                custom_type: custom.custom_type.clone(),
                content: custom.content.pieces(),
                display: custom.display,
                details: custom.details.clone(),
                timestamp: self.at_ms(),
            }))),
            EntryKind::Message(MessageEntry { message: MessageBody::Bash(_) | MessageBody::Other(_) })
            | EntryKind::ModelChange(_)
            | EntryKind::ThinkingLevelChange(_)
            | EntryKind::Compaction(_)
            | EntryKind::BranchSummary(_)
            | EntryKind::Custom(_)
            | EntryKind::Label(_)
            | EntryKind::SessionInfo(_)
            | EntryKind::Unknown(_) => None,
        }
    }

    /// When it was made, in milliseconds since the Unix epoch; zero when the text is no time, because nothing depends on
    /// it.
    pub fn at_ms(&self) -> u64 {
        let time = humantime::parse_rfc3339_weak(&self.timestamp).ok();
        let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since.and_then(|since| u64::try_from(since.as_millis()).ok()).unwrap_or_default()
    }
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EntryKind {
    /// Something that was said.
    Message(MessageEntry),
    /// From here on another model answers.
    ModelChange(ModelChange),
    /// From here on the model thinks more or less.
    ThinkingLevelChange(ThinkingLevelChange),
    /// Everything before some entry is represented by a summary.
    Compaction(Compaction),
    /// What happened on a branch that was left.
    BranchSummary(BranchSummary),
    /// An extension's private record; no model ever sees it.
    Custom(Custom),
    /// An extension's contribution to the conversation; the model sees it as a user message.
    CustomMessage(CustomMessageEntry),
    /// A bookmark on another entry.
    Label(Label),
    /// Facts about the session itself.
    SessionInfo(SessionInfo),
    /// An entry of a type, or with fields, that this version does not know: the whole object.
    Unknown(Value),
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageEntry {
    /// The message.
    pub message: MessageBody,
}

/// A message, understood or not.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MessageBody {
    /// One of the roles that go to a model.
    Known(Arc<Message>),
    /// A shell command that the user ran beside the conversation.
    Bash(BashExecution),
    /// Another role, or content of a kind that is not known.
    Other(Value),
}

/// A shell command that the user ran beside the conversation, and what it printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename = "bashExecution", rename_all = "camelCase")]
pub struct BashExecution {
    /// The command line.
    pub command: String,
    /// What it printed, as far as it is kept here.
    pub output: String,
    /// Its exit code; absent when it was cancelled or ended by a signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The user ended it.
    pub cancelled: bool,
    /// `output` is not all of it.
    pub truncated: bool,
    /// The file with all of the output, where one was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_output_path: Option<String>,
    /// The user does not want the model to see it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclude_from_context: bool,
    /// Milliseconds since the Unix epoch.
    #[serde(default)]
    pub timestamp: u64,
}

/// From here on another model answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelChange {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The model's id at the provider.
    pub model_id: String,
}

/// From here on the model thinks more or less.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThinkingLevelChange {
    /// The level's name, kept as text because newer programs know more levels.
    pub thinking_level: String,
}

/// Everything before some entry is represented by a summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// The summary.
    pub summary: String,
    /// The first entry that is still shown as it is. Where nothing of what was before is kept, this entry names itself;
    /// whoever appends it and does not know its id yet leaves this empty ([`Compaction::keeps_nothing`]).
    pub first_kept_entry_id: EntryId,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// What the summariser wants to know next time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// True when an extension wrote the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_hook: Option<bool>,
    /// What stands in the place of the summary where an extension wrote messages of its own. Programs that do not know
    /// this field show the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Message>>,
}

impl Compaction {
    /// What stands in [`Compaction::first_kept_entry_id`] of an entry that is yet to be appended and keeps nothing of what
    /// was before.
    pub fn keeps_nothing() -> EntryId {
        EntryId::new("")
    }
}

/// What happened on a branch that was left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchSummary {
    /// The entry that the conversation came from, or `root`.
    pub from_id: String,
    /// The summary.
    pub summary: String,
    /// What the summariser wants to know next time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// True when an extension wrote the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_hook: Option<bool>,
}

/// An extension's private record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Custom {
    /// The extension's name for this kind of record.
    pub custom_type: String,
    /// The record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// An extension's contribution to the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomMessageEntry {
    /// The extension's name for this kind of message.
    pub custom_type: String,
    /// What the model sees.
    pub content: TextOrPieces,
    /// False when screens should not show it; the model sees it anyway.
    pub display: bool,
    /// For screens; never sent to a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// Content in either of the two forms that the format allows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TextOrPieces {
    /// A bare string.
    Text(String),
    /// Text and images.
    Pieces(Vec<Content>),
}

impl TextOrPieces {
    /// The pieces; a bare string is one of them.
    pub fn pieces(&self) -> Vec<Content> {
        match self {
            Self::Text(text) => vec![Content::text(text)],
            Self::Pieces(pieces) => pieces.clone(),
        }
    }
}

/// A bookmark on another entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Label {
    /// The marked entry.
    pub target_id: EntryId,
    /// The text; absent removes the bookmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Facts about the session itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// What the user calls the session; absent removes the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl EntryKind {
    /// A message entry; for a custom message, the entry type that the format has for them.
    pub fn message(message: Arc<Message>) -> Self {
        match message.as_ref() {
            Message::Custom(custom) => Self::CustomMessage(CustomMessageEntry {
                custom_type: custom.custom_type.clone(),
                content: TextOrPieces::Pieces(custom.content.clone()),
                display: custom.display,
                details: custom.details.clone(),
            }),
            Message::User(_) | Message::Assistant(_) | Message::ToolResult(_) => {
                Self::Message(MessageEntry { message: MessageBody::Known(message) })
            }
        }
    }

    /// The name in the `type` field.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Message(_) => "message",
            Self::ModelChange(_) => "model_change",
            Self::ThinkingLevelChange(_) => "thinking_level_change",
            Self::Compaction(_) => "compaction",
            Self::BranchSummary(_) => "branch_summary",
            Self::Custom(_) => "custom",
            Self::CustomMessage(_) => "custom_message",
            Self::Label(_) => "label",
            Self::SessionInfo(_) => "session_info",
            Self::Unknown(object) => object.get("type").and_then(Value::as_str).unwrap_or_default(),
        }
    }
}
