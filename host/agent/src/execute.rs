//! Executes the calls of one answer: decided in source order, run together, recorded as they finish, handed on in
//! source order.
//!
//! A finished call is written to the session log at once, in completion order, so a stalled neighbour cannot make it
//! be lost (000-127). The transcript of the run keeps source order, and [`repair`](crate::transcript::repair) brings a
//! reloaded log into it.

use crate::config::{AgentLoopConfig, ToolExecutionMode};
use crate::emitter::Emitter;
use crate::hooks::{HookChain, TurnAbort};
use crate::journal::Journal;
use crate::preflight::{Gatekeeper, Preflight, ReadyCall, panicked};
use crate::progress::{CallProgress, ProgressQueue, update_event};
use crate::registry::ToolSet;
use crate::result::{ABORTED, cap, failure};
use capstan_ports::hook::HookContext;
use capstan_ports::message::now_ms;
use capstan_ports::tool::ToolContext;
use capstan_ports::{
    AgentEvent, Execution, Message, SessionError, ToolCall, ToolError, ToolOutcome, ToolResultMessage,
    TurnContext,
};
use futures::FutureExt;
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

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
}

/// The calls of one answer while they are executed.
pub(crate) struct Batch<'a> {
    config: &'a AgentLoopConfig,
    events: &'a Emitter<'a>,
    journal: &'a mut Journal,
    tools: Arc<ToolSet>,
    hooks: Arc<HookChain>,
    context: HookContext,
    calls: Vec<&'a ToolCall>,
    results: Vec<Option<Arc<Message>>>,
    /// Set once: nothing more is run, and each remaining call gets this text.
    refusal: Option<String>,
    all_terminate: bool,
    deferred: bool,
    abort: Option<TurnAbort>,
    unrecorded: Option<SessionError>,
}

/// A call that ran, as its task hands it back.
struct Finished {
    position: usize,
    outcome: ToolOutcome,
    abort: Option<TurnAbort>,
}

impl<'a> Batch<'a> {
    pub(crate) fn new(
        config: &'a AgentLoopConfig,
        events: &'a Emitter<'a>,
        journal: &'a mut Journal,
        tools: Arc<ToolSet>,
        turn: TurnContext,
        cancel: &CancellationToken,
    ) -> Self {
        // A token of its own: when recording fails the rest of the batch is cancelled, but the run is not.
        let context = HookContext { turn, cancel: cancel.child_token() };
        let hooks = config.hooks.current();
        Self {
            config,
            events,
            journal,
            tools,
            hooks,
            context,
            calls: Vec::new(),
            results: Vec::new(),
            refusal: None,
            all_terminate: true,
            deferred: false,
            abort: None,
            unrecorded: None,
        }
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
        let end = match (self.unrecorded, self.abort) {
            (Some(error), _) => BatchEnd::Unrecorded(error),
            (None, Some(abort)) => BatchEnd::Aborted(abort),
            (None, None) if self.deferred => BatchEnd::Deferred,
            (None, None) if self.all_terminate => BatchEnd::Terminate,
            (None, None) => BatchEnd::Continue,
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
        if let Some(refusal) = self.refusal.clone() {
            self.settle(position, failure(refusal)).await;
            return None;
        }
        let gatekeeper = Gatekeeper {
            tools: &self.tools,
            hooks: &self.hooks,
            permissions: self.config.permissions.as_ref(),
            context: &self.context,
        };
        let outcome = match gatekeeper.decide(call).await {
            Preflight::Ready(ready) => return Some(ready),
            Preflight::Settled(outcome) => outcome,
            Preflight::Deferred(outcome) => {
                self.deferred = true;
                outcome
            }
            Preflight::TurnAborted(abort) => {
                let outcome = failure(abort.reason.clone());
                self.end_turn(abort);
                outcome
            }
        };
        self.settle(position, outcome).await;
        None
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
                    Some(text) => self.settle(position, failure(text)).await,
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
                self.settle(position, failure(ABORTED)).await;
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
                Ok(Err(error)) => (failed(&call, &error), None),
                Err(payload) => (panicked(&call.name, payload.as_ref()), None),
            };
            Finished { position, outcome, abort }
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
        self.settle(finished.position, finished.outcome).await;
    }

    async fn report(&self, (position, partial): (usize, ToolOutcome)) {
        self.events.emit(update_event(self.calls[position], partial)).await;
    }

    /// Records a call's outcome, then shows it.
    async fn settle(&mut self, position: usize, mut outcome: ToolOutcome) {
        cap(&mut outcome, self.config.limits.max_result_bytes);
        self.all_terminate &= outcome.terminate;
        let call = self.calls[position];
        let message = Arc::new(Message::ToolResult(ToolResultMessage {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content: outcome.content.clone(),
            details: outcome.details.clone(),
            is_error: outcome.is_error,
            timestamp: now_ms(),
        }));
        if self.unrecorded.is_none()
            && let Err(error) = self.journal.record(&message).await
        {
            // What cannot be recorded must not go on happening.
            self.context.cancel.cancel();
            self.refusal.get_or_insert_with(|| format!("Not executed: {error}"));
            self.unrecorded = Some(error);
        }
        self.results[position] = Some(message);
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
