//! An agent with a memory of its conversation: state, queues, subscribers and one run at a time.

use crate::bundle::TurnResult;
use crate::config::{AgentContext, AgentLoopConfig};
use crate::emitter::Emitter;
use crate::ending::Outcome;
use crate::error::AgentError;
use crate::journal::Journal;
use crate::listeners::{Listeners, SubscriptionId};
use crate::observers::Observers;
use crate::queue::{PendingMessageQueue, QueueMode};
use crate::registry::ToolRegistry;
use crate::run::{Decision, Opening, Run};
use crate::state::AgentState;
use crate::transcript::{DeferredCall, deferred_calls};
use async_trait::async_trait;
use capstan_ports::{
    AgentEvent, AssistantMessage, CompactionResult, CustomMessage, EventSink, Message, Model, Tool,
};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A stateful agent. Clones share one conversation, so that one task can run it while another steers or aborts it.
///
/// A run lives in the future that [`Agent::prompt`] returns: dropping that future ends the run and frees the agent.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Mutex<Settings>,
    state: Mutex<AgentState>,
    listeners: Listeners,
    steering: Arc<PendingMessageQueue>,
    follow_ups: Arc<PendingMessageQueue>,
    turns: AtomicU32,
    /// The current run's token; `None` while idle.
    run: watch::Sender<Option<CancellationToken>>,
}

struct Settings {
    system_prompt: String,
    tools: Arc<ToolRegistry>,
    config: AgentLoopConfig,
}

/// Whether a run begins by polling the steering queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstPoll {
    Now,
    /// The first message was just taken from that queue and must be answered alone (000-106).
    Skipped,
}

impl Agent {
    /// An agent with an empty conversation, no tools, and the defaults of [`AgentLoopConfig::new`].
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self::with_config(AgentLoopConfig::new(model))
    }

    /// An agent that runs with this configuration. The configuration's own message sources are not used; the agent's
    /// queues are.
    pub fn with_config(config: AgentLoopConfig) -> Self {
        let tools = Arc::new(ToolRegistry::default());
        let settings = Settings { system_prompt: String::new(), tools, config };
        Self {
            inner: Arc::new(Inner {
                settings: Mutex::new(settings),
                state: Mutex::default(),
                listeners: Listeners::default(),
                steering: Arc::default(),
                follow_ups: Arc::default(),
                turns: AtomicU32::new(0),
                run: watch::Sender::new(None),
            }),
        }
    }

    /// Runs one message of one text. Returns what the run added; see
    /// [`run_agent_loop`](crate::run_agent_loop).
    ///
    /// # Errors
    /// [`AgentError::AlreadyRunning`] during a run, otherwise those of [`run_agent_loop`](crate::run_agent_loop).
    pub async fn prompt_text(&self, text: impl Into<String>) -> Result<Vec<Arc<Message>>, AgentError> {
        self.prompt(vec![Message::user(text)]).await
    }

    /// Runs these messages as one prompt.
    ///
    /// # Errors
    /// As [`Agent::prompt_text`].
    pub async fn prompt(&self, messages: Vec<Message>) -> Result<Vec<Arc<Message>>, AgentError> {
        let run = self.claim()?;
        run.drive(Opening::Prompts(messages.into_iter().map(Arc::new).collect()), FirstPoll::Now).await
    }

    /// Runs one turn: one message of one text, to the model's final answer. That answer may hold calls that were put off;
    /// see [`Agent::deferred`].
    ///
    /// # Errors
    /// When the turn failed, for whatever reason; the model's failure is [`AgentError::Model`] here and an abort
    /// [`AgentError::Aborted`]. Otherwise those of [`Agent::prompt_text`].
    pub async fn submit_turn(&self, text: impl Into<String>) -> Result<AssistantMessage, AgentError> {
        let run = self.claim()?;
        let prompts = vec![Arc::new(Message::user(text))];
        let turn = run.drive_turn(Opening::Prompts(prompts), FirstPoll::Now, TurnResult::of).await?;
        match turn.message.as_ref() {
            // Always so: only an answer ends a turn well.
            Message::Assistant(answer) => Ok(answer.clone()),
            Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => Err(AgentError::Aborted),
        }
    }

    /// Adds a message of an extension, or of the program around the agent, to the conversation without asking the model;
    /// it reads it with the next prompt. Listeners are told of its start and end. During a run use [`Agent::steer`] or
    /// [`Agent::follow_up`] with [`Message::Custom`], and [`Agent::prompt`] to have it answered at once.
    ///
    /// # Errors
    /// [`AgentError::AlreadyRunning`] during a run, [`AgentError::Session`] when it cannot be recorded (then it is not
    /// added), and [`AgentError::Listener`] when a listener panicked (then it is).
    pub async fn append_custom(&self, message: CustomMessage) -> Result<(), AgentError> {
        let run = self.claim()?;
        let message = Arc::new(Message::Custom(message));
        let config = self.config();
        Journal::new(config.log).record(&message).await?;
        let sink = AgentSink { inner: &run.inner };
        let events = Emitter::new(&sink).observed_by(&config.observers);
        events.emit_message(&message).await;
        events.failure().map_or(Ok(()), |message| Err(AgentError::Listener { message }))
    }

    /// Goes on without a new prompt: from a user message or tool result at the end of the conversation, or, after an
    /// answer, with what waits in the steering queue, or else in the follow-up queue.
    ///
    /// # Errors
    /// [`AgentError::ContinueWithoutMessages`], [`AgentError::ContinueFromAssistant`] when nothing waits, and those of
    /// [`Agent::prompt_text`].
    pub async fn continue_run(&self) -> Result<Vec<Arc<Message>>, AgentError> {
        let run = self.claim()?;
        let tail = match self.config().log {
            Some(log) => log.context()?.messages.last().cloned(),
            None => self.inner.state().messages.last().cloned(),
        };
        match tail.as_deref() {
            None => Err(AgentError::ContinueWithoutMessages),
            Some(Message::Assistant(_)) => {
                let steering = self.inner.steering.drain();
                if !steering.is_empty() {
                    return run.drive(Opening::Prompts(steering), FirstPoll::Skipped).await;
                }
                let follow_ups = self.inner.follow_ups.drain();
                if follow_ups.is_empty() {
                    return Err(AgentError::ContinueFromAssistant);
                }
                run.drive(Opening::Prompts(follow_ups), FirstPoll::Now).await
            }
            Some(Message::User(_) | Message::ToolResult(_) | Message::Custom(_)) => {
                run.drive(Opening::Prompts(Vec::new()), FirstPoll::Now).await
            }
        }
    }

    /// Calls that a gate put off and that wait for a person.
    pub fn deferred(&self) -> Vec<DeferredCall> {
        deferred_calls(&self.inner.state().messages)
    }

    /// Executes a call that was put off, with the arguments that the model gave, and lets the model go on. Gates that
    /// block still block it, and permissions still decide.
    ///
    /// # Errors
    /// [`AgentError::NotDeferred`] when no such call waits, otherwise those of [`Agent::prompt_text`].
    pub async fn approve(&self, call_id: &str) -> Result<Vec<Arc<Message>>, AgentError> {
        self.decide(call_id, Decision::Approve).await
    }

    /// Tells the model that a call which was put off is not executed, and lets it go on.
    ///
    /// # Errors
    /// As [`Agent::approve`].
    pub async fn deny(
        &self,
        call_id: &str,
        reason: impl Into<String>,
    ) -> Result<Vec<Arc<Message>>, AgentError> {
        self.decide(call_id, Decision::Deny(reason.into())).await
    }

    async fn decide(&self, call_id: &str, decision: Decision) -> Result<Vec<Arc<Message>>, AgentError> {
        let run = self.claim()?;
        let call_id = call_id.to_owned();
        if self.deferred().iter().all(|waiting| waiting.call.id != call_id) {
            return Err(AgentError::NotDeferred { call_id });
        }
        run.drive(Opening::Decided { call_id, decision }, FirstPoll::Now).await
    }

    /// Queues a message for the next model call. Tool calls in progress are not interrupted.
    pub fn steer(&self, message: Message) {
        self.inner.steering.enqueue(Arc::new(message));
    }

    /// Queues a message for when the agent would otherwise stop.
    pub fn follow_up(&self, message: Message) {
        self.inner.follow_ups.enqueue(Arc::new(message));
    }

    /// Changes how much of the steering queue one drain takes; also during a run.
    pub fn set_steering_mode(&self, mode: QueueMode) {
        self.inner.steering.set_mode(mode);
    }

    /// How much of the steering queue one drain takes.
    pub fn steering_mode(&self) -> QueueMode {
        self.inner.steering.mode()
    }

    /// How much of the follow-up queue one drain takes.
    pub fn follow_up_mode(&self) -> QueueMode {
        self.inner.follow_ups.mode()
    }

    /// Queued steering, oldest first.
    pub fn queued_steering(&self) -> Vec<Arc<Message>> {
        self.inner.steering.waiting()
    }

    /// Queued follow-ups, oldest first.
    pub fn queued_follow_ups(&self) -> Vec<Arc<Message>> {
        self.inner.follow_ups.waiting()
    }

    /// Changes how much of the follow-up queue one drain takes; also during a run.
    pub fn set_follow_up_mode(&self, mode: QueueMode) {
        self.inner.follow_ups.set_mode(mode);
    }

    /// Forgets queued steering.
    pub fn clear_steering_queue(&self) {
        self.inner.steering.clear();
    }

    /// Forgets queued follow-ups.
    pub fn clear_follow_up_queue(&self) {
        self.inner.follow_ups.clear();
    }

    /// Forgets everything queued.
    pub fn clear_all_queues(&self) {
        self.clear_steering_queue();
        self.clear_follow_up_queue();
    }

    /// Whether anything is queued.
    pub fn has_queued_messages(&self) -> bool {
        self.inner.steering.has_items() || self.inner.follow_ups.has_items()
    }

    /// Tells `listener` of every event from now on. Listeners are told one after another, in the order of
    /// subscription, and the run waits for each; the state is up to date when they are called.
    pub fn subscribe(&self, listener: Arc<dyn EventSink>) -> SubscriptionId {
        self.inner.listeners.add(listener)
    }

    /// Ends a subscription; safe inside a listener, for the event in progress it has no effect.
    pub fn unsubscribe(&self, id: SubscriptionId) {
        self.inner.listeners.remove(id);
    }

    /// Ends the current run within a moment; does nothing while idle. Queues stay as they are.
    pub fn abort(&self) {
        if let Some(cancel) = self.inner.run.borrow().as_ref() {
            cancel.cancel();
        }
    }

    /// Gives up on a failed request that waits to be made again: the run ends with its failure. Does nothing while none
    /// waits.
    pub fn abort_retry(&self) {
        self.config().retry_stop.stop();
    }

    /// Returns when no run is in progress and all listeners have handled the end of the last one.
    pub async fn wait_for_idle(&self) {
        // The sender lives in `self`, so the wait cannot fail.
        drop(self.inner.run.subscribe().wait_for(Option::is_none).await);
    }

    /// A copy of the state as it is now.
    pub fn state(&self) -> AgentState {
        self.inner.state().clone()
    }

    /// Forgets conversation, state and queues.
    ///
    /// # Errors
    /// [`AgentError::AlreadyRunning`] during a run.
    pub fn reset(&self) -> Result<(), AgentError> {
        let _run = self.claim()?;
        *self.inner.state() = AgentState::default();
        self.clear_all_queues();
        Ok(())
    }

    /// Replaces the conversation.
    ///
    /// # Errors
    /// [`AgentError::AlreadyRunning`] during a run (X8).
    pub fn set_messages(&self, messages: Vec<Arc<Message>>) -> Result<(), AgentError> {
        let run = self.claim()?;
        run.set_messages(messages);
        Ok(())
    }

    /// Sets the system prompt; a run in progress keeps the one it began with.
    pub fn set_system_prompt(&self, text: impl Into<String>) {
        self.inner.settings().system_prompt = text.into();
    }

    /// Replaces the tools; a run in progress keeps its own.
    ///
    /// # Errors
    /// [`AgentError::DuplicateTool`] when two share a name; then nothing changes.
    pub fn set_tools(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<(), AgentError> {
        self.set_tool_registry(Arc::new(ToolRegistry::with_tools(tools)?));
        Ok(())
    }

    /// Uses a registry that others may change; a run in progress keeps its own.
    pub fn set_tool_registry(&self, tools: Arc<ToolRegistry>) {
        self.inner.settings().tools = tools;
    }

    /// The tools in use. Changes to the registry count from the next round.
    pub fn tools(&self) -> Arc<ToolRegistry> {
        self.inner.settings().tools.clone()
    }

    /// Who watches turns from beside. Changes count from the next event.
    pub fn observers(&self) -> Arc<Observers> {
        self.inner.settings().config.observers.clone()
    }

    /// Changes model, hooks, limits and the like; a run in progress keeps what it began with.
    pub fn configure(&self, change: impl FnOnce(&mut AgentLoopConfig)) {
        change(&mut self.inner.settings().config);
    }

    /// The configuration of the next run.
    pub(crate) fn config(&self) -> AgentLoopConfig {
        self.inner.settings().config.clone()
    }

    pub(crate) fn claim(&self) -> Result<ActiveRun, AgentError> {
        let cancel = CancellationToken::new();
        let claimed = self.inner.run.send_if_modified(|run| {
            let is_idle = run.is_none();
            if is_idle {
                *run = Some(cancel.clone());
            }
            is_idle
        });
        if !claimed {
            return Err(AgentError::AlreadyRunning);
        }
        Ok(ActiveRun { inner: self.inner.clone(), cancel })
    }
}

impl Inner {
    // A panic under one of these locks leaves plain data that is still whole, so poisoning is ignored.
    fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, AgentState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to run. However it ends, also by a panic or a dropped future, the agent is idle afterwards.
pub(crate) struct ActiveRun {
    inner: Arc<Inner>,
    cancel: CancellationToken,
}

impl ActiveRun {
    /// Replaces the conversation.
    pub(crate) fn set_messages(&self, messages: Vec<Arc<Message>>) {
        let users = messages.iter().filter(|message| matches!(message.as_ref(), Message::User(_))).count();
        self.inner.turns.store(u32::try_from(users).unwrap_or(u32::MAX), Ordering::Relaxed);
        self.inner.state().messages = messages;
    }

    /// Runs what was opened, or goes on from the conversation when there are no prompts.
    async fn drive(self, opening: Opening, first_poll: FirstPoll) -> Result<Vec<Arc<Message>>, AgentError> {
        self.drive_turn(opening, first_poll, Outcome::into_added).await
    }

    /// As [`ActiveRun::drive`], with what `of` makes of the outcome.
    async fn drive_turn<T>(
        self,
        opening: Opening,
        first_poll: FirstPoll,
        of: impl FnOnce(Outcome) -> Result<T, AgentError>,
    ) -> Result<T, AgentError> {
        let inner = &self.inner;
        let (context, config) = self.begin(first_poll);
        let sink = AgentSink { inner };
        let ended = of(Run::new(&context, &config, &sink, &self.cancel).run(opening).await);
        if let Err(error) = &ended {
            inner.state().error_message = Some(error.to_string());
        }
        ended
    }

    /// Compacts the conversation of the session because a person asked for it.
    ///
    /// # Errors
    /// Those of [`AgentSession::compact`](crate::AgentSession::compact).
    pub(crate) async fn compact_by_hand(
        &self,
        instructions: Option<String>,
    ) -> Result<CompactionResult, AgentError> {
        let (context, config) = self.with_messages(Vec::new());
        let sink = AgentSink { inner: &self.inner };
        let mut run = Run::new(&context, &config, &sink, &self.cancel);
        run.take_up_log()?;
        run.compact_by_hand(instructions).await
    }

    /// Compacts the conversation of the session if it has grown too far. True when that was tried.
    ///
    /// # Errors
    /// [`AgentError::Session`] when the log cannot be read or written.
    pub(crate) async fn compact_if_due(&self) -> Result<bool, AgentError> {
        let (context, config) = self.with_messages(Vec::new());
        let sink = AgentSink { inner: &self.inner };
        let mut run = Run::new(&context, &config, &sink, &self.cancel);
        run.take_up_log()?;
        run.compact_after_run().await
    }

    fn with_messages(&self, messages: Vec<Arc<Message>>) -> (AgentContext, AgentLoopConfig) {
        let settings = self.inner.settings();
        let context = AgentContext {
            system_prompt: settings.system_prompt.clone(),
            messages,
            tools: settings.tools.clone(),
        };
        (context, settings.config.clone())
    }

    fn begin(&self, first_poll: FirstPoll) -> (AgentContext, AgentLoopConfig) {
        let inner = &self.inner;
        let messages = {
            let mut state = inner.state();
            state.is_streaming = true;
            state.error_message = None;
            state.messages.clone()
        };
        let (context, mut config) = self.with_messages(messages);
        config.turn = inner.turns.fetch_add(1, Ordering::Relaxed);
        let (steering, follow_ups) = (inner.steering.clone(), inner.follow_ups.clone());
        let skip = AtomicBool::new(first_poll == FirstPoll::Skipped);
        config.steering =
            Some(Arc::new(
                move || {
                    if skip.swap(false, Ordering::Relaxed) { Vec::new() } else { steering.drain() }
                },
            ));
        config.follow_ups = Some(Arc::new(move || follow_ups.drain()));
        (context, config)
    }
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        // Tells tools and hooks of a run whose future was dropped; after a complete run nobody listens any more.
        self.cancel.cancel();
        self.inner.state().settle();
        self.inner.run.send_replace(None);
    }
}

/// Folds each event into the state, then tells the listeners (000-079).
struct AgentSink<'a> {
    inner: &'a Inner,
}

#[async_trait]
impl EventSink for AgentSink<'_> {
    async fn emit(&self, event: AgentEvent) {
        self.inner.state().reduce(&event);
        self.inner.listeners.tell(event).await;
    }

    fn wants_updates(&self) -> bool {
        self.inner.listeners.want_updates()
    }
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;
