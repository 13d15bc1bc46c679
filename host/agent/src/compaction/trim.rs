//! The last resort: what is left out for one run when a conversation does not fit and could not be summarized. It asks no
//! model, so it cannot fail and gives the same result for the same conversation.

use crate::compaction::cut::begins_turn;
use crate::compaction::estimate::tokens;
use capstan_ports::{Content, Message, Messages, ToolResultMessage};
use std::sync::Arc;

/// Results that stay as they are: the model is working with the latest ones.
const KEPT_RESULTS: usize = 5;

/// Shorter results are not worth clearing.
const MIN_CLEARED_BYTES: usize = 200;

const CLEARED: &str = "[Old tool result content cleared]";

/// A shorter conversation: old tool results cleared, then, until half of the window is free, the oldest turns left out.
/// `None` when nothing can go: what is left is the present turn.
pub(crate) fn trimmed(messages: &[Arc<Message>], window_tokens: u32) -> Option<Messages> {
    let cleared = clear_results(messages);
    let is_shorter = cleared.iter().zip(messages).any(|(new, old)| !Arc::ptr_eq(new, old));
    let sizes: Vec<usize> = cleared.iter().map(|message| tokens(message)).collect();
    let budget = usize::try_from(window_tokens / 2).unwrap_or(usize::MAX);
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
