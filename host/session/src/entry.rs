//! One entry of a session and its line.
//!
//! The typed view exists for what this version understands. What it does not understand is not lost: an entry of an
//! unknown type keeps its JSON, and an entry that came from a file is copied as the line that it has there, byte for byte,
//! so that unknown fields and another spelling of a number survive. The line itself is not kept in memory: where it lies is
//! known, and the file stays open.

use crate::disk::{Disk, read_exactly};
use crate::error::LineError;
use crate::header::{timestamp_at, timestamp_now};
use crate::mend;
use crate::quick;
use capstan_ports::entry::{BashExecution, Entry, EntryKind, MessageBody, MessageEntry};
use capstan_ports::{EntryId, Message};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::io;
use std::sync::Arc;

/// An entry as it is kept in a file.
#[derive(Debug, Clone)]
pub struct StoredEntry {
    entry: Arc<Entry>,
    line: Line,
}

/// Where the line of an entry is.
#[derive(Debug, Clone)]
enum Line {
    /// What the typed view writes: the entry was made here.
    Typed,
    /// Kept beside the entry, because no file has it in this form.
    Text(Box<str>),
    InFile(Place),
}

/// A line of an open file. It can be read as long as the file is open, also when the file has no name any more.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) disk: Arc<dyn Disk>,
    /// Where the line begins.
    pub(crate) offset: u64,
    /// Without its end.
    pub(crate) n_bytes: usize,
}

/// Where a line that is to be copied came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is the line that was read or made.
    AsItWas,
    /// The line cannot be read any more, or is another one now; this is what is known of the entry.
    FromMemory,
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
    // Beside the fields, the role has to be the one that has them.
    #[derive(Deserialize)]
    #[serde(try_from = "Value")]
    struct Bash(BashExecution);
    impl TryFrom<Value> for Bash {
        type Error = serde_json::Error;

        fn try_from(message: Value) -> Result<Self, Self::Error> {
            if message.get("role").and_then(Value::as_str) != Some("bashExecution") {
                return Err(serde::de::Error::custom("the role is another one"));
            }
            serde_json::from_value(message).map(Self)
        }
    }
    match type_name {
        "message" => {
            let body = |message| EntryKind::Message(MessageEntry { message });
            fields(text, |said: Said<Message>| EntryKind::message(Arc::new(said.message)))
                .or_else(|| fields(text, |said: Said<Bash>| body(MessageBody::Bash(said.message.0))))
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
struct Written<'a> {
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
        Self { entry: Arc::new(Entry { id, parent_id, timestamp, kind }), line: Line::Typed }
    }

    /// An entry that was read from a file.
    pub(crate) fn read_at(entry: Entry, place: Place) -> Self {
        Self { entry: Arc::new(entry), line: Line::InFile(place) }
    }

    /// The same entry as part of another file.
    pub(crate) fn moved_to(self, place: Place) -> Self {
        Self { entry: self.entry, line: Line::InFile(place) }
    }

    /// Reads a line, with or without its end, and keeps it.
    ///
    /// # Errors
    /// When the line is no JSON object with a `type` and an `id`.
    pub fn parse(line: &[u8]) -> Result<Self, LineError> {
        let text = text_of(line)?;
        let entry = parse_text(text)?;
        Ok(Self { entry: Arc::new(entry), line: Line::Text(text.into()) })
    }

    /// The line, without its end. Never contains a line break.
    ///
    /// # Errors
    /// When serialising fails.
    pub fn to_line(&self) -> Result<String, LineError> {
        self.line().map(|(line, _)| line)
    }

    /// The same, and whether it is the line that the entry had.
    pub(crate) fn line(&self) -> Result<(String, Origin), LineError> {
        match &self.line {
            Line::Typed => Ok((self.typed_line()?, Origin::AsItWas)),
            Line::Text(text) => Ok((text.to_string(), Origin::AsItWas)),
            // Another program may have cut the file and written something else to the same place.
            Line::InFile(place) => match place.read() {
                Ok(text) if parse_text(&text).is_ok_and(|entry| entry == *self.entry) => {
                    Ok((text, Origin::AsItWas))
                }
                Ok(_) => Ok((self.typed_line()?, Origin::FromMemory)),
                Err(error) => {
                    tracing::warn!(entry = %self.entry.id, %error, "a line cannot be read any more");
                    Ok((self.typed_line()?, Origin::FromMemory))
                }
            },
        }
    }

    fn typed_line(&self) -> Result<String, LineError> {
        let Entry { id, parent_id, timestamp, kind } = self.entry.as_ref();
        if let EntryKind::Unknown(object) = kind {
            return serde_json::to_string(object).map_err(LineError::Json);
        }
        let written =
            Written { type_name: kind.type_name(), id, parent_id: parent_id.as_ref(), timestamp, kind };
        serde_json::to_string(&written).map_err(LineError::Json)
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

impl Place {
    fn read(&self) -> io::Result<String> {
        let mut line = vec![0; self.n_bytes];
        read_exactly(self.disk.as_ref(), &mut line, self.offset)?;
        String::from_utf8(line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {}", self.n_bytes, self.offset)
    }
}

/// Reads an entry from its line, given with or without its end.
pub(crate) fn read_entry(line: &[u8]) -> Result<Entry, LineError> {
    parse_text(text_of(line)?)
}

/// The text of a line, without its end.
pub(crate) fn text_of(line: &[u8]) -> Result<&str, LineError> {
    std::str::from_utf8(line.strip_suffix(b"\n").unwrap_or(line)).map_err(LineError::Utf8)
}

fn parse_text(text: &str) -> Result<Entry, LineError> {
    if let Some(entry) = quick::message_entry(text) {
        return Ok(entry);
    }
    // Serde would also fill the fields from an array.
    if !text.trim_start().starts_with('{') {
        return Err(LineError::NotAnObject);
    }
    parse_object(text).or_else(|error| match mend::without_lone_surrogates(text) {
        Some(mended) => parse_object(&mended).map_err(LineError::Json),
        None => Err(LineError::Json(error)),
    })
}

fn parse_object(text: &str) -> Result<Entry, serde_json::Error> {
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
