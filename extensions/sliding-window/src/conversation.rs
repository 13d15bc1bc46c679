//! A conversation in pieces that stay or go as a whole: a call never without its result.

use std::collections::HashMap;

use capstan_sdk::prelude::*;

/// Characters that a token stands for, on average; what the host reckons with.
const CHARS_PER_TOKEN: usize = 4;

/// What a picture counts, as with the host.
const IMAGE_CHARS: usize = 4800;

/// Messages that stay or go together.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// One message, or an answer with calls and the results of all of them, in the order of the calls.
    pub(crate) messages: Vec<Message>,
    /// Estimated.
    pub(crate) tokens: usize,
}

impl Piece {
    pub(crate) fn role(&self) -> Option<Role> {
        self.messages.first().map(|message| message.role)
    }
}

/// The pieces of a conversation. What no provider accepts, a result without its call or a call without its result, is in none
/// of them.
pub(crate) fn pieces(messages: Vec<Message>) -> Vec<Piece> {
    // One slot for each message: an answer comes with a place for the result of each of its calls.
    let mut slots: Vec<(Message, Vec<Option<Message>>)> = Vec::new();
    let mut waiting: HashMap<String, (usize, usize)> = HashMap::new();
    for message in messages {
        if message.role == Role::Tool {
            let place = message.tool_call_id.as_ref().and_then(|id| waiting.remove(id));
            if let Some(result) = place.and_then(|(slot, call)| slots.get_mut(slot)?.1.get_mut(call)) {
                *result = Some(message);
            }
            continue;
        }
        for (at, call) in message.tool_calls.iter().enumerate() {
            waiting.insert(call.id.clone(), (slots.len(), at));
        }
        let results = vec![None; message.tool_calls.len()];
        slots.push((message, results));
    }
    let complete = slots.into_iter().filter_map(|(message, results)| {
        let says_something = message.role != Role::Assistant
            || !message.tool_calls.is_empty()
            || message.content.iter().any(|piece| piece.as_text() != Some(""));
        let results: Vec<Message> = results.into_iter().collect::<Option<_>>()?;
        says_something.then(|| std::iter::once(message).chain(results).collect::<Vec<_>>())
    });
    complete.map(|messages| Piece { tokens: messages.iter().map(tokens).sum(), messages }).collect()
}

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
