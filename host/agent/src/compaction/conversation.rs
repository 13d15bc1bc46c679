//! A conversation as one text, for whoever is to summarize it: a model that saw the messages themselves would go on with
//! them.

use capstan_ports::message::text_of;
use capstan_ports::{AssistantMessage, Content, Message, ToolCall};
use std::sync::Arc;

/// Ends the quoted conversation.
const CLOSING: &str = "</conversation>";

/// Characters of one tool result that are quoted, as long as the whole fits.
pub(crate) const MAX_RESULT_CHARS: usize = 2000;

/// Shorter limits, for a conversation that would not fit otherwise.
const TIGHTER_LIMITS: [usize; 2] = [400, 80];

/// The text as the material of a request. What was said must not be able to end its own quotation: a tool's output would then
/// be an order to the summarizer, and what it writes stays for the rest of the session.
pub(crate) fn quoted(text: &str) -> String {
    format!("<conversation>\n{}\n{CLOSING}\n\n", text.replace(CLOSING, "<\\/conversation>"))
}

/// The messages as text, at most about `max_chars` of it: tool results are cut shorter first, then the middle is left out.
pub(crate) fn fitting(messages: &[Arc<Message>], max_chars: usize) -> String {
    let mut text = written(messages, MAX_RESULT_CHARS);
    for limit in TIGHTER_LIMITS {
        if text.chars().count() <= max_chars {
            return text;
        }
        text = written(messages, limit);
    }
    let chars = text.chars().count();
    if chars <= max_chars {
        return text;
    }
    let half = max_chars / 2;
    let at = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
    let missing = chars - 2 * half;
    format!(
        "{}\n\n[... {missing} characters left out ...]\n\n{}",
        &text[..at(half)],
        &text[at(chars - half)..]
    )
}

/// The messages as text, with at most `max_result_chars` of each tool result.
pub(crate) fn written(messages: &[Arc<Message>], max_result_chars: usize) -> String {
    let mut parts = Vec::new();
    for message in messages {
        match message.as_ref() {
            Message::User(_) | Message::Custom(_) => push(&mut parts, "User", said(message)),
            Message::Assistant(answer) => answered(&mut parts, answer),
            Message::ToolResult(_) => push(&mut parts, "Tool result", cut(said(message), max_result_chars)),
        }
    }
    parts.join("\n\n")
}

fn push(parts: &mut Vec<String>, who: &str, what: String) {
    if !what.is_empty() {
        parts.push(format!("[{who}]: {what}"));
    }
}

/// The text, and where pictures are.
fn said(message: &Message) -> String {
    let mut text = text_of(message.content());
    let pictures = message.content().iter().filter(|piece| matches!(piece, Content::Image { .. })).count();
    if pictures > 0 {
        text.push_str(&format!("{}[pictures: {pictures}]", if text.is_empty() { "" } else { "\n" }));
    }
    text
}

fn answered(parts: &mut Vec<String>, answer: &AssistantMessage) {
    let thinking = answer.content.iter().filter_map(|piece| match piece {
        Content::Thinking { thinking, .. } if !thinking.is_empty() => Some(thinking.as_str()),
        _ => None,
    });
    push(parts, "Assistant thinking", thinking.collect::<Vec<_>>().join("\n"));
    push(parts, "Assistant", text_of(&answer.content));
    push(parts, "Assistant tool calls", answer.tool_calls().map(called).collect::<Vec<_>>().join("; "));
}

fn called(call: &ToolCall) -> String {
    let arguments = call.arguments.as_object().into_iter().flatten();
    let arguments: Vec<String> = arguments.map(|(name, value)| format!("{name}={value}")).collect();
    format!("{}({})", call.name, arguments.join(", "))
}

fn cut(text: String, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text,
        Some((at, _)) => {
            let more = text[at..].chars().count();
            format!("{}\n\n[... {more} more characters]", &text[..at])
        }
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
