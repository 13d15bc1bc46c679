//! One entry of a session and its line.
//!
//! The typed view exists for what this version understands. What it does not understand is not lost: an entry of an
//! unknown type keeps its JSON, and an entry whose line has anything that the typed view would not write again (unknown
//! fields, another spelling of a number) keeps that line and is written as it was read.

use crate::error::LineError;
use crate::header::{millis_of, timestamp_at, timestamp_now};
use crate::mend;
use capstan_ports::{Content, EntryId, Message, message};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// One entry: who it is, where it hangs, when it was made, what it says.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    id: EntryId,
    parent_id: Option<EntryId>,
    timestamp: String,
    kind: EntryKind,
    /// The line as it was read, present only when the typed view would write another one.
    raw: Option<Box<str>>,
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
    CustomMessage(CustomMessage),
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
    /// Another role (pi stores shell commands and summaries that way) or content of a kind that is not known.
    Other(Value),
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
    /// The first entry that is still shown as it is.
    pub first_kept_entry_id: EntryId,
    /// Tokens of the context before.
    pub tokens_before: u64,
    /// What the summariser wants to know next time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// True when an extension wrote the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_hook: Option<bool>,
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
pub struct CustomMessage {
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
            Message::Custom(custom) => Self::CustomMessage(CustomMessage {
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

    /// Reads the fields of one type. `None` when the type or its fields are not known.
    fn parse(type_name: &str, text: &str) -> Option<Self> {
        fn fields<T: DeserializeOwned>(text: &str, kind: impl FnOnce(T) -> EntryKind) -> Option<EntryKind> {
            // The reason is of no use: what does not fit is kept as it is.
            serde_json::from_str(text).ok().map(kind)
        }
        #[derive(Deserialize)]
        struct Said<M> {
            message: M,
        }
        match type_name {
            "message" => {
                fields(text, |said: Said<Message>| Self::message(Arc::new(said.message))).or_else(|| {
                    fields(text, |said: Said<Value>| {
                        Self::Message(MessageEntry { message: MessageBody::Other(said.message) })
                    })
                })
            }
            "model_change" => fields(text, Self::ModelChange),
            "thinking_level_change" => fields(text, Self::ThinkingLevelChange),
            "compaction" => fields(text, Self::Compaction),
            "branch_summary" => fields(text, Self::BranchSummary),
            "custom" => fields(text, Self::Custom),
            "custom_message" => fields(text, Self::CustomMessage),
            "label" => fields(text, Self::Label),
            "session_info" => fields(text, Self::SessionInfo),
            _ => None,
        }
    }
}

/// What every entry has.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    #[serde(rename = "type")]
    type_name: String,
    id: EntryId,
    parent_id: Option<EntryId>,
    #[serde(default)]
    timestamp: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type")]
    type_name: &'a str,
    id: &'a EntryId,
    parent_id: Option<&'a EntryId>,
    timestamp: &'a str,
    #[serde(flatten)]
    kind: &'a EntryKind,
}

impl Entry {
    /// A new entry, made now.
    pub fn new(id: EntryId, parent_id: Option<EntryId>, kind: EntryKind) -> Self {
        Self { id, parent_id, timestamp: timestamp_now(), kind, raw: None }
    }

    /// The entry of a message. A custom message has no time of its own in the file, so its entry gets that.
    pub(crate) fn of_message(id: EntryId, parent_id: Option<EntryId>, message: Arc<Message>) -> Self {
        let timestamp = match message.as_ref() {
            Message::Custom(custom) => timestamp_at(custom.timestamp),
            Message::User(_) | Message::Assistant(_) | Message::ToolResult(_) => None,
        };
        let entry = Self::new(id, parent_id, EntryKind::message(message));
        Self { timestamp: timestamp.unwrap_or(entry.timestamp), ..entry }
    }

    /// Reads a line, with or without its end.
    ///
    /// # Errors
    /// When the line is no JSON object with a `type` and an `id`.
    pub fn parse(line: &[u8]) -> Result<Self, LineError> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let text = std::str::from_utf8(line).map_err(LineError::Utf8)?;
        // Serde would also fill the fields from an array.
        if !text.trim_start().starts_with('{') {
            return Err(LineError::NotAnObject);
        }
        let mut entry = match Self::parse_text(text) {
            Ok(entry) => entry,
            Err(error) => match mend::without_lone_surrogates(text) {
                Some(mended) => Self::parse_text(&mended).map_err(LineError::Json)?,
                None => return Err(LineError::Json(error)),
            },
        };
        if entry.to_line()? != text {
            entry.raw = Some(text.into());
        }
        Ok(entry)
    }

    fn parse_text(text: &str) -> Result<Self, serde_json::Error> {
        let Envelope { type_name, id, parent_id, timestamp } = serde_json::from_str(text)?;
        let kind = match EntryKind::parse(&type_name, text) {
            Some(kind) => kind,
            None => EntryKind::Unknown(serde_json::from_str(text)?),
        };
        Ok(Self { id, parent_id, timestamp, kind, raw: None })
    }

    /// The line, without its end. Never contains a line break.
    ///
    /// # Errors
    /// When serialising fails.
    pub fn to_line(&self) -> Result<String, LineError> {
        if let Some(raw) = &self.raw {
            return Ok(raw.to_string());
        }
        if let EntryKind::Unknown(object) = &self.kind {
            return serde_json::to_string(object).map_err(LineError::Json);
        }
        let line = Line {
            type_name: self.kind.type_name(),
            id: &self.id,
            parent_id: self.parent_id.as_ref(),
            timestamp: &self.timestamp,
            kind: &self.kind,
        };
        serde_json::to_string(&line).map_err(LineError::Json)
    }

    /// The same entry after another parent; everything else stays as it was read.
    pub(crate) fn reparented(&self, parent_id: Option<EntryId>) -> Result<Self, LineError> {
        let mut line: Value = {
            let line = self.to_line()?;
            let text = mend::without_lone_surrogates(&line).unwrap_or(line);
            serde_json::from_str(&text).map_err(LineError::Json)?
        };
        line["parentId"] = parent_id.map_or(Value::Null, |id| Value::from(id.as_str()));
        Self::parse(line.to_string().as_bytes())
    }

    /// Unique in its session.
    pub fn id(&self) -> &EntryId {
        &self.id
    }

    /// The entry before it, as written; it need not exist.
    pub fn parent_id(&self) -> Option<&EntryId> {
        self.parent_id.as_ref()
    }

    /// When it was made, ISO 8601. Never used for order: clocks jump, positions do not (J15).
    pub fn timestamp(&self) -> &str {
        &self.timestamp
    }

    /// What it says.
    pub fn kind(&self) -> &EntryKind {
        &self.kind
    }

    /// The message, when it is one that can go to a model.
    pub fn message(&self) -> Option<Arc<Message>> {
        match &self.kind {
            EntryKind::Message(MessageEntry { message: MessageBody::Known(message) }) => {
                Some(message.clone())
            }
            EntryKind::CustomMessage(custom) => Some(Arc::new(Message::Custom(message::CustomMessage {
                custom_type: custom.custom_type.clone(),
                content: custom.content.pieces(),
                display: custom.display,
                details: custom.details.clone(),
                timestamp: millis_of(&self.timestamp),
            }))),
            EntryKind::Message(MessageEntry { message: MessageBody::Other(_) })
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
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
