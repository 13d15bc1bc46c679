//! The end of a session in this program.

use super::AgentSession;
use crate::error::AgentError;
use capstan_ports::SessionLifecycle;
use std::sync::atomic::Ordering;

impl AgentSession {
    /// Ends the session here: a run in progress is aborted and waited for, what waited for its end is recorded, hooks are
    /// told of the end if they knew of the beginning, and from then on nothing is written, whatever the agent goes on to
    /// do. The methods that would write answer [`AgentError::Closed`]; what was said can still be looked at. A second call
    /// does nothing. A file is free for others once the last handle to the session is gone.
    ///
    /// Called from within a run, by a tool or a hook, it waits for itself; the abort then ends the call, and the session is
    /// closed by the next call of this method.
    ///
    /// # Errors
    /// [`AgentError::Session`] when what waited could not be recorded. The session is closed all the same.
    pub async fn dispose(&self) -> Result<(), AgentError> {
        self.shared.closing.store(true, Ordering::Relaxed);
        // Also ends a summary that is being written.
        self.agent.abort();
        let _upkeep = self.shared.upkeep.lock().await;
        let idle = loop {
            match self.agent.claim() {
                Ok(idle) => break idle,
                Err(_busy) => {
                    self.agent.abort();
                    self.agent.wait_for_idle().await;
                }
            }
        };
        if *self.shared.closed.read().await {
            return Ok(());
        }
        let flushed = self.flush_waiting(&idle).await;
        if self.shared.announced.swap(false, Ordering::AcqRel) {
            self.tell(SessionLifecycle::End).await;
        }
        *self.shared.closed.write().await = true;
        self.agent.configure(|config| config.log = None);
        flushed
    }

    /// Whether something new may begin.
    pub(super) fn ensure_open(&self) -> Result<(), AgentError> {
        if self.shared.closing.load(Ordering::Relaxed) { Err(AgentError::Closed) } else { Ok(()) }
    }
}

#[cfg(test)]
#[path = "closing_tests.rs"]
mod tests;
