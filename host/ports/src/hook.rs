//! The hook port: something that watches, gates or rewrites at a stage of the turn. Native hooks and components stand in
//! one chain and answer the same types.

use crate::extension::HookStage;
use crate::message::{Content, ToolCall};
use crate::tool::{ToolOutcome, TurnContext};
use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// What a gate says of a tool call. Nothing here can grant: permissions are decided after all gates, on what is left.
#[derive(Debug, Clone, PartialEq)]
pub enum GateVerdict {
    /// No objection.
    Pass,
    /// Run it with these arguments; they are validated again and later gates see them.
    Rewrite(Value),
    /// Do not run it; the model reads the reason.
    Block(String),
    /// Not now: the model is told, the batch ends, a person may approve later.
    Defer(String),
    /// A person decides now, with this question; without one this is a block.
    Ask(String),
}

/// Changes to a result. Each present field replaces that field as a whole (000-136).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Amendment {
    /// Replaces the content.
    pub content: Option<Vec<Content>>,
    /// Replaces the details.
    pub details: Option<Value>,
    /// Replaces the error mark.
    pub is_error: Option<bool>,
    /// Asks to end the turn after this batch.
    pub terminate: bool,
}

/// A hook that did not answer.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// It ended the turn on purpose (posoco `HookAborted`).
    #[error("{reason}")]
    Aborted {
        /// The hook's words.
        reason: String,
    },
    /// It failed: a trap, a time-out, an answer out of form, a missing power.
    #[error("hook {hook} failed: {message}")]
    Failed {
        /// Whose hook.
        hook: String,
        /// What happened and what the user can do.
        message: String,
        /// What lies beneath.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

/// What a hook gets besides its subject.
#[derive(Clone)]
pub struct HookContext {
    /// Where in the conversation.
    pub turn: TurnContext,
    /// Fires when the run is aborted.
    pub cancel: CancellationToken,
}

/// Something that takes part in a turn. Every method has a default that does nothing; [`Hook::handles`] says which ones
/// are worth calling, so that a stage without subscribers costs nothing.
#[async_trait]
pub trait Hook: Send + Sync {
    /// Shown in messages; an extension's id, or a native hook's own name.
    fn name(&self) -> &str;

    /// Whether this hook takes part in `stage`, and for the stages around a tool call, for this tool.
    fn handles(&self, stage: HookStage, tool: Option<&str>) -> bool;

    /// Lower runs earlier.
    fn priority(&self, _stage: HookStage) -> i32 {
        0
    }

    /// Before a tool call. A gate: an error denies the call.
    ///
    /// # Errors
    /// Any error blocks this call with its text (000-134); [`HookError::Aborted`] also ends the turn.
    async fn before_tool_call(
        &self,
        _context: &HookContext,
        _call: &ToolCall,
    ) -> Result<GateVerdict, HookError> {
        Ok(GateVerdict::Pass)
    }

    /// After a tool call that ran. `outcome` is the result as earlier hooks left it.
    ///
    /// # Errors
    /// A native hook's error turns this call into an error result (000-138); a component's leaves the result unchanged
    /// unless its descriptor asks for `closed`.
    async fn after_tool_call(
        &self,
        _context: &HookContext,
        _call: &ToolCall,
        _outcome: &ToolOutcome,
    ) -> Result<Option<Amendment>, HookError> {
        Ok(None)
    }
}
