//! Where the part of a conversation begins that stays as it is.

use crate::compaction::estimate::{tokens, total};
use crate::compaction::summary;
use capstan_ports::Message;
use std::sync::Arc;

/// The leading messages that an earlier compaction left as its summary: one or none.
pub(crate) fn carried(messages: &[Arc<Message>]) -> usize {
    usize::from(messages.first().is_some_and(|first| summary::of_message(first).is_some()))
}

/// Whether somebody asks for something here.
pub(crate) fn begins_turn(message: &Message) -> bool {
    matches!(message, Message::User(_) | Message::Custom(_))
}

fn is_result(message: &Message) -> bool {
    matches!(message, Message::ToolResult(_))
}

/// The last position up to `wanted` at which the messages can be cut without parting a call from its result.
pub(crate) fn safe_cut(messages: &[Arc<Message>], wanted: usize) -> usize {
    let mut cut = wanted.min(messages.len());
    while cut > 0 && messages.get(cut).is_some_and(|message| is_result(message)) {
        cut -= 1;
    }
    // Stepping back over results ended at the answer that made their calls, which is a place to cut before.
    cut
}

/// The position from which about `keep` tokens of the newest messages are kept. It is never a tool result, and it is the
/// beginning of a turn where one lies near. What is before `carried` is a summary already; that position is the answer
/// when there is nothing more to summarize.
pub(crate) fn cut_point(messages: &[Arc<Message>], carried: usize, keep: usize) -> usize {
    let mut kept = 0;
    let reached = (carried..messages.len()).rev().find(|at| {
        kept += tokens(&messages[*at]);
        kept >= keep
    });
    let Some(reached) = reached else { return carried.min(messages.len()) };
    // Where only results follow, it is the answer that called for them: what came before it can go nevertheless.
    let after = (reached..messages.len()).find(|at| !is_result(&messages[*at]));
    let exact = after.unwrap_or_else(|| safe_cut(messages, reached)).max(carried);
    let kept_from = |at: usize| total(&messages[at..]);
    // One message that is much larger than what is to be kept goes itself, if something follows that can stand alone: a
    // pasted file would otherwise stay until as much was said after it.
    let is_large = kept_from(exact) > keep.saturating_mul(2);
    let behind = (exact + 1..messages.len()).find(|at| is_large && !is_result(&messages[*at]));
    let exact = behind.unwrap_or(exact);
    if begins_turn(&messages[exact]) {
        return exact;
    }
    let before = (carried + 1..exact).rev().find(|at| begins_turn(&messages[*at]));
    let next = (exact..messages.len()).find(|at| begins_turn(&messages[*at]));
    let near_before = before.filter(|at| kept_from(*at) <= keep.saturating_add(keep / 2));
    let near_next = next.filter(|at| kept_from(*at) >= keep / 2);
    near_before.or(near_next).unwrap_or(exact)
}

/// The beginning of the turn that a cut would split, if it would: behind it stands the beginning of what is kept.
pub(crate) fn split_turn(messages: &[Arc<Message>], carried: usize, cut: usize) -> Option<usize> {
    let is_split = messages.get(cut).is_some_and(|message| !begins_turn(message));
    let begin = (carried..cut).rev().find(|at| begins_turn(&messages[*at]));
    begin.filter(|_| is_split)
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
