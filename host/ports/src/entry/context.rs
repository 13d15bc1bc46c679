//! What of a session goes to a model: the messages of one branch, with summaries in the place of what they stand for.

use super::{BashExecution, Entry, EntryKind, MessageBody, MessageEntry, ModelChange};
use crate::message::{Content, Message, UserMessage};
use crate::model::ThinkingLevel;
use crate::session::EntryId;
use std::sync::Arc;

/// Before a compaction's summary (001-018).
pub const COMPACTION_PREFIX: &str =
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n";
/// After a compaction's summary.
pub const COMPACTION_SUFFIX: &str = "\n</summary>";
/// Before a branch's summary (001-019).
pub const BRANCH_SUMMARY_PREFIX: &str =
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n";
/// After a branch's summary. Without a line break before it, as pi writes it (X6).
pub const BRANCH_SUMMARY_SUFFIX: &str = "</summary>";

/// What a session says to a model, and with what it is to be continued.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionContext {
    /// The conversation, oldest first. Summaries and shell commands are messages of the user here.
    pub messages: Vec<Arc<Message>>,
    /// The entry that each of the messages comes from, in the same order. Messages that a compaction brought along all
    /// come from its entry.
    pub sources: Vec<EntryId>,
    /// How many of the leading messages the last compaction left: what stands in the place of older ones, and what it kept;
    /// zero where there was none. What a provider counted for an answer among them was another, longer conversation.
    pub compacted: usize,
    /// How much the model should think, where the branch says it.
    pub thinking: Option<ThinkingLevel>,
    /// The model that the branch was last continued with.
    pub model: Option<ModelChange>,
}

impl SessionContext {
    /// The context of a branch, given from its root to its leaf.
    ///
    /// Of several compactions only the last counts: its summary stands for everything before the entry that it kept
    /// first, also for the earlier summaries, which were part of what it summarized.
    pub fn of_branch(branch: &[&Arc<Entry>]) -> Self {
        let mut context = Self::default();
        for entry in branch {
            context.note_settings(entry);
        }
        let compacted = branch.iter().enumerate().rev().find_map(|(at, entry)| match &entry.kind {
            EntryKind::Compaction(compaction) => Some((at, *entry, compaction)),
            _ => None,
        });
        let Some((at, entry, compaction)) = compacted else {
            context.extend(branch);
            return context;
        };
        match &compaction.messages {
            Some(messages) => {
                for message in messages {
                    context.push(entry, Arc::new(message.clone()));
                }
            }
            None => {
                let text = format!("{COMPACTION_PREFIX}{}{COMPACTION_SUFFIX}", compaction.summary);
                context.push(entry, said(text, entry.at_ms()));
            }
        }
        let kept = branch[..at].iter().position(|before| before.id == compaction.first_kept_entry_id);
        context.extend(&branch[kept.unwrap_or(at)..at]);
        context.compacted = context.messages.len();
        context.extend(&branch[at + 1..]);
        context
    }

    fn note_settings(&mut self, entry: &Entry) {
        match &entry.kind {
            EntryKind::ModelChange(change) => self.model = Some(change.clone()),
            EntryKind::ThinkingLevelChange(change) => {
                // A level that only other programs know leaves the one before it.
                self.thinking = ThinkingLevel::parse(&change.thinking_level).or(self.thinking);
            }
            EntryKind::Message(MessageEntry { message: MessageBody::Known(message) }) => {
                if let Message::Assistant(answer) = message.as_ref()
                    && !answer.model.is_empty()
                {
                    self.model = Some(ModelChange {
                        provider: answer.provider.clone(),
                        model_id: answer.model.clone(),
                    });
                }
            }
            _ => {}
        }
    }

    fn extend(&mut self, entries: &[&Arc<Entry>]) {
        for entry in entries {
            if let Some(message) = entry.for_context() {
                self.push(entry, message);
            }
        }
    }

    fn push(&mut self, entry: &Entry, message: Arc<Message>) {
        self.messages.push(message);
        self.sources.push(entry.id.clone());
    }
}

impl Entry {
    /// The message that a model gets of this entry. Of a compaction nothing: what it stands for depends on where it is.
    pub fn for_context(&self) -> Option<Arc<Message>> {
        match &self.kind {
            EntryKind::Message(MessageEntry { message: MessageBody::Bash(bash) }) => {
                (!bash.exclude_from_context).then(|| said(bash.to_text(), bash.timestamp))
            }
            EntryKind::BranchSummary(branch) => Some(said(
                format!("{BRANCH_SUMMARY_PREFIX}{}{BRANCH_SUMMARY_SUFFIX}", branch.summary),
                self.at_ms(),
            )),
            _ => self.message(),
        }
    }
}

impl BashExecution {
    /// As a model reads it (001-011 … 001-016). The fence is longer than any in the output, so that the output cannot end
    /// it.
    pub fn to_text(&self) -> String {
        let mut text = format!("Ran `{}`\n", self.command);
        if self.output.is_empty() {
            text.push_str("(no output)");
        } else {
            let longest = self.output.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            let line_end = if self.output.ends_with('\n') { "" } else { "\n" };
            text.push_str(&format!("{fence}\n{}{line_end}{fence}", self.output));
        }
        match self.exit_code {
            _ if self.cancelled => text.push_str("\n\n(command cancelled)"),
            Some(0) | None => {}
            Some(code) => text.push_str(&format!("\n\nCommand exited with code {code}")),
        }
        if self.truncated {
            match &self.full_output_path {
                Some(path) => text.push_str(&format!("\n\n[Output truncated. Full output: {path}]")),
                None => text.push_str("\n\n[Output truncated]"),
            }
        }
        text
    }
}

fn said(text: String, timestamp: u64) -> Arc<Message> {
    Arc::new(Message::User(UserMessage { content: vec![Content::text(text)], timestamp }))
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
