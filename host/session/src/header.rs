//! The first line of a session file, and where the file lies.

use crate::error::LineError;
use capstan_ports::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use uuid::Uuid;

/// The format version that is written, and the newest that is continued.
pub const VERSION: u64 = 3;

/// Longest folder name in bytes that is used for a working directory. File systems stop at 255; the symptom beyond it
/// would be that no session could be started in a deep directory.
const MAX_FOLDER_BYTES: usize = 240;

/// The first line of a session file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    #[serde(rename = "type")]
    tag: Tag,
    /// The format version. Files of the first version do not say it.
    #[serde(default = "first_version")]
    pub version: u64,
    /// Which session.
    pub id: SessionId,
    /// When it began, ISO 8601 in UTC with milliseconds.
    #[serde(default)]
    pub timestamp: String,
    /// The directory that the session works in, as text.
    #[serde(default)]
    pub cwd: String,
    /// The file of the session that this one was split off from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Makes the `type` field part of what a header is, so that no other object is taken for one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Tag {
    #[serde(rename = "session")]
    Session,
}

fn first_version() -> u64 {
    1
}

impl Header {
    /// A header of a new session that works in `cwd`.
    pub fn new(cwd: &Path) -> Self {
        Self {
            tag: Tag::Session,
            version: VERSION,
            id: SessionId::new(Uuid::now_v7().to_string()),
            timestamp: timestamp_now(),
            cwd: cwd.to_string_lossy().into_owned(),
            parent_session: None,
            extra: Map::new(),
        }
    }

    /// Reads the first line of a file.
    ///
    /// # Errors
    /// When the line is no object of type `session` with an id.
    pub fn parse(line: &[u8]) -> Result<Self, LineError> {
        let text = std::str::from_utf8(line).map_err(LineError::Utf8)?;
        // Serde would also fill the fields from an array.
        if !text.trim_start().starts_with('{') {
            return Err(LineError::NotAnObject);
        }
        serde_json::from_str(text).map_err(LineError::Json)
    }

    /// The line, without its end.
    ///
    /// # Errors
    /// When serialising fails.
    pub fn to_line(&self) -> Result<String, LineError> {
        serde_json::to_string(self).map_err(LineError::Json)
    }

    /// The name of the session's file.
    pub fn file_name(&self) -> String {
        format!("{}_{}.jsonl", self.timestamp.replace([':', '.'], "-"), self.id)
    }
}

/// The name of the folder that holds the sessions of one working directory.
///
/// Two directories can share a folder (`/a/b` and `/a-b`), so whoever looks for a session compares [`Header::cwd`] too.
pub fn folder_name(cwd: &Path) -> String {
    let text = cwd.to_string_lossy();
    let relative = text.strip_prefix(['/', '\\']).unwrap_or(&text);
    let mut flat = relative.replace(['/', '\\', ':'], "-");
    if flat.len() > MAX_FOLDER_BYTES {
        let from = (flat.len() - MAX_FOLDER_BYTES..flat.len()).find(|at| flat.is_char_boundary(*at));
        flat = flat.split_off(from.unwrap_or(flat.len()));
    }
    format!("--{flat}--")
}

/// Now, ISO 8601 in UTC with milliseconds.
pub(crate) fn timestamp_now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

/// The form of a time in a file. `None` for times after the year 9999, which have none.
pub(crate) fn timestamp_at(since_epoch_ms: u64) -> Option<String> {
    const END_OF_9999_MS: u64 = 253_402_300_799_999;
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(since_epoch_ms))?;
    (since_epoch_ms <= END_OF_9999_MS).then(|| humantime::format_rfc3339_millis(time).to_string())
}

#[cfg(test)]
#[path = "header_tests.rs"]
mod tests;
