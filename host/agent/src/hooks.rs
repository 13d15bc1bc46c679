//! The hook chain: who is asked and in which order. What is asked and what the answers add up to stands in `stages`
//! (around turns and model calls) and `gate` (around tool calls).
//!
//! A hook that fails or panics never takes the turn down by itself. Before a tool call it closes the gate for that
//! call; after one it turns the result into an error, because a result that should have been changed (a secret taken
//! out, say) must not pass unchanged. Everywhere else its failure is reported and changes nothing.

use crate::error::panic_text;
use crate::trace::{Absence, HookEffect, HookRecord, HookTrace};
use capstan_ports::{Hook, HookError, HookStage, ToolCall};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Every stage, in the order of their numbers.
const STAGES: [HookStage; 11] = [
    HookStage::BeforeTurn,
    HookStage::BeforeModel,
    HookStage::AfterModel,
    HookStage::ModelError,
    HookStage::BeforeToolCall,
    HookStage::AfterToolCall,
    HookStage::ToolError,
    HookStage::AfterTurn,
    HookStage::TurnError,
    HookStage::PlanStep,
    HookStage::SessionLifecycle,
];

/// Hooks in the order in which they run: by priority, then by name, so that load order never decides.
///
/// An empty chain does nothing, like [`NoopHook`](capstan_ports::NoopHook) (003-114).
#[derive(Clone, Default)]
pub struct HookChain {
    /// One list for each stage, by its number; empty lists hold no memory.
    stages: [Arc<[Member]>; STAGES.len()],
    timeout: Option<Duration>,
    trace: Option<Arc<HookTrace>>,
}

/// A hook at one stage.
pub(crate) struct Member {
    pub(crate) hook: Arc<dyn Hook>,
    /// Set when a rewriter or an observer panicked or was too slow; then it is left out for good.
    off: AtomicBool,
}

/// A hook's wish to end the turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TurnAbort {
    pub(crate) hook: String,
    pub(crate) reason: String,
}

/// What a record is about.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) stage: HookStage,
    /// At the stages around a tool call.
    pub(crate) call: Option<&'a ToolCall>,
    /// How long the hook took to answer.
    pub(crate) took: Duration,
}

impl<'a> About<'a> {
    pub(crate) fn stage(stage: HookStage) -> Self {
        Self { stage, call: None, took: Duration::ZERO }
    }

    pub(crate) fn call(stage: HookStage, call: &'a ToolCall) -> Self {
        Self { stage, call: Some(call), took: Duration::ZERO }
    }

    pub(crate) fn took(self, took: Duration) -> Self {
        Self { took, ..self }
    }
}

/// Why a hook has no answer.
pub(crate) enum Silence {
    /// It said so itself.
    Said(HookError),
    /// It panicked or took too long; the error says which.
    Broke(HookError),
}

impl Silence {
    pub(crate) fn into_error(self) -> HookError {
        match self {
            Self::Said(error) | Self::Broke(error) => error,
        }
    }
}

impl HookChain {
    /// A chain of these hooks.
    pub fn new(hooks: impl IntoIterator<Item = Arc<dyn Hook>>) -> Self {
        let mut hooks: Vec<Arc<dyn Hook>> = hooks.into_iter().collect();
        hooks.sort_by(|a, b| a.name().cmp(b.name()));
        Self::in_this_order(hooks)
    }

    /// A chain of hooks that a program lists itself: among those of one priority the one named first runs first, whatever
    /// their names (004-127).
    pub fn in_this_order(hooks: impl IntoIterator<Item = Arc<dyn Hook>>) -> Self {
        let hooks: Vec<Arc<dyn Hook>> = hooks.into_iter().collect();
        let stages = STAGES.map(|stage| {
            let mut members: Vec<_> = hooks.iter().filter(|hook| is_member(hook.as_ref(), stage)).collect();
            // Stable, so that equal ones stay in order.
            members.sort_by_key(|hook| hook.priority(stage));
            members
                .into_iter()
                .map(|hook| Member { hook: hook.clone(), off: AtomicBool::new(false) })
                .collect()
        });
        Self { stages, timeout: None, trace: None }
    }

    /// Records what each hook does.
    #[must_use]
    pub fn with_trace(mut self, trace: Arc<HookTrace>) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Gives up on a hook that does not answer for this long (003-091). Without it only an abort ends the wait; hooks of
    /// components have their own deadlines.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The hooks that may take part in `stage`, first to last.
    pub(crate) fn members(&self, stage: HookStage) -> &[Member] {
        // The number of a stage is its place in `STAGES`.
        self.stages.get(stage as usize).map_or(&[], |members| members)
    }

    /// Whether anybody takes part in `stage`. Where nobody does, nothing is prepared for them.
    pub(crate) fn has(&self, stage: HookStage) -> bool {
        !self.members(stage).is_empty()
    }

    /// A hook's answer, whatever its code does, and how long it took; the time is only looked at for a trace.
    pub(crate) async fn ask<T>(
        &self,
        member: &Member,
        answer: impl Future<Output = Result<T, HookError>>,
    ) -> (Result<T, Silence>, Duration) {
        let began = self.trace.as_ref().map(|_| Instant::now());
        let answer = self.answer(member, answer).await;
        (answer, began.map_or(Duration::ZERO, |began| began.elapsed()))
    }

    async fn answer<T>(
        &self,
        member: &Member,
        answer: impl Future<Output = Result<T, HookError>>,
    ) -> Result<T, Silence> {
        let answer = AssertUnwindSafe(answer).catch_unwind();
        let answered = match self.timeout {
            None => answer.await,
            Some(limit) => match tokio::time::timeout(limit, answer).await {
                Ok(answered) => answered,
                Err(elapsed) => {
                    let error = HookError::Failed {
                        hook: member.hook.name().to_owned(),
                        message: format!("it did not answer within {limit:?}"),
                        source: Some(Box::new(elapsed)),
                    };
                    return Err(Silence::Broke(error));
                }
            },
        };
        match answered {
            Ok(answer) => answer.map_err(Silence::Said),
            Err(payload) => Err(Silence::Broke(panicked(member.hook.as_ref(), payload.as_ref()))),
        }
    }

    /// Tells of a failure that changes nothing else. A hook that broke is left out from now on, which is said once.
    pub(crate) fn report(&self, member: &Member, about: About<'_>, silence: Silence) {
        let (name, stage) = (member.hook.name(), about.stage);
        let error = match silence {
            Silence::Said(error) => {
                tracing::warn!(hook = name, ?stage, %error, "a hook failed; what it was asked about stays as it was");
                error
            }
            Silence::Broke(error) => {
                member.off.store(true, Ordering::Relaxed);
                tracing::warn!(hook = name, ?stage, %error, "a hook broke and is left out from now on");
                error
            }
        };
        self.record(member, about, || HookEffect::Failed(error.to_string()));
    }

    pub(crate) fn record(&self, member: &Member, about: About<'_>, effect: impl FnOnce() -> HookEffect) {
        let Some(trace) = &self.trace else { return };
        // A hook that was switched off in this very call answers as if it had nothing to say.
        let effect = match (effect(), member.hook.switched_off(about.stage)) {
            (HookEffect::Passed, Some(reason)) => HookEffect::Failed(reason.to_owned()),
            (effect, _) => effect,
        };
        trace.push(HookRecord {
            hook: member.hook.name().to_owned(),
            stage: about.stage,
            tool_call_id: about.call.map_or_else(String::new, |call| call.id.clone()),
            tool: about.call.map_or_else(String::new, |call| call.name.clone()),
            took: about.took,
            effect,
        });
    }

    /// Whether a hook is to be asked. One that is not, although it takes part in the stage, gets a record that says why.
    pub(crate) fn is_asked(&self, member: &Member, about: About<'_>) -> bool {
        if !member.is_on(about.stage) {
            let reason = member.hook.switched_off(about.stage).unwrap_or("it broke before");
            self.record(member, about, || HookEffect::NotAsked(Absence::Off(reason.to_owned())));
            return false;
        }
        let Some(call) = about.call else { return true };
        let asked = member.handles(about.stage, Some(&call.name));
        if !asked && self.trace.is_some() && member.handles(about.stage, None) {
            self.record(member, about, || HookEffect::NotAsked(Absence::OtherTool));
        }
        asked
    }

    /// Records that the hooks after the one that decided are not asked any more.
    pub(crate) fn decided(&self, by: &Member, rest: &[Member], about: About<'_>) {
        if self.trace.is_none() {
            return;
        }
        let about = about.took(Duration::ZERO);
        for member in rest.iter().filter(|member| self.is_asked(member, about)) {
            let absence = Absence::DecidedBy(by.hook.name().to_owned());
            self.record(member, about, || HookEffect::NotAsked(absence));
        }
    }
}

impl Member {
    /// Whether it still works.
    fn is_on(&self, stage: HookStage) -> bool {
        !self.off.load(Ordering::Relaxed) && self.hook.switched_off(stage).is_none()
    }

    /// Whether it is to be asked about this tool. The filter is code of the hook, too. If it panics the hook is asked,
    /// which for a gate means that it can still object.
    fn handles(&self, stage: HookStage, tool: Option<&str>) -> bool {
        let handles = AssertUnwindSafe(|| self.hook.handles(stage, tool));
        std::panic::catch_unwind(handles).unwrap_or(true)
    }
}

/// At the stages around a tool call the hook is asked for each tool, so every hook is a member there.
fn is_member(hook: &dyn Hook, stage: HookStage) -> bool {
    match stage {
        HookStage::BeforeToolCall | HookStage::AfterToolCall | HookStage::ToolError => true,
        _ => std::panic::catch_unwind(AssertUnwindSafe(|| hook.handles(stage, None))).unwrap_or(true),
    }
}

fn panicked(hook: &dyn Hook, payload: &(dyn std::any::Any + Send)) -> HookError {
    let message = format!("it panicked ({})", panic_text(payload));
    HookError::Failed { hook: hook.name().to_owned(), message, source: None }
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

    /// Replaces the chain. A hook object that was left out of the old chain because it broke stays left out; trace and time
    /// limit are the new chain's.
    pub fn replace(&self, chain: HookChain) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        for (before, after) in current.stages.iter().zip(&chain.stages) {
            for broken in before.iter().filter(|member| member.off.load(Ordering::Relaxed)) {
                for member in after.iter().filter(|member| Arc::ptr_eq(&member.hook, &broken.hook)) {
                    member.off.store(true, Ordering::Relaxed);
                }
            }
        }
        *current = Arc::new(chain);
    }

    /// The chain in force now.
    pub fn current(&self) -> Arc<HookChain> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;
