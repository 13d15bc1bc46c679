//! Compaction of a session: when a person asks for it, and after a run that made the conversation too long.

use super::AgentSession;
use crate::agent::ActiveRun;
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
        let upkeep = self.announced().await?;
        let run = self.agent.claim()?;
        self.flush_waiting(&run).await?;
        let compacted = run.compact_by_hand(instructions).await;
        // Whoever waits for the end of it must find the agent idle.
        let finished = self.finish(run).await;
        drop(upkeep);
        finished.and(compacted)
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

    /// What a run came to, when everything that follows a run was seen to: what waited for its end is recorded, the
    /// conversation is compacted if it has grown too far (001-147), and what was queued meanwhile is answered (001-155).
    pub(super) async fn after(
        &self,
        mut run: ActiveRun,
        ran: Result<Vec<Arc<Message>>, AgentError>,
    ) -> Result<Vec<Arc<Message>>, AgentError> {
        let mut added = Vec::new();
        let mut latest = ran;
        loop {
            let answered = match latest {
                Ok(answered) => answered,
                Err(error) => {
                    self.finish(run).await?;
                    return Err(error);
                }
            };
            let is_well = ended_well(&answered);
            added.extend(answered);
            if !is_well {
                self.finish(run).await?;
                return Ok(added);
            }
            if !self.compact_if_due(run).await? || !self.agent.has_queued_messages() {
                return Ok(added);
            }
            // Whoever waited for the compaction comes first, and takes up the queue.
            run = match self.begin().await {
                Ok(run) => run,
                Err(AgentError::AlreadyRunning) => return Ok(added),
                Err(error) => return Err(error),
            };
            latest = match run.continue_run().await {
                Err(AgentError::ContinueFromAssistant) => Ok(Vec::new()),
                ran => ran,
            };
        }
    }

    /// Ends a run, and compacts the conversation before others can run. True when it had grown too far.
    async fn compact_if_due(&self, run: ActiveRun) -> Result<bool, AgentError> {
        // Whoever closes the session has the lock, waits for the run, and has aborted it.
        let upkeep = run.cancel().run_until_cancelled(self.shared.upkeep.lock()).await;
        let compacted = match &upkeep {
            Some(_) => {
                self.flush_waiting(&run).await?;
                run.compact_if_due().await
            }
            None => Ok(false),
        };
        let finished = self.finish(run).await;
        drop(upkeep);
        finished.and(compacted)
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
