//! The permission port: the last word before a call runs, after all gates.

use crate::message::ToolCall;
use crate::tool::TurnContext;
use async_trait::async_trait;
use std::path::PathBuf;

/// What a call would touch, in the tool's own judgement of its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallAccess {
    /// Reads this path of the host.
    Read(PathBuf),
    /// Creates, changes or deletes this path of the host.
    Write(PathBuf),
    /// Runs this command line on the host.
    Execute(String),
    /// Calls this, with these arguments, in a program that runs outside of the sandbox with the user's rights.
    Outside(String),
    /// Runs inside the sandbox of this extension; its grants already bound what it can do.
    Sandboxed(String),
    /// Touches nothing outside the process.
    Nothing,
}

/// A decision on one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// Run it.
    Allow,
    /// Do not run it; the model reads the reason, which names the flag or grant that would allow it.
    Deny(String),
}

/// Decides calls and asks people.
#[async_trait]
pub trait PermissionPort: Send + Sync {
    /// Decides one call with its effective arguments, after every rewrite.
    async fn decide(&self, turn: &TurnContext, call: &ToolCall, access: &CallAccess) -> Permission;

    /// Asks a person on a gate's behalf. Without a person the answer is a denial.
    async fn ask(&self, turn: &TurnContext, call: &ToolCall, asked_by: &str, question: &str) -> Permission;
}

/// Allows everything, asks nobody. For embedders and tests that do their own deciding.
pub struct AllowAll;

#[async_trait]
impl PermissionPort for AllowAll {
    async fn decide(&self, _turn: &TurnContext, _call: &ToolCall, _access: &CallAccess) -> Permission {
        Permission::Allow
    }

    async fn ask(&self, _turn: &TurnContext, _call: &ToolCall, asked_by: &str, question: &str) -> Permission {
        Permission::Deny(format!("{asked_by} asks: {question} (nobody is there to answer)"))
    }
}
