//! The last touch on a finished call's outcome before it is stored and shown.

use capstan_ports::{Content, ToolOutcome};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The text that a call gets which was aborted before it finished.
pub(crate) const ABORTED: &str = "Operation aborted";

/// A failure that the loop itself reports. Like pi it carries empty details, so that a screen can rely on the field
/// (000-021).
pub(crate) fn failure(text: impl Into<String>) -> ToolOutcome {
    ToolOutcome { details: Some(Value::Object(Map::new())), ..ToolOutcome::error(text) }
}

/// Cuts the texts of `outcome` so that together they hold at most `max_bytes`, and says so in the text.
///
/// Tools cut their own output with more sense; this bounds what a tool without manners can do to the session file and
/// to the model's window.
pub(crate) fn cap(outcome: &mut ToolOutcome, max_bytes: usize) {
    let total: usize = outcome.content.iter().map(text_bytes).sum();
    if total <= max_bytes {
        return;
    }
    let mut left = max_bytes;
    for piece in &mut outcome.content {
        if let Content::Text { text } = piece {
            let kept = floor_char_boundary(text, left);
            // After the first cut no later text may follow, or it would read as if nothing were missing before it.
            left = if kept < text.len() { 0 } else { left - kept };
            text.truncate(kept);
        }
    }
    outcome.content.retain(|piece| !matches!(piece, Content::Text { text } if text.is_empty()));
    outcome.content.push(Content::text(format!(
        "[Cut by the host: the result had {total} bytes of text, at most {max_bytes} are kept. Ask for less at a time.]"
    )));
}

fn text_bytes(piece: &Content) -> usize {
    match piece {
        Content::Text { text } => text.len(),
        Content::Thinking { .. } | Content::Image { .. } | Content::ToolCall(_) => 0,
    }
}

/// At most `max_bytes` of `text`, with a mark where something is missing.
pub(crate) fn clip(text: &str, max_bytes: usize) -> Cow<'_, str> {
    if text.len() <= max_bytes {
        return Cow::Borrowed(text);
    }
    let kept = floor_char_boundary(text, max_bytes);
    Cow::Owned(format!("{}… [{} more bytes]", &text[..kept], text.len() - kept))
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
#[path = "result_tests.rs"]
mod tests;
