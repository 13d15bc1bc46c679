//! One entry of a session and its line.
//!
//! The typed view exists for what this version understands. What it does not understand is not lost: an entry of an
//! unknown type keeps its JSON, and an entry whose line has anything that the typed view would not write again (unknown
//! fields, another spelling of a number) keeps that line and is written as it was read.

use crate::error::LineError;
use crate::header::{timestamp_at, timestamp_now};
use crate::mend;
use capstan_ports::entry::{BashExecution, Entry, EntryKind, MessageBody, MessageEntry};
use capstan_ports::{EntryId, Message};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// An entry as it is kept in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEntry {
    entry: Arc<Entry>,
    /// The line as it was read, present only when the typed view would write another one.
    raw: Option<Box<str>>,
}

/// Reads the fields of one type. `None` when the type or its fields are not known.
fn parse_kind(type_name: &str, text: &str) -> Option<EntryKind> {
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
            let body = |message| EntryKind::Message(MessageEntry { message });
            fields(text, |said: Said<Message>| EntryKind::message(Arc::new(said.message)))
                .or_else(|| fields(text, |said: Said<BashExecution>| body(MessageBody::Bash(said.message))))
                .or_else(|| fields(text, |said: Said<Value>| body(MessageBody::Other(said.message))))
        }
        "model_change" => fields(text, EntryKind::ModelChange),
        "thinking_level_change" => fields(text, EntryKind::ThinkingLevelChange),
        "compaction" => fields(text, EntryKind::Compaction),
        "branch_summary" => fields(text, EntryKind::BranchSummary),
        "custom" => fields(text, EntryKind::Custom),
        "custom_message" => fields(text, EntryKind::CustomMessage),
        "label" => fields(text, EntryKind::Label),
        "session_info" => fields(text, EntryKind::SessionInfo),
        _ => None,
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

impl StoredEntry {
    /// A new entry, made now. A custom message has no time of its own in the file, so its entry gets `at_ms`.
    pub(crate) fn new(id: EntryId, parent_id: Option<EntryId>, kind: EntryKind, at_ms: Option<u64>) -> Self {
        let timestamp = at_ms.and_then(timestamp_at).unwrap_or_else(timestamp_now);
        Self { entry: Arc::new(Entry { id, parent_id, timestamp, kind }), raw: None }
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
        let entry = match parse_text(text) {
            Ok(entry) => entry,
            Err(error) => match mend::without_lone_surrogates(text) {
                Some(mended) => parse_text(&mended).map_err(LineError::Json)?,
                None => return Err(LineError::Json(error)),
            },
        };
        let mut stored = Self { entry: Arc::new(entry), raw: None };
        if stored.to_line()? != text {
            stored.raw = Some(text.into());
        }
        Ok(stored)
    }

    /// The line, without its end. Never contains a line break.
    ///
    /// # Errors
    /// When serialising fails.
    pub fn to_line(&self) -> Result<String, LineError> {
        if let Some(raw) = &self.raw {
            return Ok(raw.to_string());
        }
        let Entry { id, parent_id, timestamp, kind } = self.entry.as_ref();
        if let EntryKind::Unknown(object) = kind {
            return serde_json::to_string(object).map_err(LineError::Json);
        }
        let line = Line { type_name: kind.type_name(), id, parent_id: parent_id.as_ref(), timestamp, kind };
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

    /// What the line says.
    pub fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }
}

fn parse_text(text: &str) -> Result<Entry, serde_json::Error> {
    let Envelope { type_name, id, parent_id, timestamp } = serde_json::from_str(text)?;
    let kind = match parse_kind(&type_name, text) {
        Some(kind) => kind,
        None => EntryKind::Unknown(serde_json::from_str(text)?),
    };
    Ok(Entry { id, parent_id, timestamp, kind })
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
