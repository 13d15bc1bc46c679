//! What is recorded between two runs: neither a run in progress nor the session's upkeep may find it in the middle.

use super::AgentSession;
use crate::agent::ActiveRun;
use crate::error::AgentError;
use capstan_ports::entry::EntryKind;

impl AgentSession {
    /// Records an entry that must not come into the middle of a run. During one, or while the session itself is changed, it
    /// is kept back until that is over.
    pub(super) async fn record_between_runs(&self, kind: EntryKind) -> Result<(), AgentError> {
        self.ensure_open()?;
        // Held while something is recorded, so that a prompt that comes meanwhile waits and is not told that the agent is
        // busy. Never waited for: who has it may wait for a hook that came here.
        let upkeep = self.shared.upkeep.try_lock().ok();
        let mut waiting = self.shared.waiting.lock().await;
        match upkeep.as_ref().and_then(|_| self.agent.claim().ok()) {
            Some(_idle) => {
                self.write_down(&mut waiting).await?;
                self.record(kind).await.map(drop)
            }
            // Whoever ends the run looks here before anybody else can run.
            None => {
                waiting.push(kind);
                Ok(())
            }
        }
    }

    /// Records what waited for the end of a run. Takes the right to run as the proof that none is in progress.
    pub(super) async fn flush_waiting(&self, _idle: &ActiveRun) -> Result<(), AgentError> {
        let mut waiting = self.shared.waiting.lock().await;
        self.write_down(&mut waiting).await
    }

    /// Ends a run: records what waited for it, and only then lets others run.
    pub(super) async fn finish(&self, run: ActiveRun) -> Result<(), AgentError> {
        let mut waiting = self.shared.waiting.lock().await;
        let written = self.write_down(&mut waiting).await;
        // Before the list is free again, so that nothing is put there for a run that is over.
        drop(run);
        written
    }

    async fn write_down(&self, waiting: &mut Vec<EntryKind>) -> Result<(), AgentError> {
        while let Some(kind) = waiting.first().cloned() {
            self.record(kind).await?;
            waiting.remove(0);
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
