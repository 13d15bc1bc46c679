//! What failed, in the words of the extension contract: for hooks and observers that watch.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The part of the agent in which something failed. The names are those of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A model call.
    Model,
    /// Reading or writing the session.
    Session,
    /// A tool call.
    Tool,
    /// A limit of the turn.
    Limit,
    /// A hook.
    Hook,
    /// The memory.
    Memory,
    /// A plan.
    Plan,
    /// The configuration.
    Config,
    /// Anything else, an abort among them.
    Other,
}

/// Something that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Where.
    pub kind: FailureKind,
    /// One paragraph for people.
    pub message: String,
}

impl Failure {
    /// A failure of this kind.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
