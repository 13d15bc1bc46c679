//! Compaction of a session: when a person asks for it, and after a run that made the conversation too long.

use super::AgentSession;
use crate::error::AgentError;
use capstan_ports::{CompactionResult, Message, StopReason};
use std::sync::Arc;

impl AgentSession {
    /// Has everything but the recent messages summarized, whether the conversation has grown too far or not, and records
    /// it. `instructions` say what the summary should keep in mind. Prompts that come meanwhile wait for the end of it;
    /// [`Agent::abort`](crate::Agent::abort) and [`AgentSession::abort_compaction`] end it. So a listener that is told of its
    /// events must not wait for a prompt.
    ///
    /// # Errors
    /// Nothing has changed then: [`AgentError::AlreadyRunning`] during a run, [`AgentError::AlreadyCompacted`],
    /// [`AgentError::NothingToCompact`], [`AgentError::CompactionCancelled`], [`AgentError::CompactionRefused`] when a hook
    /// objects, [`AgentError::Compaction`] when the model does not write the summary, and [`AgentError::Session`] when it
    /// cannot be recorded. Only [`AgentError::Listener`], for a listener that panicked, leaves the conversation compacted.
    pub async fn compact(&self, instructions: Option<String>) -> Result<CompactionResult, AgentError> {
        let upkeep = self.shared.upkeep.lock().await;
        self.flush_waiting().await?;
        self.announce().await;
        let claimed = self.agent.claim()?;
        let compacted = claimed.compact_by_hand(instructions).await;
        // Whoever waits for the end of it must find the agent idle.
        drop(claimed);
        drop(upkeep);
        self.flush_waiting().await?;
        compacted
    }

    /// Whether the conversation is being compacted, within a run or beside it.
    pub fn is_compacting(&self) -> bool {
        self.agent.config().compaction_control.is_busy()
    }

    /// Ends the compaction in progress; the conversation stays as it was, and a run goes on. Does nothing otherwise.
    pub fn abort_compaction(&self) {
        self.agent.config().compaction_control.abort();
    }

    /// Whether conversations are compacted without anybody asking. It may be paused nevertheless, after failures.
    pub fn auto_compaction(&self) -> bool {
        self.agent.config().compaction.enabled
    }

    /// Switches that on or off, from the next run on. Switching it on ends a pause.
    pub fn set_auto_compaction(&self, enabled: bool) {
        if enabled {
            self.agent.config().compaction_control.resume();
        }
        self.agent.configure(|config| config.compaction.enabled = enabled);
    }

    /// What a run came to, when everything that follows a run was seen to.
    pub(super) async fn after(
        &self,
        ran: Result<Vec<Arc<Message>>, AgentError>,
    ) -> Result<Vec<Arc<Message>>, AgentError> {
        self.flush_waiting().await?;
        let mut added = ran?;
        added.extend(self.settle(&added).await?);
        Ok(added)
    }

    /// After a run that ended well: compacts the conversation if it has grown too far (001-147), and lets the agent answer
    /// what was queued meanwhile (001-155). Returns what that added.
    pub(super) async fn settle(&self, added: &[Arc<Message>]) -> Result<Vec<Arc<Message>>, AgentError> {
        let mut more: Vec<Arc<Message>> = Vec::new();
        while ended_well(if more.is_empty() { added } else { &more }) && self.compact_if_due().await? {
            if !self.agent.has_queued_messages() {
                break;
            }
            match self.agent.continue_run().await {
                Ok(answered) => more.extend(answered),
                // Somebody else took up the queue, or the conversation.
                Err(AgentError::AlreadyRunning | AgentError::ContinueFromAssistant) => break,
                Err(error) => return Err(error),
            }
            self.flush_waiting().await?;
        }
        Ok(more)
    }

    /// True when the conversation had grown too far. A run that somebody began meanwhile sees to it itself.
    async fn compact_if_due(&self) -> Result<bool, AgentError> {
        let _upkeep = self.shared.upkeep.lock().await;
        match self.agent.claim() {
            Ok(claimed) => claimed.compact_if_due().await,
            Err(_running) => Ok(false),
        }
    }
}

/// Whether the last answer is one: an abort is an order to stop, and after a failure the model would fail again.
fn ended_well(added: &[Arc<Message>]) -> bool {
    let answer = added.iter().rev().find_map(|message| match message.as_ref() {
        Message::Assistant(answer) => Some(answer.stop_reason),
        Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => None,
    });
    matches!(answer, Some(StopReason::Stop | StopReason::Length | StopReason::ToolUse))
}

#[cfg(test)]
#[path = "compacting_tests.rs"]
mod tests;
