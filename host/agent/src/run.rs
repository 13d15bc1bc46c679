//! The loop: rounds of one model call and the tool calls it asked for, until nothing is left to do.
//!
//! The order of events is that of the traces T1 to T7, which the tests spell out. Whatever goes wrong, every start has
//! its end, `AgentEnd` comes last and exactly once, and the transcript stays acceptable to a provider. Every entry point
//! ([`run_agent_loop`], [`Agent`](crate::Agent), [`AgentSession`](crate::AgentSession),
//! [`RuntimeBundle`](crate::RuntimeBundle)) runs through here.

use crate::compaction::estimate::Tally;
use crate::compaction::flow::compacted_before;
use crate::config::{AgentContext, AgentLoopConfig};
use crate::emitter::Emitter;
use crate::ending::{Outcome, UnfinishedTurn};
use crate::error::AgentError;
use crate::execute::{Batch, BatchEnd};
use crate::hooks::TurnAbort;
use crate::journal::Journal;
use crate::repeats::Repeats;
use crate::transcript::deferred_calls;
use capstan_ports::hook::HookContext;
use capstan_ports::message::now_ms;
use capstan_ports::{
    AgentEvent, AssistantMessage, EntryId, EventSink, HookStage, Message, Messages, ModelError, SessionId,
    SessionStore, StopReason, ToolCall, TurnContext, TurnEvent,
};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What calls get that the model could not finish writing (000-156).
const CUT_OFF: &str = "Not executed: the answer was cut off at the output limit, so the arguments may be incomplete. \
                       Make the call again, with less text or in smaller steps.";

/// Runs `prompts` to the model's final answer and returns everything that was added to the conversation, prompts
/// included.
///
/// A model that fails is not an error here: the failure is the last message (000-150). `context` stays as it is.
///
/// # Errors
/// When the run had to be ended for another reason than the model's: the log, a hook, a limit, a listener. All events
/// were sent nevertheless, and what was finished is on record.
pub async fn run_agent_loop(
    prompts: Vec<Arc<Message>>,
    context: &AgentContext,
    config: &AgentLoopConfig,
    sink: &dyn EventSink,
    cancel: &CancellationToken,
) -> Result<Vec<Arc<Message>>, AgentError> {
    Run::new(context, config, sink, cancel).run(Opening::Prompts(prompts)).await.into_added()
}

/// Goes on from the context without a new prompt; the returned list holds only what is new. `before-turn` hooks are not
/// asked: there is no input that they could judge.
///
/// # Errors
/// Before any event: [`AgentError::ContinueWithoutMessages`] and [`AgentError::ContinueFromAssistant`]. Otherwise
/// those of [`run_agent_loop`].
pub async fn run_agent_loop_continue(
    context: &AgentContext,
    config: &AgentLoopConfig,
    sink: &dyn EventSink,
    cancel: &CancellationToken,
) -> Result<Vec<Arc<Message>>, AgentError> {
    let last = match &config.log {
        Some(log) => log.context()?.messages.last().cloned(),
        None => context.messages.last().cloned(),
    };
    match last.as_deref() {
        None => Err(AgentError::ContinueWithoutMessages),
        Some(Message::Assistant(_)) => Err(AgentError::ContinueFromAssistant),
        Some(Message::User(_) | Message::ToolResult(_) | Message::Custom(_)) => {
            Run::new(context, config, sink, cancel).run(Opening::Prompts(Vec::new())).await.into_added()
        }
    }
}

/// A person's answer about a call that a gate put off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Execute it, with the arguments that the model gave.
    Approve,
    /// Do not execute it; the model reads this reason.
    Deny(String),
}

/// What a run begins with.
pub(crate) enum Opening {
    /// Messages of the user; none to go on from what is there.
    Prompts(Vec<Arc<Message>>),
    /// A decision on a call that was put off.
    Decided { call_id: String, decision: Decision },
}

/// How the run goes on after a round.
enum Next {
    /// The model must read the results.
    Ask,
    /// The model had nothing more to do; queued messages may change that.
    Rest,
    /// The run is over, whatever is queued.
    Over,
}

pub(crate) struct Run<'a> {
    pub(crate) context: &'a AgentContext,
    pub(crate) config: &'a AgentLoopConfig,
    pub(crate) events: Emitter<'a>,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) journal: Journal,
    /// Where the conversation is loaded from, once the turn may start.
    store: Option<Arc<dyn SessionStore>>,
    /// The conversation as the model sees it. A compressor may replace what is in it.
    pub(crate) transcript: Messages,
    /// The entry of the log that each of its messages comes from, where it has one.
    pub(crate) sources: Vec<Option<EntryId>>,
    /// How many of its leading messages a compaction left: what a provider counted for them was a longer conversation.
    pub(crate) compacted: usize,
    pub(crate) tally: Tally,
    /// Nothing is compacted in this run any more without a person asking for it: somebody objected, or the transcript is
    /// not what the log has.
    pub(crate) is_left_alone: bool,
    /// How many of its leading messages are known to need no repair.
    pub(crate) sound: usize,
    /// How many of its leading messages are known to be no custom ones.
    pub(crate) plain: usize,
    /// What this run added to the conversation.
    pub(crate) added: Vec<Arc<Message>>,
    /// The results among that.
    pub(crate) tool_results: Vec<Arc<Message>>,
    pub(crate) session_id: SessionId,
    model_name: Arc<str>,
    round: u32,
    tool_rounds: u32,
    repeats: Repeats,
    /// Whether the conversation could be shortened, when the model refused it since its last good answer (001-153).
    pub(crate) shortened: Option<bool>,
    /// Why the last answer is a failure.
    pub(crate) model_failure: Option<ModelError>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(
        context: &'a AgentContext,
        config: &'a AgentLoopConfig,
        sink: &'a dyn EventSink,
        cancel: &'a CancellationToken,
    ) -> Self {
        Self {
            context,
            config,
            events: Emitter::new(sink).observed_by(&config.observers),
            cancel,
            journal: Journal::new(config.log.clone()),
            store: None,
            transcript: context.messages.clone().into(),
            sources: vec![None; context.messages.len()],
            compacted: 0,
            tally: Tally::default(),
            is_left_alone: false,
            sound: 0,
            plain: 0,
            added: Vec::new(),
            tool_results: Vec::new(),
            session_id: config.session().unwrap_or_else(|| SessionId::new("in-memory")),
            model_name: config.model.info().full_name().into(),
            round: 0,
            tool_rounds: 0,
            repeats: Repeats::default(),
            shortened: None,
            model_failure: None,
        }
    }

    /// Loads the conversation from a store and saves it there.
    pub(crate) fn over(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.store = Some(store);
        self
    }

    pub(crate) async fn run(mut self, opening: Opening) -> Outcome {
        let unfinished = UnfinishedTurn::new(self.config.observers.clone());
        self.events.emit(AgentEvent::AgentStart).await;
        let ended = self.turn(opening).await;
        let ended = self.conclude(ended, unfinished).await;
        self.events.emit(AgentEvent::AgentEnd { messages: self.added.clone() }).await;
        self.into_outcome(ended)
    }

    async fn turn(&mut self, opening: Opening) -> Result<(), AgentError> {
        let taken_up = self.take_up_log();
        let opening = match opening {
            Opening::Prompts(mut prompts) => {
                if let Err(abort) = self.before_turn(&mut prompts).await {
                    // The turn never began: nothing of it is kept.
                    return Err(abort.into());
                }
                Opening::Prompts(prompts)
            }
            decided @ Opening::Decided { .. } => decided,
        };
        self.config.observers.tell(|| TurnEvent::TurnStarted);
        let loaded = match taken_up {
            Ok(()) => self.load().await,
            failed @ Err(_) => failed,
        };
        self.events.emit(AgentEvent::TurnStart).await;
        if let Err(error) = loaded {
            return self.fail(error).await;
        }
        match opening {
            Opening::Prompts(prompts) => {
                if let Err(error) = self.admit(prompts).await {
                    return self.fail(error).await;
                }
            }
            Opening::Decided { call_id, decision } => self.decided(&call_id, decision).await?,
        }
        self.rounds().await
    }

    /// Asks the hooks about the input, which is the last of the prompts: the ones before it lead up to it.
    async fn before_turn(&self, prompts: &mut [Arc<Message>]) -> Result<(), TurnAbort> {
        let hooks = self.config.hooks.current();
        let Some(input) = prompts.last_mut().filter(|_| hooks.has(HookStage::BeforeTurn)) else {
            return Ok(());
        };
        let context = self.hook_context().of_turn();
        let asked = self.cancel.run_until_cancelled(hooks.before_turn(&context, input)).await;
        // An aborted run goes on to its first request, which is then not made.
        if let Some(changed) = asked.transpose()?.flatten() {
            *input = changed;
        }
        Ok(())
    }

    /// What was said so far, as the log has it for the model: summaries stand there for what they summarize.
    pub(crate) fn take_up_log(&mut self) -> Result<(), AgentError> {
        if let Some(log) = &self.config.log {
            let context = log.context()?;
            self.transcript = context.messages.into();
            self.sources = context.sources.into_iter().map(Some).collect();
            self.compacted = context.compacted;
            self.forget_counts();
        }
        Ok(())
    }

    async fn load(&mut self) -> Result<(), AgentError> {
        let Some(store) = self.store.clone() else { return Ok(()) };
        let session = store.load(&self.session_id).await?;
        self.compacted = compacted_before(&session.messages);
        self.sources = vec![None; session.messages.len()];
        self.transcript = session.messages.into();
        let (id, metadata) = (self.session_id.clone(), session.metadata);
        self.journal = Journal::Store { store, id, metadata };
        Ok(())
    }

    async fn rounds(&mut self) -> Result<(), AgentError> {
        let mut waiting = self.steering();
        loop {
            let next = self.round(waiting).await?;
            if let Some(message) = self.events.failure() {
                self.events.emit(AgentEvent::TurnStart).await;
                return self.fail(AgentError::Listener { message }).await;
            }
            waiting = match next {
                Next::Over => return Ok(()),
                Next::Ask => self.steering(),
                Next::Rest => match self.steering() {
                    steering if steering.is_empty() => self.follow_ups(),
                    steering => steering,
                },
            };
            if matches!(next, Next::Rest) && waiting.is_empty() {
                return Ok(());
            }
            self.round += 1;
            self.events.emit(AgentEvent::TurnStart).await;
        }
    }

    /// One round, from the queued messages to its `TurnEnd`.
    async fn round(&mut self, waiting: Vec<Arc<Message>>) -> Result<Next, AgentError> {
        if let Err(error) = self.admit(waiting).await {
            return self.fail(error).await;
        }
        let answer = self.answer().await?;
        let Message::Assistant(said) = answer.as_ref() else { return Ok(Next::Over) };
        let calls: Vec<&ToolCall> = match said.stop_reason {
            // Calls in a broken answer may be broken themselves (000-154).
            StopReason::Error | StopReason::Aborted => {
                self.end_round(&answer, Vec::new()).await;
                return Ok(Next::Over);
            }
            StopReason::Stop | StopReason::Length | StopReason::ToolUse => said.tool_calls().collect(),
        };
        if calls.is_empty() {
            self.end_round(&answer, Vec::new()).await;
            return Ok(Next::Rest);
        }
        let exceeded = self.config.limits.max_tool_rounds.filter(|limit| self.tool_rounds >= *limit);
        let refusal = self.refusal(said.stop_reason, exceeded);
        self.tool_rounds += 1;
        let (results, end) = self.execute(calls, refusal, Approved::No).await;
        self.end_round(&answer, results).await;
        if let Some(limit) = exceeded {
            return Err(AgentError::ToolLoopExceeded { limit });
        }
        after(end)
    }

    async fn execute(
        &mut self,
        calls: Vec<&ToolCall>,
        refusal: Option<String>,
        approved: Approved,
    ) -> (Vec<Arc<Message>>, BatchEnd) {
        let context = self.hook_context();
        let tools = self.context.tools.snapshot();
        let (journal, repeats) = (&mut self.journal, &mut self.repeats);
        let batch = Batch::new(self.config, &self.events, journal, repeats, tools, context);
        let batch = match approved {
            Approved::Yes => batch.approved(),
            Approved::No => batch,
        };
        let done = batch.execute(calls, refusal).await;
        self.transcript.to_mut().extend_from_slice(&done.results);
        let journal = &mut self.journal;
        self.sources.extend(done.results.iter().map(|result| journal.take_entry(result)));
        self.added.extend_from_slice(&done.results);
        self.tool_results.extend_from_slice(&done.results);
        (done.results, done.end)
    }

    /// Does what a person decided about a call that was put off. Its result takes the place of the note that it was,
    /// and the round goes on with the model.
    async fn decided(&mut self, call_id: &str, decision: Decision) -> Result<(), AgentError> {
        let waiting = deferred_calls(&self.transcript);
        let Some(deferred) = waiting.into_iter().find(|waiting| waiting.call.id == call_id) else {
            return self.fail(AgentError::NotDeferred { call_id: call_id.to_owned() }).await;
        };
        let refusal = match decision {
            Decision::Approve => None,
            Decision::Deny(reason) => Some(format!("Not executed, the user denied it: {reason}")),
        };
        let (_, end) = self.execute(vec![&deferred.call], refusal, Approved::Yes).await;
        match after(end) {
            Ok(_) => Ok(()),
            Err(error) => self.fail(error).await,
        }
    }

    /// Why the calls of an answer must not run, if so. They still get results, so that the transcript stays whole.
    fn refusal(&self, stop_reason: StopReason, exceeded: Option<u32>) -> Option<String> {
        if stop_reason == StopReason::Length {
            return Some(CUT_OFF.to_owned());
        }
        if let Some(limit) = exceeded {
            return Some(format!("Not executed: the turn has used all of its {limit} tool rounds."));
        }
        self.events.failure().map(|text| format!("Not executed: an event listener failed ({text})."))
    }

    /// Takes messages into the conversation. They are durable before the next request.
    async fn admit(&mut self, messages: Vec<Arc<Message>>) -> Result<(), AgentError> {
        for message in messages {
            self.events.emit(AgentEvent::MessageStart { message: message.clone() }).await;
            let appended = self.journal.append(&message).await;
            self.add(message.clone());
            self.events.emit(AgentEvent::MessageEnd { message }).await;
            appended?;
        }
        Ok(())
    }

    pub(crate) fn add(&mut self, message: Arc<Message>) {
        self.sources.push(self.journal.take_entry(&message));
        self.transcript.to_mut().push(message.clone());
        self.added.push(message);
    }

    /// Ends the run at a point where the round has no answer yet: the reason takes its place (X3).
    pub(crate) async fn fail<T>(&mut self, error: AgentError) -> Result<T, AgentError> {
        let message = Arc::new(Message::Assistant(AssistantMessage {
            stop_reason: StopReason::Error,
            error_message: Some(error.to_string()),
            ..self.blank_answer()
        }));
        let is_log_broken = matches!(error, AgentError::Session(_));
        if !is_log_broken && let Err(second) = self.journal.record(&message).await {
            tracing::error!(error = %second, "the failure of a run could not be recorded");
        }
        self.add(message.clone());
        self.events.emit_message(&message).await;
        self.end_round(&message, Vec::new()).await;
        Err(error)
    }

    pub(crate) fn blank_answer(&self) -> AssistantMessage {
        let info = self.config.model.info();
        AssistantMessage {
            api: info.api.clone(),
            provider: info.provider.clone(),
            model: info.id.clone(),
            timestamp: now_ms(),
            ..AssistantMessage::default()
        }
    }

    pub(crate) async fn end_round(&self, answer: &Arc<Message>, tool_results: Vec<Arc<Message>>) {
        self.events.emit(AgentEvent::TurnEnd { message: answer.clone(), tool_results }).await;
    }

    /// What hooks are told besides their subject, as of now.
    pub(crate) fn hook_context(&self) -> HookContext {
        let turn = TurnContext {
            session_id: self.session_id.clone(),
            turn: self.config.turn,
            round: self.round,
            model: self.model_name.clone(),
        };
        let mut context = HookContext::new(turn, self.cancel.clone());
        context.conversation = self.transcript.clone();
        context.agent = self.config.agent_name.clone();
        context
    }

    /// Nothing is taken from a queue once the run is aborted: what waits there is for the next run (000-061).
    fn steering(&self) -> Vec<Arc<Message>> {
        let source = self.config.steering.as_ref().filter(|_| !self.cancel.is_cancelled());
        source.map_or_else(Vec::new, |drain| drain())
    }

    fn follow_ups(&self) -> Vec<Arc<Message>> {
        let source = self.config.follow_ups.as_ref().filter(|_| !self.cancel.is_cancelled());
        source.map_or_else(Vec::new, |drain| drain())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Approved {
    Yes,
    No,
}

fn after(end: BatchEnd) -> Result<Next, AgentError> {
    match end {
        BatchEnd::Continue => Ok(Next::Ask),
        BatchEnd::Terminate => Ok(Next::Rest),
        BatchEnd::Deferred => Ok(Next::Over),
        BatchEnd::Aborted(abort) => Err(abort.into()),
        BatchEnd::Unrecorded(error) => Err(error.into()),
        BatchEnd::Repeated { tool, times } => Err(AgentError::RepeatedFailure { tool, times }),
    }
}

impl From<TurnAbort> for AgentError {
    fn from(abort: TurnAbort) -> Self {
        Self::HookAborted { hook: abort.hook, reason: abort.reason }
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "run_ending_tests.rs"]
mod ending_tests;
