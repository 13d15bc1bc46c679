//! The stages around the turn and the model call: rewriters and observers.
//!
//! A rewriter that fails leaves its subject unchanged and is left out from then on; one that declared `closed` ends the turn
//! instead. An observer that fails is left out. Nothing here can allow anything.

use super::{ComponentHook, Subscription};
use crate::bindings::capstan::extension::types;
use crate::bindings::exports::capstan::extension as wit;
use crate::convert;
use crate::error::CallError;
use crate::extension::Caller;
use crate::limits::Role;
use capstan_ports::extension::{FailureRule, HookStage, Power};
use capstan_ports::failure::{Failure, FailureKind};
use capstan_ports::hook::{HookContext, HookError, PlanStepStatus, SessionLifecycle, Verdict};
use capstan_ports::message::{AssistantMessage, Message, ToolCall};
use capstan_ports::session::SessionId;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Calls `run` of one exported interface. `None` when the component does not export it.
macro_rules! run {
    ($hook:expr, $caller:expr, $interface:ident, $($argument:expr),+) => {
        $hook.extension.call(Role::Hook, $caller, |store, instance, code| {
            Box::pin(async move {
                let Some(indices) = &code.indices.$interface else { return Ok(None) };
                indices.load(&mut *store, instance)?.call_run(store, $($argument),+).await.map(Some)
            })
        })
        .await
    };
}

impl ComponentHook {
    pub(super) async fn ask_before_turn(
        &self,
        context: &HookContext,
        input: &Message,
    ) -> Result<Verdict<Message>, HookError> {
        let Some(subscription) = self.open(HookStage::BeforeTurn)? else { return Ok(Verdict::Proceed) };
        let caller = self.caller(context, convert::content_bytes(input.content()));
        let (turn, message) = (convert::turn_context(&context.turn), convert::message_to_guest(input));
        let verdict = match run!(self, caller, before_turn, &turn, &message) {
            Ok(None | Some(wit::before_turn::Verdict::Proceed)) => Ok(Verdict::Proceed),
            Ok(Some(wit::before_turn::Verdict::Abort(reason))) => Ok(Verdict::Abort(reason)),
            Ok(Some(wit::before_turn::Verdict::Rewrite(message))) => self
                .may_rewrite()
                .and_then(|()| convert::message_from_guest(message, Some(input)))
                .map(Verdict::Rewrite),
            Err(source) => Err(source),
        };
        self.ruled(subscription, verdict)
    }

    pub(super) async fn ask_before_model(
        &self,
        context: &HookContext,
        messages: &[Arc<Message>],
    ) -> Result<Verdict<Vec<Arc<Message>>>, HookError> {
        let Some(subscription) = self.open(HookStage::BeforeModel)? else { return Ok(Verdict::Proceed) };
        let bytes = messages.iter().map(|message| convert::content_bytes(message.content())).sum();
        let caller = self.caller(context, bytes);
        let turn = convert::turn_context(&context.turn);
        let forms: Vec<_> = messages.iter().map(|message| convert::message_to_guest(message)).collect();
        let verdict = match run!(self, caller, before_model, &turn, &forms) {
            Ok(None | Some(wit::before_model::Verdict::Proceed)) => Ok(Verdict::Proceed),
            Ok(Some(wit::before_model::Verdict::Abort(reason))) => Ok(Verdict::Abort(reason)),
            Ok(Some(wit::before_model::Verdict::Rewrite(forms))) => self
                .may_rewrite()
                .and_then(|()| convert::messages_from_guest(forms, messages))
                .map(Verdict::Rewrite),
            Err(source) => Err(source),
        };
        self.ruled(subscription, verdict)
    }

    pub(super) async fn ask_after_model(
        &self,
        context: &HookContext,
        answer: &AssistantMessage,
    ) -> Result<Verdict<AssistantMessage>, HookError> {
        let Some(subscription) = self.open(HookStage::AfterModel)? else { return Ok(Verdict::Proceed) };
        let caller = self.caller(context, convert::content_bytes(&answer.content));
        let (turn, response) = (convert::turn_context(&context.turn), convert::response_to_guest(answer));
        let verdict = match run!(self, caller, after_model, &turn, &response) {
            Ok(None | Some(wit::after_model::Verdict::Proceed)) => Ok(Verdict::Proceed),
            Ok(Some(wit::after_model::Verdict::Abort(reason))) => Ok(Verdict::Abort(reason)),
            Ok(Some(wit::after_model::Verdict::Rewrite(response))) => self
                .may_rewrite()
                .and_then(|()| convert::answer_from_guest(response.message, answer.clone()))
                .map(Verdict::Rewrite),
            Err(source) => Err(source),
        };
        self.ruled(subscription, verdict)
    }

    pub(super) async fn tell_model_error(&self, context: &HookContext, failure: &Failure) {
        let Some(subscription) = self.watching(HookStage::ModelError) else { return };
        let (turn, told) = (convert::turn_context(&context.turn), guest_failure(failure));
        let caller = self.caller(context, failure.message.len());
        self.observed(subscription, run!(self, caller, model_error, &turn, &told));
    }

    pub(super) async fn tell_tool_error(&self, context: &HookContext, call: &ToolCall, failure: &Failure) {
        let Some(subscription) = self.watching(HookStage::ToolError) else { return };
        let (turn, told) = (convert::turn_context(&context.turn), guest_failure(failure));
        let caller = self.caller(context, convert::input_bytes(call, None) + failure.message.len());
        let call = convert::tool_call(call);
        self.observed(subscription, run!(self, caller, tool_error, &turn, &call, &told));
    }

    pub(super) async fn tell_after_turn(
        &self,
        context: &HookContext,
        answer: &Message,
        results: &[Arc<Message>],
    ) {
        let Some(subscription) = self.watching(HookStage::AfterTurn) else { return };
        let bytes: usize = results.iter().map(|result| convert::content_bytes(result.content())).sum();
        let caller = self.caller(context, bytes + convert::content_bytes(answer.content()));
        let (turn, answer) = (convert::turn_context(&context.turn), convert::message_to_guest(answer));
        let results: Vec<_> = results
            .iter()
            .filter_map(|message| match &**message {
                Message::ToolResult(result) => Some(types::ToolResult {
                    content: convert::content_to_guest(&result.content),
                    details: result.details.as_ref().map(ToString::to_string),
                    is_error: result.is_error,
                }),
                _ => None,
            })
            .collect();
        self.observed(subscription, run!(self, caller, after_turn, &turn, &answer, &results));
    }

    pub(super) async fn tell_turn_error(&self, context: &HookContext, failure: &Failure) {
        let Some(subscription) = self.watching(HookStage::TurnError) else { return };
        let (turn, told) = (convert::turn_context(&context.turn), guest_failure(failure));
        let caller = self.caller(context, failure.message.len());
        self.observed(subscription, run!(self, caller, turn_error, &turn, &told));
    }

    pub(super) async fn tell_plan_step(&self, context: &HookContext, step: u32, status: &PlanStepStatus) {
        let Some(subscription) = self.watching(HookStage::PlanStep) else { return };
        let turn = convert::turn_context(&context.turn);
        let (bytes, status) = match status {
            PlanStepStatus::Running => (0, wit::plan_step::Status::Running),
            PlanStepStatus::Completed(text) => (text.len(), wit::plan_step::Status::Completed(text.clone())),
            PlanStepStatus::Failed(failure) => {
                (failure.message.len(), wit::plan_step::Status::Failed(guest_failure(failure)))
            }
            PlanStepStatus::Skipped => (0, wit::plan_step::Status::Skipped),
        };
        let caller = self.caller(context, bytes);
        self.observed(subscription, run!(self, caller, plan_step, &turn, step, &status));
    }

    pub(super) async fn tell_session_lifecycle(&self, session: &SessionId, event: SessionLifecycle) {
        let Some(subscription) = self.watching(HookStage::SessionLifecycle) else { return };
        let event = match event {
            SessionLifecycle::Start => wit::session_lifecycle::Event::Start,
            SessionLifecycle::Resume => wit::session_lifecycle::Event::Resume,
            SessionLifecycle::Switched => wit::session_lifecycle::Event::Switched,
            SessionLifecycle::Compacted => wit::session_lifecycle::Event::Compacted,
            SessionLifecycle::End => wit::session_lifecycle::Event::End,
        };
        let (cancel, id) = (CancellationToken::new(), session.to_string());
        let caller = Caller { session, turn: None, cancel: &cancel, progress: None, input_bytes: id.len() };
        self.observed(subscription, run!(self, caller, session_lifecycle, &id, event));
    }

    /// The subscription of a rewriter that is still called. A closed one that failed keeps ending turns.
    fn open(&self, stage: HookStage) -> Result<Option<&Subscription>, HookError> {
        let Some(subscription) = self.at(stage) else { return Ok(None) };
        match (subscription.failed.get(), subscription.on_failure) {
            (None, _) => Ok(Some(subscription)),
            (Some(_), FailureRule::Standard) => Ok(None),
            (Some(message), FailureRule::Closed) => Err(self.ended(message)),
        }
    }

    /// The subscription of an observer that is still called.
    fn watching(&self, stage: HookStage) -> Option<&Subscription> {
        self.at(stage).filter(|subscription| subscription.failed.get().is_none())
    }

    fn may_rewrite(&self) -> Result<(), CallError> {
        if self.extension.has_power(Power::RewriteContext) {
            Ok(())
        } else {
            Err(CallError::Powerless { action: "rewrite messages", power: "rewrite-context" })
        }
    }

    /// The verdict, or what the failure rule makes of a failure.
    fn ruled<T>(
        &self,
        subscription: &Subscription,
        verdict: Result<Verdict<T>, CallError>,
    ) -> Result<Verdict<T>, HookError> {
        match (verdict, subscription.on_failure) {
            (Ok(verdict), _) => Ok(verdict),
            (Err(source), FailureRule::Standard) => {
                self.switch_off(subscription, &source);
                Ok(Verdict::Proceed)
            }
            (Err(source), FailureRule::Closed) => {
                self.switch_off(subscription, &source);
                Err(self.ended(&source.to_string()))
            }
        }
    }

    fn observed(&self, subscription: &Subscription, answer: Result<Option<()>, CallError>) {
        if let Err(source) = answer {
            self.switch_off(subscription, &source);
        }
    }

    fn ended(&self, message: &str) -> HookError {
        HookError::Aborted {
            reason: format!(
                "the hook {0} failed, and it asked not to be skipped: {message}. To go on without it: capstan ext revoke {0}",
                self.name
            ),
        }
    }
}

fn guest_failure(failure: &Failure) -> types::Failure {
    types::Failure {
        kind: match failure.kind {
            FailureKind::Model => types::FailureKind::Model,
            FailureKind::Session => types::FailureKind::Session,
            FailureKind::Tool => types::FailureKind::Tool,
            FailureKind::Limit => types::FailureKind::Limit,
            FailureKind::Hook => types::FailureKind::Hook,
            FailureKind::Memory => types::FailureKind::Memory,
            FailureKind::Plan => types::FailureKind::Plan,
            FailureKind::Config => types::FailureKind::Config,
            FailureKind::Other => types::FailureKind::Other,
        },
        message: failure.message.clone(),
    }
}
