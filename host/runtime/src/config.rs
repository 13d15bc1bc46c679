//! Bounds of a session, and the clock that one of them needs.

use crate::error::AgentError;
use std::time::{Duration, Instant};

/// When a conversation is compacted and how much of it stays; the loop's own settings.
pub use capstan_agent::CompactionSettings as CompactConfig;

/// Bounds of a session. Make one with `AgentConfig { max_turns: 5, ..AgentConfig::default() }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentConfig {
    /// Turns of one session; 100 unless set. A further one is [`AgentError::LimitExceeded`] before anybody is asked.
    pub max_turns: u32,
    /// Answers with tool calls that are executed in one turn; 10 unless set. A further one ends the turn with
    /// [`AgentError::LimitExceeded`].
    pub max_tool_turns: u32,
    /// How long after its beginning a session takes turns; without a limit unless set.
    pub session_ttl: Option<Duration>,
    /// When the conversation is compacted; never unless set.
    pub compact_config: Option<CompactConfig>,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self { max_turns: 100, max_tool_turns: 10, session_ttl: None, compact_config: None }
    }
}

impl AgentConfig {
    /// Refuses bounds with which no turn could ever run.
    pub(crate) fn check(&self) -> Result<(), AgentError> {
        let reason = if self.max_turns == 0 {
            "max_turns is 0, so no turn could run; set it to 1 or more"
        } else if self.max_tool_turns == 0 {
            "max_tool_turns is 0, so no tool could run; set it to 1 or more, or let the role expose no tools"
        } else if self.session_ttl == Some(Duration::ZERO) {
            "session_ttl is 0, so every session would be over at once; set a longer one, or none"
        } else {
            return Ok(());
        };
        Err(AgentError::Config(reason.to_owned()))
    }
}

/// Tells the time for [`AgentConfig::session_ttl`]. A seam, so that tests need not wait.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment; never goes back.
    fn now(&self) -> Duration;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
