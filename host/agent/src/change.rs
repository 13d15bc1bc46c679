//! What a hook changed, field by field, in texts short enough to be kept.

use crate::trace::FieldChange;
use capstan_ports::message::text_of;
use capstan_ports::{Amendment, Content, ToolOutcome};
use serde_json::{Map, Value};

/// Bytes of one text. A whole file can be an argument; the place where it changed is what a person looks for.
const MAX_TEXT_BYTES: usize = 400;

/// What stands before the first difference in a shortened text.
const LEAD_BYTES: usize = 60;

/// Fields of one change.
const MAX_FIELDS: usize = 16;

/// Arguments before and after a rewrite.
pub(crate) fn of_arguments(before: &Value, after: &Value) -> Vec<FieldChange> {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return vec![field("arguments", Some(&before.to_string()), Some(&after.to_string()))];
    };
    let added = after.iter().filter(|(name, _)| !before.contains_key(*name));
    let names = before.keys().chain(added.map(|(name, _)| name));
    let differing = names.filter(|name| before.get(*name) != after.get(*name));
    let show = |fields: &Map<String, Value>, name: &str| fields.get(name).map(Value::to_string);
    let changes =
        differing.map(|name| field(name, show(before, name).as_deref(), show(after, name).as_deref()));
    changes.take(MAX_FIELDS).collect()
}

/// What an amendment replaces in an outcome that it has not been applied to yet.
pub(crate) fn of_outcome(outcome: &ToolOutcome, amendment: &Amendment) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    if let Some(content) = &amendment.content {
        changes.push(of_content(&outcome.content, content));
    }
    if let Some(details) = &amendment.details {
        let before = outcome.details.as_ref().map(Value::to_string);
        changes.push(field("details", before.as_deref(), Some(&details.to_string())));
    }
    if let Some(is_error) = amendment.is_error {
        changes.push(field("is-error", Some(&outcome.is_error.to_string()), Some(&is_error.to_string())));
    }
    if amendment.terminate {
        changes.push(field("terminate", Some(&outcome.terminate.to_string()), Some("true")));
    }
    changes
}

/// Content of a message or a result.
pub(crate) fn of_content(before: &[Content], after: &[Content]) -> FieldChange {
    let show = |content: &[Content]| {
        let others = content.iter().filter(|piece| !matches!(piece, Content::Text { .. })).count();
        match others {
            0 => text_of(content),
            others => format!("{} [and {others} pieces that are not text]", text_of(content)),
        }
    };
    field("content", Some(&show(before)), Some(&show(after)))
}

/// A list of which only the length is kept.
pub(crate) fn of_length(name: &str, before: usize, after: usize) -> FieldChange {
    field(name, Some(&format!("{before} of them")), Some(&format!("{after} of them")))
}

fn field(name: &str, before: Option<&str>, after: Option<&str>) -> FieldChange {
    let same = match (before, after) {
        (Some(before), Some(after)) => {
            before.bytes().zip(after.bytes()).take_while(|(before, after)| before == after).count()
        }
        _ => 0,
    };
    let from = same.saturating_sub(LEAD_BYTES);
    FieldChange {
        field: shortened(name, 0),
        before: before.map(|text| shortened(text, from)),
        after: after.map(|text| shortened(text, from)),
    }
}

/// `text`, or where it is long the part of it that begins at `from`.
fn shortened(text: &str, from: usize) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text.to_owned();
    }
    let from = text.floor_char_boundary(from);
    let to = text.floor_char_boundary(from + MAX_TEXT_BYTES);
    let before = if from > 0 { "…" } else { "" };
    let after = if to < text.len() { "…" } else { "" };
    format!("{before}{}{after}", &text[from..to])
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
