//! A request as Messages JSON.

use crate::catalog::ThinkingStyle;
use crate::transcript::{CallIds, IMAGE_OMITTED, NO_CONTENT, is_own, wire_temperature};
use capstan_ports::{
    AssistantMessage, Content, Message, ModelInfo, ModelRequest, ThinkingLevel, ToolChoice, ToolDefinition,
    ToolResultMessage,
};
use serde_json::{Value, json};

/// The format demands a limit for every answer. The full limit of a large model would be taken from the window in
/// advance, so that long conversations were refused early.
const DEFAULT_MAX_TOKENS: u32 = 32_000;

/// The smallest budget that is accepted, and the room for the answer beside it.
const MIN_BUDGET: u32 = 1024;

pub(super) fn body(info: &ModelInfo, style: ThinkingStyle, request: &ModelRequest) -> Value {
    let own_limit = info.max_output_tokens;
    let mut max_tokens = request.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS).min(own_limit).max(1);
    let thinking = thinking(info, style, request, &mut max_tokens);
    let mut body = json!({
        "model": info.id,
        "max_tokens": max_tokens,
        "messages": messages(info, request),
        "stream": true,
    });
    if !request.system.is_empty() {
        body["system"] = json!([marked(json!({ "type": "text", "text": request.system }))]);
    }
    if !request.tools.is_empty() {
        let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
        mark_last(&mut tools);
        body["tools"] = tools.into();
        if let Some(choice) = tool_choice(&request.tool_choice) {
            body["tool_choice"] = choice;
        }
    }
    // While it thinks, the service accepts no other temperature than its own.
    if thinking.is_none()
        && let Some(temperature) = request.temperature.and_then(wire_temperature)
    {
        body["temperature"] = temperature;
    }
    if let Some((thinking, effort)) = thinking {
        body["thinking"] = thinking;
        if let Some(effort) = effort {
            body["output_config"] = json!({ "effort": effort });
        }
    }
    body
}

/// `None` for `auto`, which is what the absence of the option means.
fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::NoTool => Some(json!({ "type": "none" })),
        ToolChoice::Required => Some(json!({ "type": "any" })),
        ToolChoice::NamedTool(name) => Some(json!({ "type": "tool", "name": name })),
    }
}

/// Whether the answer must be a tool call. The service refuses to think before such an answer.
fn forces_a_tool(request: &ModelRequest) -> bool {
    match request.tool_choice {
        ToolChoice::Auto | ToolChoice::NoTool => false,
        ToolChoice::Required | ToolChoice::NamedTool(_) => !request.tools.is_empty(),
    }
}

/// The thinking option, and the effort word for the models that take one.
fn thinking(
    info: &ModelInfo,
    style: ThinkingStyle,
    request: &ModelRequest,
    max_tokens: &mut u32,
) -> Option<(Value, Option<&'static str>)> {
    let (budget, effort) = match request.thinking {
        ThinkingLevel::Off => return None,
        // There is no word below `low`.
        ThinkingLevel::Minimal => (MIN_BUDGET, "low"),
        ThinkingLevel::Low => (2 * MIN_BUDGET, "low"),
        ThinkingLevel::Medium => (8 * MIN_BUDGET, "medium"),
        ThinkingLevel::High => (16 * MIN_BUDGET, "high"),
        ThinkingLevel::XHigh if style == ThinkingStyle::AdaptiveToMax => (32 * MIN_BUDGET, "max"),
        ThinkingLevel::XHigh => (32 * MIN_BUDGET, "xhigh"),
    };
    if forces_a_tool(request) {
        return None;
    }
    if style != ThinkingStyle::Budget {
        // Newer models hide their thinking unless asked to show a summary.
        return Some((json!({ "type": "adaptive", "display": "summarized" }), Some(effort)));
    }
    if continues_without_thinking(info, request) {
        return None;
    }
    // The budget is part of the answer's limit. Raise the limit as far as the model allows, then shrink the budget.
    *max_tokens = max_tokens.saturating_add(budget).min(info.max_output_tokens.max(*max_tokens));
    let budget = budget.min(max_tokens.saturating_sub(MIN_BUDGET));
    (budget >= MIN_BUDGET).then(|| (json!({ "type": "enabled", "budget_tokens": budget }), None))
}

/// Whether the turn in progress was begun by an answer whose thinking cannot be shown, for example because another model
/// gave it. Such a turn must be finished without thinking: the service refuses it otherwise.
fn continues_without_thinking(info: &ModelInfo, request: &ModelRequest) -> bool {
    request
        .messages
        .iter()
        .rev()
        .take_while(|message| !matches!(***message, Message::User(_) | Message::Custom(_)))
        .filter_map(|message| match &**message {
            Message::Assistant(assistant) => Some(assistant),
            Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => None,
        })
        .last()
        .is_some_and(|first| {
            !first.content.iter().any(|piece| own_thinking(piece, is_own(first, info)).is_some())
        })
}

fn marked(mut block: Value) -> Value {
    block["cache_control"] = json!({ "type": "ephemeral" });
    block
}

/// What ends with a marked block is kept in the provider's cache for the next request.
fn mark_last(blocks: &mut [Value]) {
    if let Some(last) = blocks.last_mut() {
        *last = marked(last.take());
    }
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters })
}

fn messages(info: &ModelInfo, request: &ModelRequest) -> Vec<Value> {
    let mut out: Vec<(&'static str, Vec<Value>)> = Vec::with_capacity(request.messages.len());
    let mut ids = CallIds::default();
    let mut after_result = false;
    for message in &request.messages {
        let is_result = matches!(**message, Message::ToolResult(_));
        let (role, blocks) = match &**message {
            Message::User(_) | Message::Custom(_) => ("user", blocks_or_placeholder(info, message.content())),
            Message::Assistant(assistant) => ("assistant", assistant_blocks(info, assistant, &mut ids)),
            Message::ToolResult(result) => ("user", vec![tool_result(info, result, &ids)]),
        };
        // All results of one answer have to stand in one message.
        match out.last_mut() {
            Some((_, group)) if is_result && after_result => group.extend(blocks),
            _ if blocks.is_empty() => continue,
            _ => out.push((role, blocks)),
        }
        after_result = is_result;
    }
    if let Some((_, blocks)) = out.iter_mut().rev().find(|(role, _)| *role == "user") {
        mark_last(blocks);
    }
    out.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

fn blocks_or_placeholder(info: &ModelInfo, content: &[Content]) -> Vec<Value> {
    let mut blocks: Vec<Value> = content.iter().filter_map(|piece| block(info, piece)).collect();
    if blocks.is_empty() {
        blocks.push(json!({ "type": "text", "text": NO_CONTENT }));
    }
    blocks
}

/// Text and images. Blank text is left out: the service refuses it.
fn block(info: &ModelInfo, piece: &Content) -> Option<Value> {
    match piece {
        Content::Text { text } if text.trim().is_empty() => None,
        Content::Text { text } => Some(json!({ "type": "text", "text": text })),
        Content::Image { data, mime_type } if info.accepts_images => Some(json!({
            "type": "image",
            "source": { "type": "base64", "media_type": mime_type, "data": data },
        })),
        Content::Image { .. } => Some(json!({ "type": "text", "text": IMAGE_OMITTED })),
        Content::Thinking { .. } | Content::ToolCall(_) => None,
    }
}

fn tool_result(info: &ModelInfo, result: &ToolResultMessage, ids: &CallIds) -> Value {
    json!({
        "type": "tool_result",
        "tool_use_id": ids.of_result(&result.tool_call_id),
        "content": blocks_or_placeholder(info, &result.content),
        "is_error": result.is_error,
    })
}

fn assistant_blocks(info: &ModelInfo, message: &AssistantMessage, ids: &mut CallIds) -> Vec<Value> {
    let is_own = is_own(message, info);
    message
        .content
        .iter()
        .filter_map(|piece| match piece {
            Content::Thinking { .. } => own_thinking(piece, is_own),
            Content::ToolCall(call) => Some(json!({
                "type": "tool_use",
                "id": ids.of_call(&call.id),
                "name": call.name,
                "input": call.arguments,
            })),
            Content::Text { .. } => block(info, piece),
            // Assistants send no images in this format.
            Content::Image { .. } => None,
        })
        .collect()
}

/// Thinking as it came, or nothing: without its signature, or from elsewhere, it would be refused.
fn own_thinking(piece: &Content, is_own: bool) -> Option<Value> {
    match piece {
        Content::Thinking { thinking, thinking_signature: Some(signature), redacted } if is_own => {
            Some(if *redacted {
                json!({ "type": "redacted_thinking", "data": signature })
            } else {
                json!({ "type": "thinking", "thinking": thinking, "signature": signature })
            })
        }
        Content::Thinking { .. } | Content::Text { .. } | Content::Image { .. } | Content::ToolCall(_) => {
            None
        }
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
