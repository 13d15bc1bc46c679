//! Results that are too large to stay as they are. A result at the end of a conversation cannot be summarized away, because
//! the model has not read it yet; so its middle is left out, where several messages that stay would take too much.

use crate::compaction::estimate::{chars, chars_of, tokens, total};
use capstan_ports::{Content, Message, ToolResultMessage};
use std::sync::Arc;

/// No result is made smaller than this, in tokens: less would not say what it was about.
const MIN_RESULT_TOKENS: usize = 500;

/// Whether [`shortened`] would change anything.
pub(crate) fn is_shortened(kept: &[Arc<Message>], keep: usize) -> bool {
    let allowed = allowance(kept, keep);
    kept.iter().any(|message| is_oversized(message, allowed))
}

/// What is kept, with its largest results cut where all of it takes more than twice the wanted `keep` tokens. The session
/// has them whole.
pub(crate) fn shortened(kept: &[Arc<Message>], keep: usize) -> Vec<Arc<Message>> {
    let allowed = allowance(kept, keep);
    let shorten = |message: &Arc<Message>| match message.as_ref() {
        Message::ToolResult(result) if is_oversized(message, allowed) => {
            Arc::new(Message::ToolResult(cut(result, chars_of(allowed))))
        }
        _ => message.clone(),
    };
    kept.iter().map(shorten).collect()
}

/// Tokens that one result may take.
fn allowance(kept: &[Arc<Message>], keep: usize) -> usize {
    if total(kept) <= keep.saturating_mul(2) {
        return usize::MAX;
    }
    let results: Vec<usize> = kept
        .iter()
        .filter(|message| matches!(message.as_ref(), Message::ToolResult(_)))
        .map(|message| tokens(message))
        .collect();
    let mut allowed = keep.max(MIN_RESULT_TOKENS);
    while allowed > MIN_RESULT_TOKENS && results.iter().map(|size| allowed.min(*size)).sum::<usize>() > keep {
        allowed = (allowed / 2).max(MIN_RESULT_TOKENS);
    }
    allowed
}

fn is_oversized(message: &Message, allowed: usize) -> bool {
    matches!(message, Message::ToolResult(_)) && tokens(message) > allowed
}

/// Beginning and end of a result, together about `max_chars`. Most commands say at the end how they ended.
fn cut(result: &ToolResultMessage, max_chars: usize) -> ToolResultMessage {
    let mut left = max_chars;
    let mut content = Vec::new();
    let mut left_out = 0;
    for piece in &result.content {
        let size = chars(piece);
        if size <= left {
            left -= size;
            content.push(piece.clone());
            continue;
        }
        match piece {
            Content::Text { text } => content.push(Content::text(without_middle(text, size, left))),
            Content::Image { .. } | Content::Thinking { .. } | Content::ToolCall(_) => left_out += 1,
        }
        left = 0;
    }
    if left_out > 0 {
        content.push(Content::text(format!("[{left_out} pictures left out to make room]")));
    }
    // Details are for screens and hold the text a second time in some tools; the session has them.
    ToolResultMessage { content, details: None, ..result.clone() }
}

fn without_middle(text: &str, chars: usize, max_chars: usize) -> String {
    let (head, tail) = (max_chars - max_chars / 4, max_chars / 4);
    let at = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
    let (begin, end) = (&text[..at(head)], &text[at(chars - tail)..]);
    let missing = chars - head - tail;
    format!(
        "{begin}\n[... {missing} characters left out to make room; make a narrower call to see them ...]\n{end}"
    )
}

#[cfg(test)]
#[path = "shorten_tests.rs"]
mod tests;
