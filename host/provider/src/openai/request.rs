//! A request as chat completions JSON.

use crate::transcript::{CallIds, IMAGE_OMITTED, NO_CONTENT, is_own, wire_temperature};
use capstan_ports::message::text_of;
use capstan_ports::{
    AssistantMessage, Content, Message, ModelInfo, ModelRequest, ThinkingLevel, ToolChoice, ToolDefinition,
};
use serde_json::{Map, Value, json};

/// Options that only OpenAI itself knows are left out elsewhere: several servers refuse what they do not know.
pub(super) fn body(info: &ModelInfo, is_vendor: bool, request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": info.id,
        "messages": messages(info, request),
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        // A choice without tools is refused.
        if let Some(choice) = tool_choice(&request.tool_choice) {
            body["tool_choice"] = choice;
        }
    }
    if let Some(temperature) = request.temperature.and_then(wire_temperature) {
        body["temperature"] = temperature;
    }
    if let Some(effort) = effort(request.thinking) {
        body["reasoning_effort"] = effort.into();
    }
    if let Some(limit) = request.max_output_tokens {
        // The newer models of OpenAI refuse the old name; everyone else knows only that one.
        let name = if is_vendor { "max_completion_tokens" } else { "max_tokens" };
        body[name] = limit.into();
    }
    if let Some(session) = request.session_id.as_ref().filter(|_| is_vendor) {
        body["prompt_cache_key"] = session.as_str().into();
    }
    body
}

/// `None` for `auto`, which is what the absence of the option means: some servers do not know it.
fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::NoTool => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::NamedTool(name) => Some(json!({ "type": "function", "function": { "name": name } })),
    }
}

fn effort(level: ThinkingLevel) -> Option<&'static str> {
    match level {
        ThinkingLevel::Off => None,
        ThinkingLevel::Minimal => Some("minimal"),
        ThinkingLevel::Low => Some("low"),
        ThinkingLevel::Medium => Some("medium"),
        ThinkingLevel::High => Some("high"),
        ThinkingLevel::XHigh => Some("xhigh"),
    }
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    })
}

fn messages(info: &ModelInfo, request: &ModelRequest) -> Vec<Value> {
    let mut out = Vec::with_capacity(request.messages.len() + 1);
    let mut ids = CallIds::default();
    if !request.system.is_empty() {
        out.push(json!({ "role": "system", "content": request.system }));
    }
    let last_user = request
        .messages
        .iter()
        .rposition(|message| matches!(**message, Message::User(_) | Message::Custom(_)));
    let mut result_images = Vec::new();
    for (position, message) in request.messages.iter().enumerate() {
        if !matches!(**message, Message::ToolResult(_)) {
            flush_images(&mut out, &mut result_images);
        }
        match &**message {
            Message::User(_) | Message::Custom(_) => {
                out.push(json!({ "role": "user", "content": user_content(info, message.content()) }))
            }
            Message::Assistant(assistant) => {
                let in_current_turn = last_user.is_none_or(|last_user| position > last_user);
                out.extend(assistant_message(
                    assistant,
                    in_current_turn && is_own(assistant, info),
                    &mut ids,
                ));
            }
            Message::ToolResult(result) => {
                let images = result.content.iter().filter(|piece| matches!(piece, Content::Image { .. }));
                let mut text = text_of(&result.content);
                if !info.accepts_images && images.clone().next().is_some() {
                    text = joined(&text, IMAGE_OMITTED);
                } else {
                    result_images.extend(images.filter_map(|piece| part(info, piece)));
                }
                let text = if text.is_empty() { NO_CONTENT } else { &text };
                let id = ids.of_result(&result.tool_call_id);
                out.push(json!({ "role": "tool", "tool_call_id": id, "content": text }));
            }
        }
    }
    flush_images(&mut out, &mut result_images);
    out
}

fn joined(first: &str, second: &str) -> String {
    if first.is_empty() { second.to_owned() } else { format!("{first}\n{second}") }
}

/// Tool messages hold only text. Images of a batch of results follow it in a user message of their own.
fn flush_images(out: &mut Vec<Value>, images: &mut Vec<Value>) {
    if images.is_empty() {
        return;
    }
    let mut content = vec![json!({ "type": "text", "text": "Images of the tool results above:" })];
    content.append(images);
    out.push(json!({ "role": "user", "content": content }));
}

/// A bare string where that is enough: some servers know nothing else.
fn user_content(info: &ModelInfo, content: &[Content]) -> Value {
    let has_images = content.iter().any(|piece| matches!(piece, Content::Image { .. }));
    if has_images || content.len() > 1 {
        return content.iter().filter_map(|piece| part(info, piece)).collect();
    }
    text_of(content).into()
}

fn part(info: &ModelInfo, piece: &Content) -> Option<Value> {
    match piece {
        Content::Text { text } => Some(json!({ "type": "text", "text": text })),
        Content::Image { data, mime_type } if info.accepts_images => Some(json!({
            "type": "image_url",
            "image_url": { "url": format!("data:{mime_type};base64,{data}") },
        })),
        Content::Image { .. } => Some(json!({ "type": "text", "text": IMAGE_OMITTED })),
        Content::Thinking { .. } | Content::ToolCall(_) => None,
    }
}

/// `None` for an answer of which nothing can be sent, such as bare thinking of another model.
fn assistant_message(message: &AssistantMessage, with_thinking: bool, ids: &mut CallIds) -> Option<Value> {
    let text = message.text();
    let calls: Vec<Value> = message
        .tool_calls()
        .map(|call| {
            json!({
                "id": ids.of_call(&call.id),
                "type": "function",
                "function": { "name": call.name, "arguments": call.arguments.to_string() },
            })
        })
        .collect();
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut out = Map::new();
    out.insert("role".to_owned(), "assistant".into());
    out.insert("content".to_owned(), if text.is_empty() { Value::Null } else { text.into() });
    if !calls.is_empty() {
        // Models that think between calls go on where they were if they see it; finished turns need it no more.
        if let Some((field, thinking)) = with_thinking.then(|| own_thinking(message)).flatten() {
            out.insert(field, thinking.into());
        }
        out.insert("tool_calls".to_owned(), calls.into());
    }
    Some(Value::Object(out))
}

/// The thinking and the field it came in, which the decoder keeps in place of a signature.
fn own_thinking(message: &AssistantMessage) -> Option<(String, String)> {
    let mut field = None;
    let mut all = String::new();
    for piece in &message.content {
        if let Content::Thinking { thinking, thinking_signature: Some(signature), redacted: false } = piece
            && super::stream::THINKING_FIELDS.contains(&signature.as_str())
        {
            field = Some(signature.clone());
            all.push_str(thinking);
        }
    }
    Some((field?, all))
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
