//! The message that says what was left out. It is read again when the window moves on, so that there is only ever one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use capstan_sdk::prelude::*;

use crate::conversation::Piece;

/// How the message begins.
const BEGIN: &str = "[sliding-window] Left out here so that the conversation fits: ";
const CALLS: &str = "Tools called in them: ";
const REQUESTS: &str = "What the user said in them, shortened:";

/// Requests that are told; the newest, because they are most likely still of use.
const MAX_REQUESTS: usize = 10;
const MAX_REQUEST_CHARS: usize = 160;

/// What was left out, all together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Note {
    messages: usize,
    calls: BTreeMap<String, usize>,
    requests: Vec<String>,
}

impl Note {
    /// An earlier note, if a message is one.
    pub(crate) fn of(message: &Message) -> Option<Self> {
        let text = message.text();
        let rest = text.strip_prefix(BEGIN).filter(|_| message.role == Role::User)?;
        let mut lines = rest.lines();
        let messages = lines.next()?.split(' ').next()?.parse().ok()?;
        let mut note = Self { messages, ..Self::default() };
        for line in lines {
            if let Some(request) = line.strip_prefix("- ") {
                note.requests.push(request.to_owned());
            } else if let Some(calls) = line.strip_prefix(CALLS) {
                let pairs = calls.trim_end_matches('.').split(", ").filter_map(|pair| pair.rsplit_once(" ×"));
                note.calls
                    .extend(pairs.filter_map(|(name, count)| Some((name.to_owned(), count.parse().ok()?))));
            }
        }
        Some(note)
    }

    /// Adds what came before.
    pub(crate) fn add_earlier(&mut self, earlier: Self) {
        self.messages += earlier.messages;
        for (name, count) in earlier.calls {
            *self.calls.entry(name).or_default() += count;
        }
        self.requests.splice(0..0, earlier.requests);
    }

    pub(crate) fn add(&mut self, piece: &Piece) {
        self.messages += piece.messages.len();
        for message in &piece.messages {
            for call in &message.tool_calls {
                *self.calls.entry(call.name.clone()).or_default() += 1;
            }
            if message.role == Role::User {
                let text = message.text();
                let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let mut short: String = line.chars().take(MAX_REQUEST_CHARS).collect();
                if short.len() < line.len() {
                    short.push('…');
                }
                if !short.is_empty() {
                    self.requests.push(short);
                }
            }
        }
    }

    /// The message, of about at most so many characters.
    pub(crate) fn message(&self, max_chars: usize) -> Message {
        let mut text = format!(
            "{BEGIN}{} earlier messages. Files and results that they held have to be read again.",
            self.messages
        );
        let mut room = max_chars.saturating_sub(text.chars().count() + CALLS.len() + 2);
        let mut calls: Vec<_> = self.calls.iter().collect();
        calls.sort_by(|left, right| right.1.cmp(left.1));
        let named: Vec<String> =
            within(&mut room, calls.iter().map(|(name, count)| format!("{name} ×{count}")));
        if !named.is_empty() {
            // Writing into a `String` cannot fail.
            let _written = write!(text, "\n{CALLS}{}.", named.join(", "));
        }
        let mut room = max_chars.saturating_sub(text.chars().count() + REQUESTS.len() + 1);
        let mut told = within(&mut room, self.requests.iter().rev().take(MAX_REQUESTS).cloned());
        told.reverse();
        if !told.is_empty() {
            let _written = write!(text, "\n{REQUESTS}\n- {}", told.join("\n- "));
        }
        Message::user(text)
    }
}

/// The first of these that fit, with three signs between.
fn within(room: &mut usize, all: impl Iterator<Item = String>) -> Vec<String> {
    all.take_while(|next| {
        let length = next.chars().count() + 3;
        let fits = length <= *room;
        *room = room.saturating_sub(length);
        fits
    })
    .collect()
}

#[cfg(test)]
#[path = "note_tests.rs"]
mod tests;
