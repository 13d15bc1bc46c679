//! Executes the calls of one answer: decided in source order, run together, recorded as they finish, handed on in
//! source order.
//!
//! A finished call is written to the session log at once, in completion order, so a stalled neighbour cannot make it
//! be lost (000-127). The transcript of the run keeps source order, and [`repair`](crate::transcript::repair) brings a
//! reloaded log into it.

use crate::config::{AgentLoopConfig, ToolExecutionMode};
use crate::emitter::Emitter;
use crate::gate::Approval;
use crate::hooks::{HookChain, TurnAbort};
use crate::journal::Journal;
use crate::preflight::{Gatekeeper, Preflight, ReadyCall, deferred, panicked};
use crate::progress::{CallProgress, ProgressQueue, update_event};
use crate::registry::ToolSet;
use crate::repeats::Repeats;
use crate::result::{ABORTED, cap, failure};
use capstan_ports::hook::HookContext;
use capstan_ports::message::text_of;
use capstan_ports::tool::ToolContext;
use capstan_ports::{
    AgentEvent, Content, Execution, Failure, FailureKind, HookStage, Message, SessionError, ToolCall,
    ToolError, ToolOutcome, TurnEvent, build_tool_result_message,
};
use futures::FutureExt;
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::task::JoinSet;

/// What a batch came to.
pub(crate) struct BatchResult {
    /// One result for each call, in source order.
    pub(crate) results: Vec<Arc<Message>>,
    pub(crate) end: BatchEnd,
}

/// How the run goes on after a batch.
pub(crate) enum BatchEnd {
    /// The model reads the results.
    Continue,
    /// Every result asked to end the turn (000-140).
    Terminate,
    /// A call waits for approval: the turn ends, the model reads it in the next one (X13).
    Deferred,
    /// A hook ended the turn.
    Aborted(TurnAbort),
    /// A result could not be kept.
    Unrecorded(SessionError),
    /// The same call failed too often.
    Repeated { tool: String, times: u32 },
}

/// The calls of one answer while they are executed.
pub(crate) struct Batch<'a> {
    config: &'a AgentLoopConfig,
    events: &'a Emitter<'a>,
    journal: &'a mut Journal,
    repeats: &'a mut Repeats,
    tools: Arc<ToolSet>,
    hooks: Arc<HookChain>,
    context: HookContext,
    approval: Approval,
    calls: Vec<&'a ToolCall>,
    results: Vec<Option<Arc<Message>>>,
    /// Set once: nothing more is run, and each remaining call gets this text.
    refusal: Option<String>,
    all_terminate: bool,
    deferred: bool,
    abort: Option<TurnAbort>,
    unrecorded: Option<SessionError>,
    repeated: Option<(String, u32)>,
}

/// A call that ran, as its task hands it back.
struct Finished {
    position: usize,
    /// With the arguments as they are after every rewrite.
    call: ToolCall,
    outcome: ToolOutcome,
    abort: Option<TurnAbort>,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(
        config: &'a AgentLoopConfig,
        events: &'a Emitter<'a>,
        journal: &'a mut Journal,
        repeats: &'a mut Repeats,
        tools: Arc<ToolSet>,
        context: HookContext,
    ) -> Self {
        // A token of its own: when recording fails the rest of the batch is cancelled, but the run is not.
        let mut context = context;
        context.cancel = context.cancel.child_token();
        let hooks = config.hooks.current();
        Self {
            config,
            events,
            journal,
            repeats,
            tools,
            hooks,
            context,
            approval: Approval::Open,
            calls: Vec::new(),
            results: Vec::new(),
            refusal: None,
            all_terminate: true,
            deferred: false,
            abort: None,
            unrecorded: None,
            repeated: None,
        }
    }

    /// A person has agreed to what a gate put off.
    pub(crate) fn approved(mut self) -> Self {
        self.approval = Approval::Given;
        self
    }

    /// Executes `calls`; with a `refusal` none of them runs and each gets that text as its error.
    pub(crate) async fn execute(mut self, calls: Vec<&'a ToolCall>, refusal: Option<String>) -> BatchResult {
        self.refusal = refusal;
        self.results = vec![None; calls.len()];
        self.calls = calls;
        if self.is_sequential() {
            for position in 0..self.calls.len() {
                if let Some(ready) = self.preflight(position).await {
                    self.run(VecDeque::from([(position, ready)])).await;
                }
                self.announce(position).await;
            }
        } else {
            let mut ready = VecDeque::new();
            for position in 0..self.calls.len() {
                if let Some(call) = self.preflight(position).await {
                    ready.push_back((position, call));
                }
            }
            self.run(ready).await;
            for position in 0..self.calls.len() {
                self.announce(position).await;
            }
        }
        let end = match (self.unrecorded, self.abort, self.repeated) {
            (Some(error), _, _) => BatchEnd::Unrecorded(error),
            (None, Some(abort), _) => BatchEnd::Aborted(abort),
            (None, None, Some((tool, times))) => BatchEnd::Repeated { tool, times },
            (None, None, None) if self.deferred => BatchEnd::Deferred,
            (None, None, None) if self.all_terminate => BatchEnd::Terminate,
            (None, None, None) => BatchEnd::Continue,
        };
        BatchResult { results: self.results.into_iter().flatten().collect(), end }
    }

    fn is_sequential(&self) -> bool {
        let marked = |call: &&ToolCall| {
            self.tools
                .get(&call.name)
                .is_some_and(|entry| entry.tool.definition().execution == Execution::Sequential)
        };
        self.config.tool_execution == ToolExecutionMode::Sequential || self.calls.iter().any(marked)
    }

    /// Takes up one call. `None` when it is settled without running.
    async fn preflight(&mut self, position: usize) -> Option<ReadyCall> {
        let call = self.calls[position];
        self.events
            .emit(AgentEvent::ToolExecutionStart {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                args: call.arguments.clone(),
            })
            .await;
        self.config.observers.tell(|| TurnEvent::ToolCallPending { call: call.clone() });
        if let Some(refusal) = self.refusal.clone().or_else(|| self.too_many(position)) {
            self.settle(position, failure(refusal), call).await;
            return None;
        }
        let gatekeeper = Gatekeeper {
            tools: &self.tools,
            hooks: &self.hooks,
            permissions: self.config.permissions.as_ref(),
            context: &self.context,
            approval: self.approval,
        };
        match gatekeeper.decide(call).await {
            Preflight::Ready(ready) => return Some(ready),
            Preflight::Settled(outcome) => {
                if self.hooks.has(HookStage::ToolError) {
                    let told = tell_failure(&self.hooks, &self.context, call, &outcome);
                    self.context.cancel.run_until_cancelled(told).await;
                }
                self.settle(position, outcome, call).await;
            }
            Preflight::Deferred(reason) => {
                self.deferred = true;
                self.put_off(position, &reason).await;
            }
            Preflight::TurnAborted(abort) => {
                let outcome = failure(abort.reason.clone());
                self.end_turn(abort);
                self.settle(position, outcome, call).await;
            }
        }
        None
    }

    fn too_many(&self, position: usize) -> Option<String> {
        let most = self.config.limits.max_calls_per_answer.max(1);
        let text = || {
            format!("Not executed: at most {most} calls of one answer are. Make the rest in the next answer.")
        };
        (position >= most).then(text)
    }

    fn end_turn(&mut self, abort: TurnAbort) {
        let text = format!("Not executed: the hook {} ended the turn ({})", abort.hook, abort.reason);
        self.refusal.get_or_insert(text);
        self.abort.get_or_insert(abort);
    }

    /// Runs allowed calls, as many at a time as the limits allow, until each has its result.
    async fn run(&mut self, mut waiting: VecDeque<(usize, ReadyCall)>) {
        let positions: Vec<usize> = waiting.iter().map(|(position, _)| *position).collect();
        let progress = Arc::new(ProgressQueue::default());
        let mut running = JoinSet::new();
        let cancel = self.context.cancel.clone();
        let grace = self.config.limits.abort_grace;
        let overdue = async {
            cancel.cancelled().await;
            tokio::time::sleep(grace).await;
        };
        tokio::pin!(overdue);
        loop {
            while running.len() < self.config.limits.max_parallel_calls.max(1) {
                let Some((position, ready)) = waiting.pop_front() else { break };
                match self.reason_not_to_start() {
                    Some(text) => self.settle(position, failure(text), self.calls[position]).await,
                    None => drop(running.spawn(self.task(position, ready, &progress))),
                }
            }
            tokio::select! {
                biased;
                // First, so that a tool which reports without pause cannot outlive an abort.
                () = &mut overdue => break,
                finished = running.join_next() => match finished {
                    None => break,
                    Some(Ok(finished)) => self.finish(finished, &progress).await,
                    // Tasks catch panics and nothing cancels one, so this means a runtime that is shutting down.
                    Some(Err(error)) => tracing::error!(%error, "a tool call ended without an outcome"),
                },
                report = progress.next() => self.report(report).await,
            }
        }
        // Whoever has not noticed the abort by now is dropped; a task that blocks its thread is left behind.
        drop(running);
        for position in positions {
            if self.results[position].is_none() {
                self.settle(position, failure(ABORTED), self.calls[position]).await;
            }
        }
    }

    fn reason_not_to_start(&self) -> Option<String> {
        let aborted = self.context.cancel.is_cancelled().then(|| ABORTED.to_owned());
        self.refusal.clone().or(aborted)
    }

    /// The part of a call that runs beside others. A task of its own, so that a tool which computes for long occupies
    /// one thread of the runtime and not the loop.
    fn task(
        &self,
        position: usize,
        ready: ReadyCall,
        progress: &Arc<ProgressQueue>,
    ) -> impl Future<Output = Finished> + Send + 'static + use<> {
        let hooks = self.hooks.clone();
        let context = self.context.clone();
        let reporter = Arc::new(CallProgress::new(progress.clone(), position));
        async move {
            let ReadyCall { entry, call } = ready;
            let tool_context = ToolContext {
                turn: context.turn.clone(),
                cancel: context.cancel.clone(),
                progress: reporter.clone(),
            };
            let ran = AssertUnwindSafe(entry.tool.execute(&call, &tool_context)).catch_unwind().await;
            reporter.close();
            let (outcome, abort) = match ran {
                Ok(Ok(outcome)) => hooks.amend(&context, &call, outcome).await,
                Ok(Err(error)) => {
                    let outcome = failed(&call, &error);
                    tell_failure(&hooks, &context, &call, &outcome).await;
                    (outcome, None)
                }
                Err(payload) => {
                    let outcome = panicked(&call.name, payload.as_ref());
                    tell_failure(&hooks, &context, &call, &outcome).await;
                    (outcome, None)
                }
            };
            Finished { position, call, outcome, abort }
        }
    }

    async fn finish(&mut self, finished: Finished, progress: &ProgressQueue) {
        // Reports that came in just before the end belong before the end event.
        for report in progress.take_all() {
            self.report(report).await;
        }
        if let Some(abort) = finished.abort {
            self.end_turn(abort);
        }
        self.settle(finished.position, finished.outcome, &finished.call).await;
    }

    async fn report(&self, (position, partial): (usize, ToolOutcome)) {
        self.events.emit(update_event(self.calls[position], partial)).await;
    }

    /// Records a call's outcome, then shows it. `effective` is the call as it was executed.
    async fn settle(&mut self, position: usize, mut outcome: ToolOutcome, effective: &ToolCall) {
        cap(&mut outcome, self.config.limits.max_result_bytes);
        self.all_terminate &= outcome.terminate;
        self.warn_of_repeats(position, &mut outcome);
        self.keep(position, &outcome).await;
        self.config.observers.tell(|| TurnEvent::ToolCallResult {
            call: effective.clone(),
            is_error: outcome.is_error,
            result: outcome.clone(),
        });
        self.show_end(position, outcome).await;
    }

    /// Records that a call was put off.
    async fn put_off(&mut self, position: usize, reason: &str) {
        let outcome = deferred(reason);
        self.all_terminate = false;
        self.keep(position, &outcome).await;
        let call = self.calls[position];
        let event = || TurnEvent::ToolCallDeferred { call: call.clone(), reason: reason.to_owned() };
        self.config.observers.tell(event);
        self.show_end(position, outcome).await;
    }

    /// A call that fails again and again with the same arguments: the model is told so, and is stopped in the end (P16).
    fn warn_of_repeats(&mut self, position: usize, outcome: &mut ToolOutcome) {
        let call = self.calls[position];
        let limits = &self.config.limits;
        // What the host refused or aborted says nothing of the call.
        let is_refused = self.refusal.is_some() || self.too_many(position).is_some();
        if is_refused || self.context.cancel.is_cancelled() {
            return;
        }
        let times = self.repeats.note(call, self.context.turn.round, outcome.is_error);
        if times >= limits.max_repeats.max(1) {
            self.repeated.get_or_insert((call.name.clone(), times));
        }
        if times >= limits.warn_after_repeats.max(1) {
            outcome.content.push(Content::text(format!(
                "[Host: this same call has now failed {times} times. Do not repeat it unchanged; after {} failures the \
                 turn is ended.]",
                limits.max_repeats
            )));
        }
    }

    async fn keep(&mut self, position: usize, outcome: &ToolOutcome) {
        let message = Arc::new(build_tool_result_message(self.calls[position], outcome));
        if self.unrecorded.is_none()
            && let Err(error) = self.journal.record(&message).await
        {
            // What cannot be recorded must not go on happening.
            self.context.cancel.cancel();
            self.refusal.get_or_insert_with(|| format!("Not executed: {error}"));
            self.unrecorded = Some(error);
        }
        self.results[position] = Some(message);
    }

    async fn show_end(&self, position: usize, outcome: ToolOutcome) {
        let call = self.calls[position];
        self.events
            .emit(AgentEvent::ToolExecutionEnd {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                is_error: outcome.is_error,
                result: outcome,
            })
            .await;
    }

    /// Shows the result as a message of the transcript.
    async fn announce(&self, position: usize) {
        if let Some(message) = &self.results[position] {
            self.events.emit_message(message).await;
        }
    }
}

/// Tells the hooks that watch for it that a call failed.
async fn tell_failure(hooks: &HookChain, context: &HookContext, call: &ToolCall, outcome: &ToolOutcome) {
    let failure = Failure::new(FailureKind::Tool, text_of(&outcome.content));
    hooks.tool_error(context, call, &failure).await;
}

/// The outcome of a call whose tool gave up. What lies beneath goes to the log, not to the model.
fn failed(call: &ToolCall, error: &ToolError) -> ToolOutcome {
    if let Some(source) = std::error::Error::source(error) {
        tracing::debug!(tool = call.name, call = call.id, %error, source, "a tool call failed");
    }
    failure(error.to_string())
}

#[cfg(test)]
#[path = "execute_tests.rs"]
mod tests;
