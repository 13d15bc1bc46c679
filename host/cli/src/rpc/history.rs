//! The conversation as clients see it: pi's messages, summaries and shell commands among them.

use capstan_ports::entry::{Entry, EntryKind, MessageBody, MessageEntry};
use capstan_ports::message::{Message, Usage};
use serde_json::{Value, json};
use std::sync::Arc;

/// The entries of a branch that a client sees, oldest first: what is not summarized, after the last summary.
pub(super) fn shown(path: &[Arc<Entry>]) -> Vec<&Arc<Entry>> {
    let last = path.iter().enumerate().rev().find_map(|(at, entry)| match &entry.kind {
        EntryKind::Compaction(compaction) => Some((at, &compaction.first_kept_entry_id)),
        _ => None,
    });
    let is_said = |entry: &&Arc<Entry>| {
        matches!(
            entry.kind,
            EntryKind::Message(_) | EntryKind::CustomMessage(_) | EntryKind::BranchSummary(_)
        )
    };
    let Some((at, first_kept)) = last else { return path.iter().filter(is_said).collect() };
    let kept = path[..at].iter().position(|entry| entry.id == *first_kept).unwrap_or(at);
    let summary = std::iter::once(&path[at]);
    summary.chain(path[kept..at].iter().chain(&path[at + 1..]).filter(is_said)).collect()
}

/// An entry as a message.
///
/// # Errors
/// When it cannot be put into JSON.
pub(super) fn message(entry: &Entry) -> serde_json::Result<Value> {
    match &entry.kind {
        EntryKind::Message(said) => serde_json::to_value(&said.message),
        EntryKind::Compaction(compaction) => Ok(json!({
            "role": "compactionSummary",
            "summary": compaction.summary,
            "tokensBefore": compaction.tokens_before,
            "timestamp": entry.at_ms(),
        })),
        EntryKind::BranchSummary(branch) => Ok(json!({
            "role": "branchSummary",
            "summary": branch.summary,
            "fromId": branch.from_id,
            "timestamp": entry.at_ms(),
        })),
        _ => serde_json::to_value(entry.message()),
    }
}

/// Messages of the user, with their entries: where a fork can begin.
pub(super) fn fork_points(path: &[Arc<Entry>]) -> Vec<Value> {
    let users = path.iter().filter_map(|entry| match entry.message()?.as_ref() {
        message @ Message::User(_) => Some(json!({"entryId": entry.id, "text": message.text()})),
        Message::Assistant(_) | Message::ToolResult(_) | Message::Custom(_) => None,
    });
    users.collect()
}

/// What the last answer says; `None` before the first.
pub(super) fn last_text(path: &[Arc<Entry>]) -> Option<String> {
    path.iter().rev().find_map(|entry| match entry.message()?.as_ref() {
        Message::Assistant(answer) => Some(answer.text()),
        Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => None,
    })
}

/// Counts over a branch.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Counts {
    users: usize,
    assistants: usize,
    calls: usize,
    results: usize,
    all: usize,
    usage: Usage,
    /// Tokens of the context as the model counted them last; unknown right after a summary.
    context: Option<u64>,
}

impl Counts {
    pub(super) fn of(path: &[Arc<Entry>]) -> Self {
        let mut counts = Self::default();
        for entry in path {
            match &entry.kind {
                EntryKind::Compaction(_) => counts.context = None,
                EntryKind::Message(MessageEntry { message: MessageBody::Known(message) }) => {
                    counts.all += 1;
                    counts.add(message);
                }
                EntryKind::Message(_) | EntryKind::CustomMessage(_) => counts.all += 1,
                _ => {}
            }
        }
        counts
    }

    fn add(&mut self, message: &Message) {
        match message {
            Message::User(_) => self.users += 1,
            Message::ToolResult(_) => self.results += 1,
            Message::Custom(_) => {}
            Message::Assistant(answer) => {
                self.assistants += 1;
                self.calls += answer.tool_calls().count();
                let (sum, usage) = (&mut self.usage, &answer.usage);
                sum.input += usage.input;
                sum.output += usage.output;
                sum.cache_read += usage.cache_read;
                sum.cache_write += usage.cache_write;
                sum.cost.total += usage.cost.total;
                let context = usage.input + usage.output + usage.cache_read + usage.cache_write;
                if context > 0 {
                    self.context = Some(context);
                }
            }
        }
    }

    /// As clients read it, without what is not counted: which session it is.
    pub(super) fn data(&self, window: u32) -> Value {
        let Usage { input, output, cache_read, cache_write, cost, .. } = &self.usage;
        let percent = self.context.map(|tokens| tokens as f64 * 100.0 / f64::from(window.max(1)));
        json!({
            "userMessages": self.users,
            "assistantMessages": self.assistants,
            "toolCalls": self.calls,
            "toolResults": self.results,
            "totalMessages": self.all,
            "tokens": {
                "input": input,
                "output": output,
                "cacheRead": cache_read,
                "cacheWrite": cache_write,
                "total": input + output + cache_read + cache_write,
            },
            "cost": cost.total,
            "contextUsage": {"tokens": self.context, "contextWindow": window, "percent": percent},
        })
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
