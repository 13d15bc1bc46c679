//! Puts a shorter conversation in the place of the present one. Where a session is kept that is an entry of it, so that it
//! lasts.

use crate::compaction::conversation::{MAX_RESULT_CHARS, written};
use crate::compaction::summary;
use crate::error::AgentError;
use crate::run::Run;
use capstan_ports::entry::{Compaction, EntryKind};
use capstan_ports::{CompactionResult, EntryId, Message, Messages, SessionLifecycle, SessionLog};
use serde_json::Value;
use std::sync::Arc;

/// Where the summary, for programs that know only that, would be empty.
const LEFT_OUT: &str = "Older messages were left out.";

/// A shorter conversation, and who made it.
pub(crate) struct Shorter {
    pub(crate) messages: Vec<Arc<Message>>,
    /// What the first of them tells, where the host's model wrote it.
    pub(crate) summary: Option<String>,
    pub(crate) details: Option<Value>,
    /// Whether an extension wrote them.
    pub(crate) by_extension: bool,
}

impl Run<'_> {
    /// Goes on with the shorter conversation. `None` when it is the present one.
    pub(crate) async fn adopt(&mut self, shorter: Shorter) -> Result<Option<CompactionResult>, AgentError> {
        if shorter.messages.as_slice() == &self.transcript[..] {
            return Ok(None);
        }
        let result = match self.config.log.clone() {
            Some(log) => self.record(log.as_ref(), shorter).await?,
            None => {
                let tokens_before = u64::from(self.used_tokens());
                let summary = shorter.summary.unwrap_or_else(|| readable(&shorter.messages));
                self.replace(shorter.messages.into());
                let details = shorter.details;
                CompactionResult { summary, first_kept_entry_id: None, tokens_before, details }
            }
        };
        let hooks = self.config.hooks.current();
        self.patiently(hooks.session_lifecycle(&self.session_id, SessionLifecycle::Compacted)).await;
        Ok(Some(result))
    }

    /// Makes it an entry. What it has in common with the end of the conversation is kept by naming the first entry of it;
    /// only what comes before is written down.
    async fn record(
        &mut self,
        log: &dyn SessionLog,
        shorter: Shorter,
    ) -> Result<CompactionResult, AgentError> {
        let tokens_before = u64::from(self.used_tokens());
        let kept = self.kept_from(log, &shorter.messages);
        let new = &shorter.messages[..shorter.messages.len() - (self.transcript.len() - kept)];
        let first_kept_entry_id = self.sources.get(kept).cloned().flatten();
        let (summary, messages) = match (&shorter.summary, new) {
            (Some(summary), [_]) => (summary.clone(), None),
            _ => (readable(new), Some(new.iter().map(|message| message.as_ref().clone()).collect())),
        };
        let compaction = Compaction {
            summary: summary.clone(),
            first_kept_entry_id: first_kept_entry_id.unwrap_or_else(Compaction::keeps_nothing),
            tokens_before,
            details: shorter.details.clone(),
            from_hook: shorter.by_extension.then_some(true),
            messages,
        };
        let id = self.journal.record_compaction(log, compaction).await?;
        self.take_up_log()?;
        let first_kept = log.entry(&id).and_then(|entry| first_kept(&entry.kind));
        let details = shorter.details;
        Ok(CompactionResult { summary, first_kept_entry_id: first_kept, tokens_before, details })
    }

    /// From which message of the present conversation on `messages` end like it, as far as entries can say so: what an
    /// earlier compaction brought along has no entries of its own, and a result is kept with its call.
    fn kept_from(&self, log: &dyn SessionLog, messages: &[Arc<Message>]) -> usize {
        let is_same = |(old, new): &(&Arc<Message>, &Arc<Message>)| Arc::ptr_eq(old, new) || old == new;
        let same = self.transcript.iter().rev().zip(messages.iter().rev()).take_while(is_same).count();
        let unkept = self.sources.iter().rposition(Option::is_none).map_or(0, |at| at + 1);
        let brought = self.sources.iter().take_while(|source| is_compaction(log, source.as_ref())).count();
        let mut from = (self.transcript.len() - same).max(unkept).max(brought);
        while self.transcript.get(from).is_some_and(|next| matches!(next.as_ref(), Message::ToolResult(_))) {
            from += 1;
        }
        from
    }

    /// Goes on with other messages, in memory alone.
    pub(crate) fn replace(&mut self, messages: Messages) {
        self.compacted = messages.len();
        // None of them has an entry that could be named.
        self.sources = vec![None; messages.len()];
        self.transcript = messages;
        self.forget_counts();
    }

    /// Forgets what was found out about the transcript, because it is another one now.
    pub(crate) fn forget_counts(&mut self) {
        self.sound = 0;
        self.plain = 0;
        self.tally = Default::default();
    }
}

fn is_compaction(log: &dyn SessionLog, id: Option<&EntryId>) -> bool {
    let entry = id.and_then(|id| log.entry(id));
    entry.is_some_and(|entry| matches!(entry.kind, EntryKind::Compaction(_)))
}

fn first_kept(kind: &EntryKind) -> Option<EntryId> {
    match kind {
        EntryKind::Compaction(compaction) => Some(compaction.first_kept_entry_id.clone()),
        _ => None,
    }
}

/// The messages for somebody who knows only summaries. A summary among them stays what it is.
fn readable(messages: &[Arc<Message>]) -> String {
    let parts = messages.iter().map(|message| {
        summary::of_message(message)
            .unwrap_or_else(|| written(std::slice::from_ref(message), MAX_RESULT_CHARS))
    });
    let text = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    if text.is_empty() { LEFT_OUT.to_owned() } else { text }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
