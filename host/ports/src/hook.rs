//! The hook port: something that watches, gates or rewrites at a stage of the turn. Native hooks and components stand in
//! one chain and answer the same types.

use crate::event::CompactionReason;
use crate::extension::HookStage;
use crate::failure::Failure;
use crate::message::{AssistantMessage, Content, Message, ToolCall};
use crate::model::Messages;
use crate::session::SessionId;
use crate::tool::{ToolOutcome, TurnContext};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What a rewriter says of its subject: the user's message before a turn, the messages before a model call, the answer
/// after one.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict<T> {
    /// Go on with the subject as it is.
    Proceed,
    /// Go on with this in its place.
    Rewrite(T),
    /// End the turn, for this reason.
    Abort(String),
}

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
    /// Both: the arguments are validated again, and a person decides about the call with them.
    RewriteAndAsk {
        /// The new arguments.
        arguments: Value,
        /// The question.
        question: String,
    },
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
    /// Not now, for this reason. Before a tool call it means the same as [`GateVerdict::Defer`]; at every other stage
    /// there is nothing that could be put off, so it ends the turn like [`HookError::Aborted`] (003-129).
    #[error("{reason}")]
    Deferred {
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

/// What a hook gets besides its subject. Made with [`HookContext::new`], so that fields can be added.
#[derive(Clone)]
#[non_exhaustive]
pub struct HookContext {
    /// Where in the conversation.
    pub turn: TurnContext,
    /// Fires when the run is aborted.
    pub cancel: CancellationToken,
    /// The conversation as it stands: before a tool call it ends in the answer that made the call. Shared with the loop,
    /// so looking at it costs nothing; a hook that keeps it makes the loop copy its list once.
    pub conversation: Messages,
    /// The name of the agent's role, where it has one.
    pub agent: Option<Arc<str>>,
    /// Which turn of its session begins or has ended, counted from 0; only at the stages around a turn (004-123). At every
    /// stage [`TurnContext::turn`] says the same.
    pub turn_index: Option<u32>,
    /// Which step of its plan changed its status, counted from 0; only at [`HookStage::PlanStep`].
    pub plan_step_index: Option<usize>,
}

impl HookContext {
    /// A context without a conversation.
    pub fn new(turn: TurnContext, cancel: CancellationToken) -> Self {
        Self {
            turn,
            cancel,
            conversation: Messages::default(),
            agent: None,
            turn_index: None,
            plan_step_index: None,
        }
    }

    /// The same at a stage around a turn.
    #[must_use]
    pub fn of_turn(mut self) -> Self {
        self.turn_index = Some(self.turn.turn);
        self
    }

    /// The same about this step of a plan.
    #[must_use]
    pub fn of_plan_step(mut self, step: usize) -> Self {
        self.plan_step_index = Some(step);
        self
    }

    /// The latest answer of the model; at the stages around a tool call, the one that made the call (000-130).
    pub fn answer(&self) -> Option<&AssistantMessage> {
        self.conversation.iter().rev().find_map(|message| match message.as_ref() {
            Message::Assistant(answer) => Some(answer),
            Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => None,
        })
    }
}

/// What became of a plan's step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanStepStatus {
    /// It began.
    Running,
    /// Its answer.
    Completed(String),
    /// It did not work.
    Failed(Failure),
    /// It was left out.
    Skipped,
}

/// What happened to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionLifecycle {
    /// A new one began.
    Start,
    /// An old one is continued.
    Resume,
    /// Another branch or file is now the session.
    Switched,
    /// Old messages were replaced by something shorter.
    Compacted,
    /// It is over.
    End,
}

/// Something that takes part in a turn. Every method has a default that does nothing; [`Hook::handles`] says which ones
/// are worth calling, so that a stage without subscribers costs nothing.
///
/// Stages that come before something run in the order of priority, and the first that ends the turn is the last that
/// runs. Stages that come after something or report a failure run in the reverse order, and all of them run, whatever
/// the others answered.
#[async_trait]
pub trait Hook: Send + Sync {
    /// Shown in messages; an extension's id, or a native hook's own name.
    fn name(&self) -> &str;

    /// Whether this hook takes part in `stage`, and for the stages around a tool call, for this tool. For the other
    /// stages it is asked once, when the chain is built. Around a tool call, `None` asks whether it takes part for any
    /// tool at all, which only decides whether a person who asks is told that this tool was not among them.
    fn handles(&self, stage: HookStage, tool: Option<&str>) -> bool;

    /// Why this hook is not to be asked at `stage` any more, if it switched itself off after a failure. A gate never does:
    /// it goes on refusing.
    fn switched_off(&self, _stage: HookStage) -> Option<&str> {
        None
    }

    /// Lower runs earlier (and later at the stages that run in reverse).
    fn priority(&self, _stage: HookStage) -> i32 {
        0
    }

    /// Before a turn starts: before anything is loaded, stored or reported. A rewriter of the user's message; a rewrite
    /// that is no user message is left out and reported.
    ///
    /// # Errors
    /// [`HookError::Failed`] leaves the message unchanged and is reported; the others end the turn.
    async fn before_turn(
        &self,
        _context: &HookContext,
        _input: &Message,
    ) -> Result<Verdict<Message>, HookError> {
        Ok(Verdict::Proceed)
    }

    /// Before a model call. A rewriter: the list serves this request alone, the session keeps what happened. A list in
    /// which a call lacks its result, or the reverse, is left out and reported.
    ///
    /// # Errors
    /// As [`Hook::before_turn`].
    async fn before_model(
        &self,
        _context: &HookContext,
        _messages: &[Arc<Message>],
    ) -> Result<Verdict<Vec<Arc<Message>>>, HookError> {
        Ok(Verdict::Proceed)
    }

    /// After a model call, before anything is stored. A rewriter of the answer's content: text can be redacted, a call
    /// dropped or changed. Who answered, what it cost and why it stopped stay as they are.
    ///
    /// # Errors
    /// As [`Hook::before_turn`].
    async fn after_model(
        &self,
        _context: &HookContext,
        _answer: &AssistantMessage,
    ) -> Result<Verdict<AssistantMessage>, HookError> {
        Ok(Verdict::Proceed)
    }

    /// A model call failed for good: no retry is left. An observer.
    ///
    /// # Errors
    /// Any error is reported and changes nothing.
    async fn model_error(&self, _context: &HookContext, _failure: &Failure) -> Result<(), HookError> {
        Ok(())
    }

    /// A model call failed and is made again after `delay`; `attempt` counts from 1. An observer, asked of hooks that take part
    /// in [`HookStage::ModelError`]; components are not asked.
    ///
    /// # Errors
    /// As [`Hook::model_error`].
    async fn retrying(
        &self,
        _context: &HookContext,
        _attempt: u32,
        _delay: Duration,
        _failure: &Failure,
    ) -> Result<(), HookError> {
        Ok(())
    }

    /// Before a tool call. A gate: an error denies the call.
    ///
    /// # Errors
    /// Any error blocks this call with its text (000-134); [`HookError::Aborted`] also ends the turn, and
    /// [`HookError::Deferred`] puts the call off.
    async fn before_tool_call(
        &self,
        _context: &HookContext,
        _call: &ToolCall,
    ) -> Result<GateVerdict, HookError> {
        Ok(GateVerdict::Pass)
    }

    /// After a tool call that ran. `outcome` is the result as the hooks called before left it.
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

    /// A tool call failed: unknown tool, invalid arguments, blocked, or an error while running. An observer.
    ///
    /// # Errors
    /// As [`Hook::model_error`].
    async fn tool_error(
        &self,
        _context: &HookContext,
        _call: &ToolCall,
        _failure: &Failure,
    ) -> Result<(), HookError> {
        Ok(())
    }

    /// After a turn that ended well and was saved. An observer: the turn is not undone. `results` are those of the whole
    /// turn, in the order of their calls.
    ///
    /// # Errors
    /// As [`Hook::model_error`].
    async fn after_turn(
        &self,
        _context: &HookContext,
        _answer: &Message,
        _results: &[Arc<Message>],
    ) -> Result<(), HookError> {
        Ok(())
    }

    /// After a turn that failed, for whatever reason. An observer.
    ///
    /// # Errors
    /// As [`Hook::model_error`].
    async fn turn_error(&self, _context: &HookContext, _failure: &Failure) -> Result<(), HookError> {
        Ok(())
    }

    /// A step of a plan changed its status. `step` counts from 0 in the plan's order. An observer.
    ///
    /// # Errors
    /// As [`Hook::model_error`].
    async fn plan_step(
        &self,
        _context: &HookContext,
        _step: u32,
        _status: &PlanStepStatus,
    ) -> Result<(), HookError> {
        Ok(())
    }

    /// Before a conversation is shortened. The result is an objection: this time nothing is shortened, for this reason. Asked
    /// of hooks that take part in [`HookStage::SessionLifecycle`]; components are not asked.
    ///
    /// # Errors
    /// [`HookError::Failed`] is reported and is no objection; the others are.
    async fn before_compaction(
        &self,
        _context: &HookContext,
        _reason: CompactionReason,
    ) -> Result<Option<String>, HookError> {
        Ok(None)
    }

    /// The session began, changed or ended. An observer.
    ///
    /// # Errors
    /// As [`Hook::model_error`].
    async fn session_lifecycle(
        &self,
        _session: &SessionId,
        _event: SessionLifecycle,
    ) -> Result<(), HookError> {
        Ok(())
    }
}

/// Takes part in nothing (003-111).
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopHook;

#[async_trait]
impl Hook for NoopHook {
    fn name(&self) -> &str {
        "noop"
    }

    fn handles(&self, _stage: HookStage, _tool: Option<&str>) -> bool {
        false
    }
}
