//! The hook chain: who is asked, in which order, and what the answers add up to.
//!
//! A hook that fails or panics never takes the turn down by itself. Before a tool call it closes the gate for that
//! call; after one it turns the result into an error, because a result that should have been changed (a secret taken
//! out, say) must not pass unchanged.

use crate::error::panic_text;
use crate::result::failure;
use crate::trace::{HookEffect, HookRecord, HookTrace};
use capstan_ports::hook::HookContext;
use capstan_ports::{
    Amendment, GateVerdict, Hook, HookError, HookStage, Permission, PermissionPort, ToolCall, ToolOutcome,
};
use futures::FutureExt;
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock};

/// What a call gets whose gate gave no reason (000-132).
const BLOCKED: &str = "Tool execution was blocked";

/// Hooks in the order in which they run: by priority, then by name, so that load order never decides.
#[derive(Clone, Default)]
pub struct HookChain {
    gates: Vec<Arc<dyn Hook>>,
    amenders: Vec<Arc<dyn Hook>>,
    trace: Option<Arc<HookTrace>>,
}

/// What the gates of one call add up to.
#[derive(Debug, PartialEq)]
pub(crate) enum Gated {
    /// Go on with this call, whose arguments may have changed and are valid.
    Pass(ToolCall),
    /// The model reads why not.
    Refused(String),
    /// The model is told, and the turn ends after this batch.
    Deferred(String),
    /// The turn ends now.
    TurnAborted(TurnAbort),
}

/// A hook's wish to end the turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TurnAbort {
    pub(crate) hook: String,
    pub(crate) reason: String,
}

/// Turns rewritten arguments into valid ones, or says what is wrong with them.
pub(crate) type Revalidate<'a> = &'a (dyn Fn(Value) -> Result<Value, String> + Sync);

impl HookChain {
    /// A chain of these hooks.
    pub fn new(hooks: impl IntoIterator<Item = Arc<dyn Hook>>) -> Self {
        let hooks: Vec<Arc<dyn Hook>> = hooks.into_iter().collect();
        let ordered = |stage| {
            let mut hooks = hooks.clone();
            hooks.sort_by(|a, b| (a.priority(stage), a.name()).cmp(&(b.priority(stage), b.name())));
            hooks
        };
        Self {
            gates: ordered(HookStage::BeforeToolCall),
            amenders: ordered(HookStage::AfterToolCall),
            trace: None,
        }
    }

    /// Records what each hook does.
    #[must_use]
    pub fn with_trace(mut self, trace: Arc<HookTrace>) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Asks the gates. Each sees the arguments as the ones before it left them; the first that objects decides.
    pub(crate) async fn gate(
        &self,
        context: &HookContext,
        mut call: ToolCall,
        revalidate: Revalidate<'_>,
        people: &dyn PermissionPort,
    ) -> Gated {
        for hook in &self.gates {
            let stage = HookStage::BeforeToolCall;
            if !takes_part(hook.as_ref(), stage, &call.name) {
                continue;
            }
            let verdict = AssertUnwindSafe(hook.before_tool_call(context, &call)).catch_unwind().await;
            let verdict = verdict.unwrap_or_else(|payload| Err(panicked(hook.as_ref(), payload.as_ref())));
            match verdict {
                Ok(GateVerdict::Pass) => self.record(hook, stage, &call, HookEffect::Passed),
                Ok(GateVerdict::Rewrite(arguments)) => match revalidate(arguments) {
                    Ok(arguments) => {
                        call.arguments = arguments;
                        self.record(hook, stage, &call, HookEffect::Changed);
                    }
                    Err(report) => {
                        let text = format!(
                            "The arguments as the hook {} rewrote them do not fit. {report}",
                            hook.name()
                        );
                        self.record(hook, stage, &call, HookEffect::Failed(text.clone()));
                        return Gated::Refused(text);
                    }
                },
                Ok(GateVerdict::Block(reason)) => {
                    let reason = if reason.is_empty() { BLOCKED.to_owned() } else { reason };
                    self.record(hook, stage, &call, HookEffect::Blocked(reason.clone()));
                    return Gated::Refused(reason);
                }
                Ok(GateVerdict::Defer(reason)) => {
                    self.record(hook, stage, &call, HookEffect::Deferred(reason.clone()));
                    return Gated::Deferred(reason);
                }
                Ok(GateVerdict::Ask(question)) => {
                    let answer = people.ask(&context.turn, &call, hook.name(), &question).await;
                    let allowed = answer == Permission::Allow;
                    self.record(hook, stage, &call, HookEffect::Asked { allowed });
                    if let Permission::Deny(reason) = answer {
                        return Gated::Refused(reason);
                    }
                }
                Err(error) => {
                    self.record(hook, stage, &call, HookEffect::Failed(error.to_string()));
                    return match error {
                        HookError::Aborted { reason } => {
                            Gated::TurnAborted(TurnAbort { hook: hook.name().to_owned(), reason })
                        }
                        failed @ HookError::Failed { .. } => Gated::Refused(failed.to_string()),
                    };
                }
            }
        }
        Gated::Pass(call)
    }

    /// Lets hooks change the result of a call that ran. Each sees what the ones before it made of it, and all are asked
    /// even after one failed: the one that takes secrets out may come last.
    pub(crate) async fn amend(
        &self,
        context: &HookContext,
        call: &ToolCall,
        mut outcome: ToolOutcome,
    ) -> (ToolOutcome, Option<TurnAbort>) {
        let mut abort = None;
        for hook in &self.amenders {
            let stage = HookStage::AfterToolCall;
            if !takes_part(hook.as_ref(), stage, &call.name) {
                continue;
            }
            let answer = AssertUnwindSafe(hook.after_tool_call(context, call, &outcome)).catch_unwind().await;
            match answer.unwrap_or_else(|payload| Err(panicked(hook.as_ref(), payload.as_ref()))) {
                Ok(None) => self.record(hook, stage, call, HookEffect::Passed),
                Ok(Some(amendment)) => {
                    apply(&mut outcome, amendment);
                    self.record(hook, stage, call, HookEffect::Changed);
                }
                Err(error) => {
                    self.record(hook, stage, call, HookEffect::Failed(error.to_string()));
                    outcome = failure(error.to_string());
                    if let HookError::Aborted { reason } = error {
                        abort.get_or_insert(TurnAbort { hook: hook.name().to_owned(), reason });
                    }
                }
            }
        }
        (outcome, abort)
    }

    fn record(&self, hook: &Arc<dyn Hook>, stage: HookStage, call: &ToolCall, effect: HookEffect) {
        if let Some(trace) = &self.trace {
            let (hook, tool_call_id) = (hook.name().to_owned(), call.id.clone());
            trace.push(HookRecord { hook, stage, tool_call_id, effect });
        }
    }
}

/// The filter is code of the hook, too. If it panics the hook is asked, which for a gate means that it can still
/// object.
fn takes_part(hook: &dyn Hook, stage: HookStage, tool: &str) -> bool {
    std::panic::catch_unwind(AssertUnwindSafe(|| hook.handles(stage, Some(tool)))).unwrap_or(true)
}

fn panicked(hook: &dyn Hook, payload: &(dyn std::any::Any + Send)) -> HookError {
    let message = format!("it panicked ({})", panic_text(payload));
    HookError::Failed { hook: hook.name().to_owned(), message, source: None }
}

/// Per field, as a whole: nothing is merged (000-136).
fn apply(outcome: &mut ToolOutcome, amendment: Amendment) {
    let Amendment { content, details, is_error, terminate } = amendment;
    if let Some(content) = content {
        outcome.content = content;
    }
    if details.is_some() {
        outcome.details = details;
    }
    if let Some(is_error) = is_error {
        outcome.is_error = is_error;
    }
    outcome.terminate |= terminate;
}

/// The chain in force. Replacing it takes effect at the next round; calls in progress end with the chain they began
/// with.
#[derive(Default)]
pub struct HookRegistry {
    current: RwLock<Arc<HookChain>>,
}

impl HookRegistry {
    /// Begins with this chain.
    pub fn new(chain: HookChain) -> Self {
        Self { current: RwLock::new(Arc::new(chain)) }
    }

    /// Replaces the chain.
    pub fn replace(&self, chain: HookChain) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(chain);
    }

    /// The chain in force now.
    pub fn current(&self) -> Arc<HookChain> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;
