//! Messages between the contract and the ports.
//!
//! The contract's message is the smaller one: it has no usage, no signatures, no details. So what a guest hands back is laid
//! over what it was given: a message that it did not touch stays the very same, and of one that it changed everything
//! stays that the contract has no word for.

use super::{content_from_guest, content_to_guest, json, tool_call};
use crate::bindings::capstan::extension::types;
use crate::error::CallError;
use capstan_ports::message::{
    AssistantMessage, Content, Message, StopReason, ToolCall, ToolResultMessage, UserMessage, now_ms,
};
use serde_json::Value;
use std::sync::Arc;

pub(crate) fn message_to_guest(message: &Message) -> types::Message {
    let (role, tool_calls, tool_call_id, name) = match message {
        // An application's message goes to the model as a user's.
        Message::User(_) | Message::Custom(_) => (types::Role::User, Vec::new(), None, None),
        Message::Assistant(answer) => {
            (types::Role::Assistant, answer.tool_calls().map(tool_call).collect(), None, None)
        }
        Message::ToolResult(result) => {
            (types::Role::Tool, Vec::new(), Some(result.tool_call_id.clone()), Some(result.tool_name.clone()))
        }
    };
    types::Message { role, content: content_to_guest(message.content()), tool_calls, tool_call_id, name }
}

/// What a guest made of a list of messages.
pub(crate) fn messages_from_guest(
    messages: Vec<types::Message>,
    given: &[Arc<Message>],
) -> Result<Vec<Arc<Message>>, CallError> {
    let known: Vec<_> = given.iter().map(|message| (message_to_guest(message), message)).collect();
    // Guests drop, insert and change, and rarely reorder: the next unused one is nearly always the right one.
    let mut next = 0;
    messages
        .into_iter()
        .map(|message| {
            let untouched = known[next..].iter().position(|(form, _)| *form == message);
            if let Some(ahead) = untouched {
                next += ahead + 1;
                return Ok(known[next - 1].1.clone());
            }
            let original = known
                .iter()
                .map(|(_, original)| &***original)
                .find(|original| stands_for(original, &message));
            message_from_guest(message, original).map(Arc::new)
        })
        .collect()
}

/// Whether a message is a changed form of `original`, as far as that can be told: by what it answers, or what it calls.
fn stands_for(original: &Message, message: &types::Message) -> bool {
    match original {
        Message::ToolResult(result) => message.tool_call_id.as_ref() == Some(&result.tool_call_id),
        Message::Assistant(answer) => {
            message.role == types::Role::Assistant
                && !message.tool_calls.is_empty()
                && answer.tool_calls().any(|call| message.tool_calls.iter().any(|other| other.id == call.id))
        }
        Message::User(_) | Message::Custom(_) => false,
    }
}

/// One message, over the one that it was.
pub(crate) fn message_from_guest(
    message: types::Message,
    original: Option<&Message>,
) -> Result<Message, CallError> {
    Ok(match message.role {
        types::Role::User => {
            Message::User(UserMessage { content: content_from_guest(message.content)?, timestamp: now_ms() })
        }
        types::Role::Assistant => {
            let original = match original {
                Some(Message::Assistant(answer)) => answer.clone(),
                _ => AssistantMessage { timestamp: now_ms(), ..AssistantMessage::default() },
            };
            Message::Assistant(answer_from_guest(message, original)?)
        }
        types::Role::Tool => {
            let tool_call_id = message.tool_call_id.ok_or_else(|| CallError::Garbage {
                reason: "a tool message without `tool-call-id`".to_owned(),
            })?;
            let original = match original {
                Some(Message::ToolResult(result)) => Some(result),
                _ => None,
            };
            Message::ToolResult(ToolResultMessage {
                tool_call_id,
                tool_name: message.name.unwrap_or_default(),
                content: content_from_guest(message.content)?,
                details: original.and_then(|result| result.details.clone()),
                is_error: original.is_some_and(|result| result.is_error),
                timestamp: original.map_or_else(now_ms, |result| result.timestamp),
            })
        }
        types::Role::System => {
            return Err(CallError::Garbage {
                reason: "a system message: the system prompt is not part of the messages".to_owned(),
            });
        }
    })
}

/// An answer over the one that it was: content and calls are the guest's, everything else stays.
pub(crate) fn answer_from_guest(
    message: types::Message,
    original: AssistantMessage,
) -> Result<AssistantMessage, CallError> {
    let mut content: Vec<_> = content_from_guest(message.content)?
        .into_iter()
        .map(|piece| signed(piece, &original.content))
        .collect();
    for call in message.tool_calls {
        let arguments = json(&call.arguments, "the arguments of a call")?;
        if !arguments.is_object() {
            return Err(CallError::Garbage {
                reason: format!("the arguments of the call {} are no object", call.id),
            });
        }
        content.push(Content::ToolCall(ToolCall {
            malformed: malformed(&original, &call.id, &arguments),
            id: call.id,
            name: call.name,
            arguments,
        }));
    }
    Ok(AssistantMessage { content, ..original })
}

/// Thinking goes back to its provider only with the proof of origin, which the contract does not show.
fn signed(piece: Content, original: &[Content]) -> Content {
    let Content::Thinking { thinking, .. } = &piece else { return piece };
    let same =
        original.iter().find(|old| matches!(old, Content::Thinking { thinking: old, .. } if old == thinking));
    same.cloned().unwrap_or(piece)
}

/// A call that was cut off stays one, unless the guest gave it arguments of its own.
fn malformed(original: &AssistantMessage, id: &str, arguments: &Value) -> Option<String> {
    let call = original.tool_calls().find(|call| call.id == id)?;
    if call.arguments == *arguments { call.malformed.clone() } else { None }
}

pub(crate) fn response_to_guest(answer: &AssistantMessage) -> types::ModelResponse {
    let count = |tokens: u64| (tokens > 0).then(|| u32::try_from(tokens).unwrap_or(u32::MAX));
    types::ModelResponse {
        message: message_to_guest(&Message::Assistant(answer.clone())),
        stop_reason: match answer.stop_reason {
            StopReason::Stop => types::StopReason::Stop,
            StopReason::Length => types::StopReason::Length,
            StopReason::ToolUse => types::StopReason::ToolCalls,
            StopReason::Error => types::StopReason::Error(answer.error_message.clone().unwrap_or_default()),
            StopReason::Aborted => types::StopReason::Aborted,
        },
        usage: Some(types::Usage {
            input_tokens: count(answer.usage.input),
            output_tokens: count(answer.usage.output),
            cache_read_tokens: count(answer.usage.cache_read),
            cache_write_tokens: count(answer.usage.cache_write),
        }),
        reasoning_summary: None,
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
