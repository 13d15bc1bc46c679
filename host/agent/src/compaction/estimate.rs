//! How many tokens a conversation takes: what the provider counted, and an estimate of what came after that.

use capstan_ports::{Content, Message, StopReason, Usage};
use std::sync::Arc;

/// Characters that a token stands for, on average. Code and other languages than English take more tokens than that says,
/// which the reserve makes up for.
const CHARS_PER_TOKEN: usize = 4;

/// What a picture counts, wherever it stands: about what providers charge for one of usual size.
const IMAGE_CHARS: usize = 4800;

/// Tokens of one message, estimated.
pub(crate) fn tokens(message: &Message) -> usize {
    message.content().iter().map(chars).sum::<usize>().div_ceil(CHARS_PER_TOKEN)
}

/// Tokens of messages, estimated without regard to what a provider counted.
pub(crate) fn total(messages: &[Arc<Message>]) -> usize {
    messages.iter().map(|message| tokens(message)).sum()
}

/// As many characters as these tokens.
pub(crate) fn chars_of(tokens: usize) -> usize {
    tokens.saturating_mul(CHARS_PER_TOKEN)
}

/// A number of tokens as the ports have it.
pub(crate) fn clamped(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}

pub(crate) fn chars(piece: &Content) -> usize {
    match piece {
        Content::Text { text } => text.chars().count(),
        Content::Thinking { thinking, .. } => thinking.chars().count(),
        Content::Image { .. } => IMAGE_CHARS,
        Content::ToolCall(call) => call.name.chars().count() + call.arguments.to_string().chars().count(),
    }
}

/// The tokens of a conversation that grows. Each message is looked at once, so a round does not pay for the length of
/// what came before it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    seen: usize,
    tokens: usize,
}

impl Tally {
    /// Tokens of `messages`, which begin with what was seen before. Of the first `compacted` ones what a provider counted
    /// does not matter: it counted a conversation that is no longer sent.
    pub(crate) fn count(&mut self, messages: &[Arc<Message>], compacted: usize) -> u32 {
        for (at, message) in messages.iter().enumerate().skip(self.seen) {
            self.tokens = match counted(message).filter(|_| at >= compacted) {
                Some(counted) => counted,
                None => self.tokens.saturating_add(tokens(message)),
            };
        }
        self.seen = messages.len();
        clamped(self.tokens)
    }
}

/// What the provider of a good answer counted: the conversation up to it, and the answer itself.
fn counted(message: &Message) -> Option<usize> {
    let Message::Assistant(answer) = message else { return None };
    let is_good = !matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted);
    let Usage { input, output, cache_read, cache_write, total_tokens, .. } = answer.usage;
    let sum = input.saturating_add(output).saturating_add(cache_read).saturating_add(cache_write);
    let counted = if total_tokens > 0 { total_tokens } else { sum };
    // Some servers count what they wrote and nothing else.
    (is_good && counted > output).then(|| usize::try_from(counted).unwrap_or(usize::MAX))
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
