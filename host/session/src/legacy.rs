//! Lines of the first two versions of the format, brought to the third.
//!
//! Version 1 is a list: its entries have no ids, each continues the one before it, and a compaction names the first entry
//! that it kept by its position, where the header counts as 0. Version 2 calls the role of an extension's messages
//! `hookMessage`. Ids that are missing are made from the position, so that reading a file twice gives the same ones.

use crate::entry::{StoredEntry, text_of};
use crate::error::LineError;
use crate::mend;
use serde_json::{Map, Value};

/// The oldest version whose lines have ids.
const FIRST_WITH_IDS: u64 = 2;

/// Brings the lines of one file to the current version, one after the other.
pub(crate) struct Upgrade {
    has_ids: bool,
    /// Entries so far, which is also the position of the last one.
    n_entries: u64,
}

/// A line as it was read.
pub(crate) struct OldLine {
    text: String,
    object: Map<String, Value>,
}

impl Upgrade {
    /// For a file of an older version.
    pub(crate) fn from(version: u64) -> Self {
        Self { has_ids: version >= FIRST_WITH_IDS, n_entries: 0 }
    }

    /// Reads a line. Does not depend on the lines before it.
    pub(crate) fn read(line: &[u8]) -> Result<OldLine, LineError> {
        let text = text_of(line)?;
        let text = mend::without_lone_surrogates(text).unwrap_or_else(|| text.to_owned());
        match serde_json::from_str(&text).map_err(LineError::Json)? {
            Value::Object(object) => Ok(OldLine { text, object }),
            _ => Err(LineError::NotAnObject),
        }
    }

    /// The entry of the next line.
    pub(crate) fn take(&mut self, line: OldLine) -> Result<StoredEntry, LineError> {
        let OldLine { text, mut object } = line;
        let renamed = rename_role(&mut object);
        if self.has_ids && !renamed {
            return StoredEntry::parse(text.as_bytes());
        }
        if !self.has_ids {
            object = self.with_ids(object);
        }
        let entry = StoredEntry::parse(Value::Object(object).to_string().as_bytes())?;
        self.n_entries += 1;
        Ok(entry)
    }

    fn with_ids(&self, mut object: Map<String, Value>) -> Map<String, Value> {
        let at = self.n_entries + 1;
        let mut new = Map::new();
        if let Some(name) = object.shift_remove("type") {
            if name == "compaction" {
                keep_by_id(&mut object, at);
            }
            new.insert("type".into(), name);
        }
        new.insert("id".into(), id_at(at));
        new.insert("parentId".into(), if at > 1 { id_at(at - 1) } else { Value::Null });
        object.shift_remove("id");
        object.shift_remove("parentId");
        new.append(&mut object);
        new
    }
}

/// Names the first kept entry of the compaction at `at` by its id.
fn keep_by_id(compaction: &mut Map<String, Value>, at: u64) {
    let Some(index) = compaction.shift_remove("firstKeptEntryIndex") else { return };
    // The header is no entry: whoever kept from there on kept everything. A position that is not before the compaction
    // keeps nothing, which its own id says.
    let kept = index.as_u64().unwrap_or(at).clamp(1, at);
    compaction.insert("firstKeptEntryId".into(), id_at(kept));
}

/// Whether the role had an older name.
fn rename_role(object: &mut Map<String, Value>) -> bool {
    let role = object.get_mut("message").and_then(|message| message.get_mut("role"));
    match role {
        Some(role) if role == "hookMessage" => {
            *role = Value::from("custom");
            true
        }
        _ => false,
    }
}

fn id_at(position: u64) -> Value {
    Value::from(format!("{position:08x}"))
}

#[cfg(test)]
#[path = "legacy_tests.rs"]
mod tests;
