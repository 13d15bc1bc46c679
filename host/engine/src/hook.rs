//! A component's hooks as the agent's hook port, with the failure rule of each stage.

mod stages;

use crate::abi::Interface;
use crate::bindings::exports::capstan::extension::{after_tool_call, before_tool_call};
use crate::convert;
use crate::error::CallError;
use crate::extension::{Caller, Extension};
use crate::limits::Role;
use async_trait::async_trait;
use capstan_ports::extension::{Descriptor, FailureRule, HookStage, Power};
use capstan_ports::failure::Failure;
use capstan_ports::hook::{
    Amendment, GateVerdict, Hook, HookContext, HookError, PlanStepStatus, SessionLifecycle, Verdict,
};
use capstan_ports::message::{AssistantMessage, Message, ToolCall};
use capstan_ports::session::SessionId;
use capstan_ports::tool::ToolOutcome;
use globset::{Glob, GlobSet, GlobSetBuilder};
use std::sync::{Arc, OnceLock};

pub(crate) struct ComponentHook {
    extension: Extension,
    name: String,
    stages: Arc<[Subscription]>,
}

/// One hook of the descriptor, and what became of it.
pub(crate) struct Subscription {
    stage: HookStage,
    /// `None`: every tool.
    tools: Option<GlobSet>,
    priority: i32,
    on_failure: FailureRule,
    /// Why this hook is not called any more.
    ///
    /// A gate that failed stays closed: were it simply skipped, whoever can make it fail could open it. A rewriter that
    /// failed is left out for the rest of the session.
    failed: OnceLock<String>,
}

impl Subscription {
    /// All hooks of a descriptor, none of which has failed yet.
    pub(crate) fn of(descriptor: &Descriptor) -> Arc<[Self]> {
        let hooks = descriptor.hooks.iter().map(|hook| Self {
            stage: hook.stage,
            tools: globs(&hook.tools),
            priority: hook.priority,
            on_failure: hook.on_failure,
            failed: OnceLock::new(),
        });
        hooks.collect()
    }

    fn is_about(&self, tool: Option<&str>) -> bool {
        match (&self.tools, tool) {
            (Some(tools), Some(tool)) => tools.is_match(tool),
            (None, _) | (_, None) => true,
        }
    }
}

/// What the hooks of a descriptor are about, whether or not the extension can be used: a host that has to do without a gate knows
/// by this what to keep closed.
#[derive(Clone)]
pub struct Guarded(Arc<[Subscription]>);

impl Guarded {
    /// What the hooks of this descriptor are about.
    #[must_use]
    pub fn of(descriptor: &Descriptor) -> Self {
        Self(Subscription::of(descriptor))
    }

    /// Whether there is a hook at this stage that is about this tool, or about any where none is named.
    #[must_use]
    pub fn handles(&self, stage: HookStage, tool: Option<&str>) -> bool {
        self.0.iter().any(|subscription| subscription.stage == stage && subscription.is_about(tool))
    }

    /// Where the hook at this stage stands among others; 0 where there is none.
    #[must_use]
    pub fn priority(&self, stage: HookStage) -> i32 {
        self.0.iter().find(|subscription| subscription.stage == stage).map_or(0, |found| found.priority)
    }
}

impl ComponentHook {
    pub(crate) fn new(extension: Extension, stages: Arc<[Subscription]>) -> Self {
        Self { name: extension.id().to_string(), stages, extension }
    }

    fn at(&self, stage: HookStage) -> Option<&Subscription> {
        self.stages.iter().find(|subscription| subscription.stage == stage)
    }

    fn error(&self, message: String, source: Option<CallError>) -> HookError {
        HookError::Failed {
            hook: self.name.clone(),
            message,
            source: source.map(|source| Box::new(source) as _),
        }
    }

    /// Remembers a gate's failure. Being aborted is none, and one that was unloaded is remembered elsewhere.
    fn close(&self, stage: HookStage, source: CallError) -> HookError {
        if matches!(source, CallError::Retired) {
            return self.error(source.to_string(), Some(source));
        }
        if matches!(source, CallError::Cancelled) {
            return self.error("the run was aborted".to_owned(), Some(source));
        }
        let message = format!(
            "{source}. What it guards stays denied; to go on without this extension: capstan ext revoke {}",
            self.name
        );
        if let Some(subscription) = self.at(stage) {
            let first = subscription.failed.set(message.clone()).is_ok();
            if first {
                tracing::warn!(extension = %self.name, "the gate {} failed: {message}", self.name);
            }
        }
        self.error(message, Some(source))
    }

    /// Switches a rewriter off and says so once.
    fn switch_off(&self, subscription: &Subscription, source: &CallError) {
        if !matches!(source, CallError::Cancelled | CallError::Retired)
            && subscription.failed.set(source.to_string()).is_ok()
        {
            tracing::warn!(extension = %self.name, "the hook {} failed and is left out from now on: {source}", self.name);
        }
    }

    fn caller<'a>(&self, context: &'a HookContext, input_bytes: usize) -> Caller<'a> {
        Caller {
            session: &context.turn.session_id,
            turn: Some(context.turn.turn),
            cancel: &context.cancel,
            progress: None,
            input_bytes,
        }
    }
}

/// The patterns were checked when the extension was loaded. Should one fail here, it is taken for every tool: too often
/// asked is safe, too rarely is not.
fn globs(patterns: &[String]) -> Option<GlobSet> {
    if patterns.is_empty() {
        return None;
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).ok()?);
    }
    set.build().ok()
}

#[async_trait]
impl Hook for ComponentHook {
    fn name(&self) -> &str {
        &self.name
    }

    fn handles(&self, stage: HookStage, tool: Option<&str>) -> bool {
        self.at(stage).is_some_and(|subscription| subscription.is_about(tool))
    }

    fn switched_off(&self, stage: HookStage) -> Option<&str> {
        let subscription = self.at(stage)?;
        // What is closed by its failure goes on answering, with that failure. Observers have nothing to close.
        let is_closed = match stage {
            HookStage::BeforeToolCall => true,
            HookStage::BeforeTurn
            | HookStage::BeforeModel
            | HookStage::AfterModel
            | HookStage::AfterToolCall => subscription.on_failure == FailureRule::Closed,
            HookStage::ModelError
            | HookStage::ToolError
            | HookStage::AfterTurn
            | HookStage::TurnError
            | HookStage::PlanStep
            | HookStage::SessionLifecycle => false,
        };
        if is_closed { None } else { subscription.failed.get().map(String::as_str) }
    }

    fn priority(&self, stage: HookStage) -> i32 {
        self.at(stage).map_or(0, |subscription| subscription.priority)
    }

    async fn before_turn(
        &self,
        context: &HookContext,
        input: &Message,
    ) -> Result<Verdict<Message>, HookError> {
        self.ask_before_turn(context, input).await
    }

    async fn before_model(
        &self,
        context: &HookContext,
        messages: &[Arc<Message>],
    ) -> Result<Verdict<Vec<Arc<Message>>>, HookError> {
        self.ask_before_model(context, messages).await
    }

    async fn after_model(
        &self,
        context: &HookContext,
        answer: &AssistantMessage,
    ) -> Result<Verdict<AssistantMessage>, HookError> {
        self.ask_after_model(context, answer).await
    }

    async fn model_error(&self, context: &HookContext, failure: &Failure) -> Result<(), HookError> {
        self.tell_model_error(context, failure).await;
        Ok(())
    }

    async fn tool_error(
        &self,
        context: &HookContext,
        call: &ToolCall,
        failure: &Failure,
    ) -> Result<(), HookError> {
        self.tell_tool_error(context, call, failure).await;
        Ok(())
    }

    async fn after_turn(
        &self,
        context: &HookContext,
        answer: &Message,
        results: &[Arc<Message>],
    ) -> Result<(), HookError> {
        self.tell_after_turn(context, answer, results).await;
        Ok(())
    }

    async fn turn_error(&self, context: &HookContext, failure: &Failure) -> Result<(), HookError> {
        self.tell_turn_error(context, failure).await;
        Ok(())
    }

    async fn plan_step(
        &self,
        context: &HookContext,
        step: u32,
        status: &PlanStepStatus,
    ) -> Result<(), HookError> {
        self.tell_plan_step(context, step, status).await;
        Ok(())
    }

    async fn session_lifecycle(&self, session: &SessionId, event: SessionLifecycle) -> Result<(), HookError> {
        self.tell_session_lifecycle(session, event).await;
        Ok(())
    }

    async fn before_tool_call(
        &self,
        context: &HookContext,
        call: &ToolCall,
    ) -> Result<GateVerdict, HookError> {
        const STAGE: HookStage = HookStage::BeforeToolCall;
        if let Some(message) = self.at(STAGE).and_then(|subscription| subscription.failed.get()) {
            return Err(self.error(message.clone(), None));
        }
        let caller = self.caller(context, convert::input_bytes(call, None));
        let (turn, call) = (convert::turn_context(&context.turn), convert::tool_call(call));
        let answer = self.extension.call(Role::Hook, caller, |store, instance, code| {
            Box::pin(async move {
                let Some(indices) = &code.indices.before_tool_call else { return Ok(None) };
                indices.load(&mut *store, instance)?.call_run(store, &turn, &call).await.map(Some)
            })
        });
        let verdict = match answer.await {
            Ok(Some(verdict)) => verdict,
            Ok(None) => return Err(self.close(STAGE, CallError::NotExported(Interface::BeforeToolCall))),
            Err(source) => return Err(self.close(STAGE, source)),
        };
        Ok(match verdict {
            before_tool_call::Verdict::Pass => GateVerdict::Pass,
            before_tool_call::Verdict::Block(reason) => GateVerdict::Block(reason),
            before_tool_call::Verdict::Defer(reason) => GateVerdict::Defer(reason),
            before_tool_call::Verdict::Ask(question) => GateVerdict::Ask(question),
            before_tool_call::Verdict::Rewrite(text) => {
                if !self.extension.has_power(Power::RewriteArguments) {
                    let source =
                        CallError::Powerless { action: "rewrite arguments", power: "rewrite-arguments" };
                    return Err(self.error(source.to_string(), Some(source)));
                }
                let arguments = convert::json(&text, "the rewritten arguments");
                GateVerdict::Rewrite(arguments.map_err(|source| self.close(STAGE, source))?)
            }
        })
    }

    async fn after_tool_call(
        &self,
        context: &HookContext,
        call: &ToolCall,
        outcome: &ToolOutcome,
    ) -> Result<Option<Amendment>, HookError> {
        const STAGE: HookStage = HookStage::AfterToolCall;
        let Some(subscription) = self.at(STAGE) else { return Ok(None) };
        if let Some(message) = subscription.failed.get() {
            return match subscription.on_failure {
                FailureRule::Standard => Ok(None),
                FailureRule::Closed => Err(self.error(message.clone(), None)),
            };
        }
        let caller = self.caller(context, convert::input_bytes(call, Some(outcome)));
        let (turn, call) = (convert::turn_context(&context.turn), convert::tool_call(call));
        let outcome = convert::result_to_guest(outcome);
        let answer = self.extension.call(Role::Hook, caller, |store, instance, code| {
            Box::pin(async move {
                let Some(indices) = &code.indices.after_tool_call else { return Ok(None) };
                indices.load(&mut *store, instance)?.call_run(store, &turn, &call, &outcome).await
            })
        });
        let amendment = match answer.await {
            Ok(None) => return Ok(None),
            Ok(Some(amendment)) => self.amendment(amendment),
            Err(source) => Err(source),
        };
        match (amendment, subscription.on_failure) {
            (Ok(amendment), _) => Ok(Some(amendment)),
            (Err(source), FailureRule::Standard) => {
                self.switch_off(subscription, &source);
                Ok(None)
            }
            (Err(source), FailureRule::Closed) => Err(self.close(STAGE, source)),
        }
    }
}

impl ComponentHook {
    fn amendment(&self, raw: after_tool_call::Amendment) -> Result<Amendment, CallError> {
        let rewrites = raw.content.is_some() || raw.details.is_some() || raw.is_error.is_some();
        if rewrites && !self.extension.has_power(Power::RewriteResult) {
            return Err(CallError::Powerless { action: "rewrite a result", power: "rewrite-result" });
        }
        Ok(Amendment {
            content: raw.content.map(convert::content_from_guest).transpose()?,
            details: raw.details.map(|text| convert::json(&text, "details")).transpose()?,
            is_error: raw.is_error,
            terminate: raw.terminate,
        })
    }
}
