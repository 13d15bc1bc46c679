//! Results in the protocol's words.

use capstan_ports::message::text_of;
use capstan_ports::{Content, ToolOutcome};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};

/// One result: texts and pictures as content, and details that are an object as structured content.
pub(super) fn result(outcome: ToolOutcome) -> CallToolResult {
    let structured = structured(&outcome);
    let content = outcome.content.into_iter().filter_map(block).collect();
    let mut result =
        if outcome.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = structured;
    result
}

fn block(piece: Content) -> Option<ContentBlock> {
    match piece {
        Content::Text { text } => Some(ContentBlock::text(text)),
        Content::Image { data, mime_type } => Some(ContentBlock::image(data, mime_type)),
        // Parts of a model's answer; no result has any.
        Content::Thinking { .. } | Content::ToolCall(_) => None,
    }
}

/// Details that say something. Clients take structured content for all of a result: some show their model nothing else where
/// there is any. Details are what a tool tells beside its text, so the text goes with them, as `text`.
fn structured(outcome: &ToolOutcome) -> Option<Value> {
    let details = match &outcome.details {
        Some(Value::Object(details)) if !details.is_empty() => details,
        _ => return None,
    };
    let mut structured = Map::new();
    let text = text_of(&outcome.content);
    if !text.is_empty() && !details.contains_key("text") {
        structured.insert("text".to_owned(), text.into());
    }
    structured.extend(details.clone());
    Some(Value::Object(structured))
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
