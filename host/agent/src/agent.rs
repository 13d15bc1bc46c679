//! An agent with a memory of its conversation: state, queues, subscribers and one run at a time.

mod active_run;

pub(crate) use active_run::ActiveRun;

use crate::config::AgentLoopConfig;
use crate::error::AgentError;
use crate::listeners::{Listeners, SubscriptionId};
use crate::observers::Observers;
use crate::queue::{PendingMessageQueue, QueueMode};
use crate::registry::ToolRegistry;
use crate::run::Decision;
use crate::state::AgentState;
use crate::transcript::{DeferredCall, deferred_calls};
use async_trait::async_trait;
use capstan_ports::{AgentEvent, AssistantMessage, CustomMessage, EventSink, Message, Model, Tool};
use std::sync::atomic::{AtomicU32, Ordering};
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
        self.claim()?.prompt(messages).await
    }

    /// Runs one turn: one message of one text, to the model's final answer. That answer may hold calls that were put off;
    /// see [`Agent::deferred`].
    ///
    /// # Errors
    /// When the turn failed, for whatever reason; the model's failure is [`AgentError::Model`] here and an abort
    /// [`AgentError::Aborted`]. Otherwise those of [`Agent::prompt_text`].
    pub async fn submit_turn(&self, text: impl Into<String>) -> Result<AssistantMessage, AgentError> {
        self.claim()?.submit_turn(text.into()).await
    }

    /// Adds a message of an extension, or of the program around the agent, to the conversation without asking the model;
    /// it reads it with the next prompt. Listeners are told of its start and end. During a run use [`Agent::steer`] or
    /// [`Agent::follow_up`] with [`Message::Custom`], and [`Agent::prompt`] to have it answered at once.
    ///
    /// # Errors
    /// [`AgentError::AlreadyRunning`] during a run, [`AgentError::Session`] when it cannot be recorded (then it is not
    /// added), and [`AgentError::Listener`] when a listener panicked (then it is).
    pub async fn append_custom(&self, message: CustomMessage) -> Result<(), AgentError> {
        self.claim()?.append_custom(message).await
    }

    /// Goes on without a new prompt: from a user message or tool result at the end of the conversation, or, after an
    /// answer, with what waits in the steering queue, or else in the follow-up queue.
    ///
    /// # Errors
    /// [`AgentError::ContinueWithoutMessages`], [`AgentError::ContinueFromAssistant`] when nothing waits, and those of
    /// [`Agent::prompt_text`].
    pub async fn continue_run(&self) -> Result<Vec<Arc<Message>>, AgentError> {
        self.claim()?.continue_run().await
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
        self.claim()?.decide(call_id, Decision::Approve).await
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
        self.claim()?.decide(call_id, Decision::Deny(reason.into())).await
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

    /// Turns so far.
    pub(crate) fn turns(&self) -> u32 {
        self.inner.turns.load(Ordering::Relaxed)
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
