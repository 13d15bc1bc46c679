//! Compaction strategies. Each acts only when the conversation and its answer would not fit the window.

use capstan_sdk::prelude::*;
use capstan_sdk::{Redirect, SummaryOrder};

fn fits(context: &Compaction) -> bool {
    context.used_tokens.saturating_add(context.reserve_tokens) < context.window_tokens
}

/// The last user's message and what follows it, after a note of what is gone.
fn shortened(messages: Vec<Message>) -> Vec<Message> {
    let cut = messages.iter().rposition(|message| message.role == Role::User).unwrap_or(0);
    let note = Message::user(format!("({cut} messages left out)"));
    std::iter::once(note).chain(messages.into_iter().skip(cut)).collect()
}

pub(crate) fn tail(messages: Vec<Message>, context: &Compaction) -> Result<Action> {
    Ok(if fits(context) || messages.len() < 2 { Action::None } else { Action::Replace(shortened(messages)) })
}

pub(crate) fn summary(messages: Vec<Message>, context: &Compaction) -> Result<Action> {
    let first_kept = u32::try_from(messages.len().saturating_sub(1))?;
    let instructions = context.instructions.clone().unwrap_or_else(|| "names of files".to_owned());
    Ok(if fits(context) { Action::None } else { Action::Summarize(SummaryOrder { first_kept, instructions }) })
}

pub(crate) fn fresh(messages: Vec<Message>, context: &Compaction) -> Result<Action> {
    if fits(context) {
        return Ok(Action::None);
    }
    let session_id = context.instructions.clone();
    Ok(Action::NewSession(Redirect { messages: shortened(messages), session_id }))
}

/// A list that no provider accepts: results without their calls.
pub(crate) fn orphan(mut messages: Vec<Message>, _context: &Compaction) -> Result<Action> {
    messages.retain(|message| message.tool_calls.is_empty());
    Ok(Action::Replace(messages))
}
