//! Scripted answers as the bytes of the two wire formats, for local servers in tests and demonstrations.
//!
//! Each returned string is one whole server-sent event with its empty line. A server sends them in order with status 200
//! and `content-type: text/event-stream`, or, for an answer that is nothing but an error, sends [`error_body`] with
//! [`error_status`].

use super::answer::{Answer, ScriptedCall, ScriptedError, pieces};
use crate::config::Api;
use capstan_ports::{ModelErrorKind, StopReason};
use serde_json::{Value, json};

/// The answer as chat completion chunks, `data: [DONE]` included.
pub fn openai_sse(answer: &Answer, model: &str) -> Vec<String> {
    let mut events = Vec::new();
    let mut chunk = |delta: Value, finish: Value, usage: Value| {
        let choices = if usage.is_null() {
            json!([{ "index": 0, "delta": delta, "finish_reason": finish }])
        } else {
            json!([])
        };
        let event = json!({
            "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": model,
            "choices": choices, "usage": usage,
        });
        events.push(format!("data: {event}\n\n"));
    };
    chunk(json!({ "role": "assistant", "content": "" }), Value::Null, Value::Null);
    for delta in pieces(answer.thinking.as_deref().unwrap_or_default()) {
        chunk(json!({ "reasoning_content": delta }), Value::Null, Value::Null);
    }
    for delta in pieces(answer.text.as_deref().unwrap_or_default()) {
        chunk(json!({ "content": delta }), Value::Null, Value::Null);
    }
    for (index, call) in answer.tool_calls.iter().enumerate() {
        let start = json!({
            "index": index, "id": call_id(call, index), "type": "function",
            "function": { "name": call.name, "arguments": "" },
        });
        chunk(json!({ "tool_calls": [start] }), Value::Null, Value::Null);
        for delta in pieces(&call.argument_text()) {
            let delta = json!({ "index": index, "function": { "arguments": delta } });
            chunk(json!({ "tool_calls": [delta] }), Value::Null, Value::Null);
        }
    }
    if let Some(error) = &answer.error {
        events.push(format!("data: {}\n\n", error_body(Api::OpenAiChat, error)));
        return events;
    }
    if answer.cut {
        return events;
    }
    let finish = match answer.final_stop_reason() {
        StopReason::Length => "length",
        StopReason::ToolUse => "tool_calls",
        StopReason::Stop | StopReason::Error | StopReason::Aborted => "stop",
    };
    chunk(json!({}), finish.into(), Value::Null);
    let usage = answer.usage_or_estimate();
    let prompt = usage.input.saturating_add(usage.cache_read);
    let usage = json!({
        "prompt_tokens": prompt, "completion_tokens": usage.output,
        "total_tokens": prompt.saturating_add(usage.output),
        "prompt_tokens_details": { "cached_tokens": usage.cache_read },
    });
    chunk(json!({}), Value::Null, usage);
    events.push("data: [DONE]\n\n".to_owned());
    events
}

/// The answer as Messages stream events, `message_stop` included.
pub fn anthropic_sse(answer: &Answer, model: &str) -> Vec<String> {
    let mut events = Vec::new();
    let usage = answer.usage_or_estimate();
    let mut event = |value: Value| {
        let name = value["type"].as_str().unwrap_or_default();
        events.push(format!("event: {name}\ndata: {value}\n\n"));
    };
    event(json!({ "type": "message_start", "message": {
        "id": "msg_scripted", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input, "output_tokens": 1,
            "cache_read_input_tokens": usage.cache_read, "cache_creation_input_tokens": usage.cache_write,
        },
    }}));
    event(json!({ "type": "ping" }));
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        event(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        for delta in deltas {
            event(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
        }
        event(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    };
    if let Some(thinking) = &answer.thinking {
        let deltas = pieces(thinking)
            .map(|delta| json!({ "type": "thinking_delta", "thinking": delta }))
            .chain([json!({ "type": "signature_delta", "signature": "scripted-signature" })]);
        block(json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas.collect());
    }
    if let Some(text) = &answer.text {
        let deltas = pieces(text).map(|delta| json!({ "type": "text_delta", "text": delta }));
        block(json!({ "type": "text", "text": "" }), deltas.collect());
    }
    for (position, call) in answer.tool_calls.iter().enumerate() {
        let text = call.argument_text();
        let deltas = pieces(&text).map(|delta| json!({ "type": "input_json_delta", "partial_json": delta }));
        let id = call_id(call, position);
        block(json!({ "type": "tool_use", "id": id, "name": call.name, "input": {} }), deltas.collect());
    }
    if let Some(error) = &answer.error {
        event(error_body(Api::AnthropicMessages, error));
        return events;
    }
    if answer.cut {
        return events;
    }
    let stop_reason = match answer.final_stop_reason() {
        StopReason::Length => "max_tokens",
        StopReason::ToolUse => "tool_use",
        StopReason::Stop | StopReason::Error | StopReason::Aborted => "end_turn",
    };
    event(json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop_reason, "stop_sequence": null },
        "usage": { "output_tokens": usage.output },
    }));
    event(json!({ "type": "message_stop" }));
    events
}

fn call_id(call: &ScriptedCall, position: usize) -> String {
    call.id.clone().unwrap_or_else(|| format!("call_scripted_{position}"))
}

/// The HTTP status that a server uses for a failure of this kind.
pub fn error_status(kind: ModelErrorKind) -> u16 {
    match kind {
        ModelErrorKind::Auth => 401,
        ModelErrorKind::RateLimited => 429,
        ModelErrorKind::Server | ModelErrorKind::Network | ModelErrorKind::Protocol => 500,
        ModelErrorKind::TimedOut => 504,
        ModelErrorKind::ContextOverflow => 413,
        ModelErrorKind::InvalidRequest => 400,
    }
}

/// The error object, the same inside a stream and as the body of an answer with [`error_status`].
pub fn error_body(api: Api, error: &ScriptedError) -> Value {
    let kind = match error.kind {
        ModelErrorKind::Auth => "authentication_error",
        ModelErrorKind::RateLimited => "rate_limit_error",
        ModelErrorKind::Server | ModelErrorKind::Network | ModelErrorKind::Protocol => "api_error",
        ModelErrorKind::TimedOut => "timeout_error",
        ModelErrorKind::ContextOverflow => "request_too_large",
        ModelErrorKind::InvalidRequest => "invalid_request_error",
    };
    let status = error_status(error.kind);
    match api {
        Api::AnthropicMessages => {
            json!({ "type": "error", "error": { "type": kind, "message": error.message } })
        }
        Api::OpenAiChat | Api::Scripted => {
            json!({ "error": { "message": error.message, "type": kind, "code": status } })
        }
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
