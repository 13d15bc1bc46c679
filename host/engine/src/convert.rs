//! Between the contract's types and the ports'.

mod message;

pub(crate) use message::{
    answer_from_guest, message_from_guest, message_to_guest, messages_from_guest, response_to_guest,
};

use crate::bindings::capstan::extension::types;
use crate::error::CallError;
use crate::import::printable;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use capstan_ports::message::{Content, ToolCall};
use capstan_ports::tool::{ToolOutcome, TurnContext};
use serde_json::Value;

pub(crate) fn turn_context(turn: &TurnContext) -> types::TurnContext {
    types::TurnContext {
        session_id: turn.session_id.to_string(),
        turn: turn.turn,
        round: turn.round,
        model: turn.model.to_string(),
    }
}

pub(crate) fn tool_call(call: &ToolCall) -> types::ToolCall {
    types::ToolCall { id: call.id.clone(), name: call.name.clone(), arguments: call.arguments.to_string() }
}

/// Tool calls inside content have no place in the contract's content and are left out; results never hold any.
pub(crate) fn content_to_guest(content: &[Content]) -> Vec<types::Content> {
    content
        .iter()
        .filter_map(|piece| match piece {
            Content::Text { text } => Some(types::Content::Text(text.clone())),
            Content::Thinking { thinking, .. } => Some(types::Content::Thinking(thinking.clone())),
            Content::Image { data, mime_type } => match BASE64.decode(data) {
                Ok(data) => Some(types::Content::Image(types::Image { media_type: mime_type.clone(), data })),
                Err(reason) => {
                    Some(types::Content::Text(format!("[image that is not valid base64: {reason}]")))
                }
            },
            Content::ToolCall(_) => None,
        })
        .collect()
}

/// The kinds of pictures that models take. Any other would be refused by the provider, with every later request of the
/// session.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

pub(crate) fn content_from_guest(content: Vec<types::Content>) -> Result<Vec<Content>, CallError> {
    content
        .into_iter()
        .map(|piece| match piece {
            types::Content::Text(text) => Ok(Content::Text { text }),
            types::Content::Image(image) if !PICTURES.contains(&image.media_type.as_str()) => {
                let found = printable(&image.media_type, 60);
                Err(CallError::Garbage { reason: format!("`{found}` is none of {}", PICTURES.join(", ")) })
            }
            types::Content::Image(image) => {
                Ok(Content::Image { data: BASE64.encode(image.data), mime_type: image.media_type })
            }
            types::Content::Thinking(thinking) => {
                Ok(Content::Thinking { thinking, thinking_signature: None, redacted: false })
            }
        })
        .collect()
}

pub(crate) fn result_to_guest(outcome: &ToolOutcome) -> types::ToolResult {
    types::ToolResult {
        content: content_to_guest(&outcome.content),
        details: outcome.details.as_ref().map(Value::to_string),
        is_error: outcome.is_error,
    }
}

pub(crate) fn result_from_guest(result: types::ToolResult) -> Result<ToolOutcome, CallError> {
    Ok(ToolOutcome {
        content: content_from_guest(result.content)?,
        details: result.details.map(|text| json(&text, "details")).transpose()?,
        is_error: result.is_error,
        terminate: false,
    })
}

/// Parses JSON that a guest wrote. serde_json refuses more than 128 levels, so neither parsing nor dropping recurses deeply.
pub(crate) fn json(text: &str, what: &str) -> Result<Value, CallError> {
    serde_json::from_str(text)
        .map_err(|reason| CallError::Garbage { reason: format!("{what} is not valid JSON: {reason}") })
}

/// Bytes that a call hands to the guest, roughly; compared with the role's limit before the call.
pub(crate) fn input_bytes(call: &ToolCall, outcome: Option<&ToolOutcome>) -> usize {
    // An upper bound without serialising twice: JSON text is at most about as long as the value's own text in memory.
    let content = outcome.map_or(0, |outcome| content_bytes(&outcome.content));
    call.name.len() + call.id.len() + weight(&call.arguments) + content
}

/// The same for content; a call inside it counts with its arguments.
pub(crate) fn content_bytes(content: &[Content]) -> usize {
    let bytes = content.iter().map(|piece| match piece {
        Content::Text { text } => text.len(),
        Content::Thinking { thinking, .. } => thinking.len(),
        Content::Image { data, .. } => data.len(),
        Content::ToolCall(call) => call.id.len() + call.name.len() + weight(&call.arguments),
    });
    bytes.sum()
}

fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(weight).sum::<usize>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| key.len() + 4 + weight(value)).sum::<usize>() + 2
        }
    }
}

#[cfg(test)]
#[path = "convert_tests.rs"]
mod tests;
