//! The host's own compaction: what is left out when nobody else shortened a conversation that does not fit. It asks no
//! model, so it cannot fail and gives the same result for the same conversation.

use capstan_ports::{Content, Message, Messages, ToolResultMessage};
use std::sync::Arc;

/// Results that stay as they are: the model is working with the latest ones.
const KEPT_RESULTS: usize = 5;

/// Shorter results are not worth clearing.
const MIN_CLEARED_BYTES: usize = 200;

const CLEARED: &str = "[Old tool result content cleared]";

/// Tokens of a picture, about what providers charge for one of usual size.
const IMAGE_TOKENS: usize = 1200;

/// What the messages take, in tokens: as the provider counted up to its latest answer, four bytes a token after it.
/// Looks only at the end of a long conversation.
pub(crate) fn estimated_tokens(messages: &[Arc<Message>]) -> u32 {
    let mut rest = 0;
    for message in messages.iter().rev() {
        if let Message::Assistant(answer) = message.as_ref()
            && answer.usage.total_tokens > 0
        {
            let counted = usize::try_from(answer.usage.total_tokens).unwrap_or(usize::MAX);
            return clamp(counted.saturating_add(rest));
        }
        rest += tokens(message);
    }
    clamp(rest)
}

fn clamp(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

fn tokens(message: &Message) -> usize {
    let of = |piece: &Content| match piece {
        Content::Text { text } => text.len().div_ceil(4),
        Content::Thinking { thinking, .. } => thinking.len().div_ceil(4),
        Content::Image { .. } => IMAGE_TOKENS,
        Content::ToolCall(call) => (call.name.len() + call.arguments.to_string().len()).div_ceil(4),
    };
    message.content().iter().map(of).sum()
}

/// A shorter conversation: old tool results cleared, then, until half of the window is free, the oldest turns left out.
/// `None` when nothing can go: what is left is the present turn.
pub(crate) fn trimmed(messages: &[Arc<Message>], window_tokens: u32) -> Option<Messages> {
    let cleared = clear_results(messages);
    let is_shorter = cleared.iter().zip(messages).any(|(new, old)| !Arc::ptr_eq(new, old));
    let sizes: Vec<usize> = cleared.iter().map(|message| tokens(message)).collect();
    let budget = usize::try_from(window_tokens / 2).unwrap_or(usize::MAX);
    let begins_turn = |message: &Message| matches!(message, Message::User(_) | Message::Custom(_));
    let turns: Vec<usize> = (0..cleared.len()).filter(|at| begins_turn(&cleared[*at])).collect();
    let mut left: usize = sizes.iter().sum();
    let mut cut = 0;
    for next in turns.into_iter().filter(|at| *at > 0) {
        // When the estimate says that it fits, the provider knows better: one turn goes at least.
        if left <= budget && (cut > 0 || is_shorter) {
            break;
        }
        left -= sizes[cut..next].iter().sum::<usize>();
        cut = next;
    }
    (is_shorter || cut > 0).then(|| cleared[cut..].iter().cloned().collect())
}

fn clear_results(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let is_result = |message: &Message| matches!(message, Message::ToolResult(_));
    let mut to_clear =
        messages.iter().filter(|message| is_result(message)).count().saturating_sub(KEPT_RESULTS);
    let clear = |message: &Arc<Message>| match message.as_ref() {
        Message::ToolResult(result) if to_clear > 0 => {
            to_clear -= 1;
            let bytes: usize = tokens(message) * 4;
            if bytes < MIN_CLEARED_BYTES {
                return message.clone();
            }
            let content = vec![Content::text(CLEARED)];
            Arc::new(Message::ToolResult(ToolResultMessage { content, details: None, ..result.clone() }))
        }
        _ => message.clone(),
    };
    messages.iter().map(clear).collect()
}

#[cfg(test)]
#[path = "trim_tests.rs"]
mod tests;
