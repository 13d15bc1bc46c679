//! Where the part of a conversation begins that stays as it is.

use std::collections::HashMap;

use capstan_sdk::prelude::*;

/// Characters that a token stands for, on average; what the host reckons with.
const CHARS_PER_TOKEN: usize = 4;

/// What a picture counts, as with the host.
const IMAGE_CHARS: usize = 4800;

/// About how many tokens a message takes.
pub(crate) fn tokens(message: &Message) -> usize {
    let content = message.content.iter().map(|piece| match piece {
        Content::Text(text) | Content::Thinking(text) => text.chars().count(),
        Content::Image(_) => IMAGE_CHARS,
    });
    let calls =
        message.tool_calls.iter().map(|call| call.name.chars().count() + call.arguments.chars().count());
    content.chain(calls).sum::<usize>().div_ceil(CHARS_PER_TOKEN)
}

/// Whether the messages can be cut before each position without parting a call from its result.
fn allowed(messages: &[Message]) -> Vec<bool> {
    let mut allowed = vec![true; messages.len() + 1];
    let mut calls: HashMap<&str, usize> = HashMap::new();
    let mut closed = 0;
    for (at, message) in messages.iter().enumerate() {
        calls.extend(message.tool_calls.iter().map(|call| (call.id.as_str(), at)));
        if message.role != Role::Tool {
            continue;
        }
        // A result without its call must not be the first either.
        let call = message.tool_call_id.as_deref().and_then(|id| calls.get(id)).copied();
        let from = call.map_or(at, |call| call + 1).max(closed);
        allowed[from..=at].fill(false);
        closed = at + 1;
    }
    allowed
}

/// The first message that stays. As many whole turns stay as are wanted and fit into `budget` tokens; where not even the
/// present turn fits, as much of its end as does, and the newest message with what belongs to it in any case. Zero: all stay.
pub(crate) fn first_kept(messages: &[Message], turns: usize, budget: usize) -> usize {
    let allowed = allowed(messages);
    let mut kept = 0;
    let mut seen = 0;
    let mut turn = None;
    let mut inside = None;
    for at in (0..messages.len()).rev() {
        kept += tokens(&messages[at]);
        if !allowed[at] {
            continue;
        }
        let fits = kept <= budget;
        if fits || inside.is_none() {
            inside = Some(at);
        }
        if messages[at].role == Role::User {
            seen += 1;
            if fits && seen <= turns {
                turn = Some(at);
            }
        }
        if !fits || seen >= turns {
            break;
        }
    }
    turn.or(inside).unwrap_or(0)
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
