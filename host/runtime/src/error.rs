//! What can go wrong in a turn, a plan, or when an agent is put together.

use capstan_agent::AgentError as LoopError;
use capstan_ports::{MemoryError, ModelError, ToolError};

/// What went wrong. The errors of the parts are held as they are, so that a program can look into them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The model did not answer.
    #[error(transparent)]
    Llm(#[from] ModelError),
    /// A tool failed where that ends the turn.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// What the model wrote is no plan.
    #[error("no plan could be read: {0}")]
    PlanParse(String),
    /// A hook ended the turn; its own words.
    #[error("blocked by a hook: {0}")]
    HookBlocked(String),
    /// A limit of the configuration was reached.
    #[error("{0}")]
    LimitExceeded(String),
    /// The parts do not fit together.
    #[error("the agent cannot be built: {0}")]
    Config(String),
    /// Anything else: the turn was aborted, the session cannot be kept.
    #[error("{0}")]
    Other(String),
}

impl AgentError {
    /// Whether the same thing may succeed when it is tried again. Models and tools say it of their own errors; a memory may
    /// be back in a moment. What a hook, a limit, a parser or the configuration said stays so (X22).
    pub fn is_recoverable(&self) -> bool {
        match self {
            Self::Llm(error) => error.kind.is_transient(),
            Self::Tool(error) => matches!(error, ToolError::TimedOut(_)),
            Self::Memory(_) => true,
            Self::PlanParse(_)
            | Self::HookBlocked(_)
            | Self::LimitExceeded(_)
            | Self::Config(_)
            | Self::Other(_) => false,
        }
    }
}

/// What the loop says, in the words of this crate.
impl From<LoopError> for AgentError {
    fn from(error: LoopError) -> Self {
        match error {
            LoopError::Model(error) | LoopError::BranchSummary(error) | LoopError::Compaction(error) => {
                Self::Llm(error)
            }
            LoopError::Runtime(error) => {
                Self::Tool(ToolError::Failed { message: error.to_string(), source: Some(Box::new(error)) })
            }
            LoopError::Memory(error) => Self::Memory(error),
            LoopError::HookAborted { reason, .. } | LoopError::CompactionRefused { reason, .. } => {
                Self::HookBlocked(reason)
            }
            limit @ (LoopError::ToolLoopExceeded { .. } | LoopError::RepeatedFailure { .. }) => {
                Self::LimitExceeded(limit.to_string())
            }
            config @ (LoopError::DuplicateTool { .. } | LoopError::ExtensionName { .. }) => {
                Self::Config(config.to_string())
            }
            other => Self::Other(other.to_string()),
        }
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
