//! An agent bound to a session: what it hears and says is on record before anything follows from it.
//!
//! The agent's own list of messages is what was said; what the model is told comes from the session for each run, with
//! summaries for what was compacted and with what extensions and shell commands added.

mod branch_summary;
mod closing;
mod compacting;
mod keeping;
mod navigate;
mod restore;
mod waiting;

pub use navigate::{NavigateOptions, Navigated};
pub use restore::RestoreNotice;

use crate::agent::{ActiveRun, Agent};
use crate::config::{AgentLoopConfig, Chosen};
use crate::error::AgentError;
use crate::run::Decision;
use crate::transcript::{DeferredCall, deferred_calls};
use capstan_ports::entry::EntryKind;
use capstan_ports::hook::HookContext;
use capstan_ports::{
    AssistantMessage, CustomMessage, Message, PlanStepStatus, SessionId, SessionLifecycle, SessionLog,
    TurnContext,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

/// An agent whose conversation lives in a [`SessionLog`].
///
/// The loop itself writes: a prompt is durable before the first request, an answer before any of its tools runs, and
/// each tool result as soon as it is finished. Event listeners play no part in that, however slow they are (X7).
#[derive(Clone)]
pub struct AgentSession {
    agent: Agent,
    shared: Arc<Shared>,
}

struct Shared {
    log: RwLock<Arc<dyn SessionLog>>,
    /// Whether hooks know that the session began. Whoever finds it false may rely on the rest being that of the session.
    announced: AtomicBool,
    /// How they are told: whether anything was said before.
    is_new: AtomicBool,
    /// Held while the session itself is changed: compacted, moved to another branch, exchanged. Prompts that come
    /// meanwhile wait for it and lose nothing (001-155).
    upkeep: Mutex<()>,
    /// What came during a run and would stand between a call and its result.
    waiting: Mutex<Vec<EntryKind>>,
    /// How the session was taken up.
    notices: std::sync::Mutex<Vec<RestoreNotice>>,
    /// Whether model and thinking level may be others than the session says. The next run looks and records them.
    unsettled: AtomicBool,
    /// Nothing new begins.
    closing: AtomicBool,
    /// Nothing is written any more. Whoever writes holds it for reading.
    closed: tokio::sync::RwLock<bool>,
}

impl AgentSession {
    /// Takes up the conversation in `log`, which may be empty. `config` gets the log and its id, and the model and thinking
    /// level that the session was last continued with, unless they were [chosen](AgentLoopConfig::chosen); see
    /// [`AgentSession::notices`]. Nothing is written before the first prompt.
    ///
    /// # Errors
    /// [`AgentError::Session`] when the log cannot be read.
    pub fn open(mut config: AgentLoopConfig, log: Arc<dyn SessionLog>) -> Result<Self, AgentError> {
        let (messages, context) = (log.transcript()?, log.context()?);
        let chosen = config.chosen;
        let notices = restore::take_up(&mut config, &context, chosen);
        config.log = Some(log.clone());
        config.session_id = Some(log.id().clone());
        config.compaction_control = Arc::default();
        let agent = Agent::with_config(config);
        let is_new = messages.is_empty();
        agent.set_messages(messages)?;
        let shared = Shared {
            log: RwLock::new(log),
            announced: AtomicBool::default(),
            is_new: AtomicBool::new(is_new),
            upkeep: Mutex::default(),
            waiting: Mutex::default(),
            notices: std::sync::Mutex::new(notices),
            unsettled: AtomicBool::new(true),
            closing: AtomicBool::default(),
            closed: tokio::sync::RwLock::default(),
        };
        Ok(Self { agent, shared: Arc::new(shared) })
    }

    /// Which session.
    pub fn id(&self) -> SessionId {
        self.log().id().clone()
    }

    /// The session itself, for looking at it. What is to be added goes through this type, so that the agent knows of it.
    pub fn log(&self) -> Arc<dyn SessionLog> {
        // What is stored under the lock is one reference, whole at any time.
        self.shared.log.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The agent, for queues, subscriptions and settings. Its conversation is a copy of what was said; replacing it does
    /// not change the session. Model and thinking level are changed here, where that is recorded.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Goes on with another session in the place of this one: a new one, another file, a fork. Hooks are told that the
    /// old one ended and the new one began. Its model and thinking level count from now on; where it says none, those of
    /// now do. Queued messages stay queued.
    ///
    /// # Errors
    /// [`AgentError::AlreadyRunning`] during a run, [`AgentError::Closed`], [`AgentError::Session`] when the log cannot be
    /// read or what waited for the old session cannot be recorded there; then nothing changes.
    pub async fn switch(&self, log: Arc<dyn SessionLog>) -> Result<(), AgentError> {
        let _upkeep = self.shared.upkeep.lock().await;
        self.ensure_open()?;
        let run = self.agent.claim()?;
        let (messages, context) = (log.transcript()?, log.context()?);
        self.flush_waiting(&run).await?;
        if self.shared.announced.load(Ordering::Acquire) {
            self.tell(SessionLifecycle::End).await;
        }
        let mut config = self.agent.config();
        let notices = restore::take_up(&mut config, &context, Chosen::default());
        self.shared.is_new.store(messages.is_empty(), Ordering::Relaxed);
        *self.shared.log.write().unwrap_or_else(PoisonError::into_inner) = log.clone();
        self.agent.configure(|current| {
            current.model = config.model;
            current.thinking = config.thinking;
            current.session_id = Some(log.id().clone());
            current.log = Some(log);
            current.compaction_control = Arc::default();
        });
        *self.shared.notices.lock().unwrap_or_else(PoisonError::into_inner) = notices;
        self.shared.unsettled.store(true, Ordering::Relaxed);
        run.set_messages(messages);
        // Only now, so that nobody who comes meanwhile tells hooks of a beginning before they were told of the end.
        self.shared.announced.store(false, Ordering::Release);
        Ok(())
    }

    /// Runs one message of one text. Returns what the run added.
    ///
    /// # Errors
    /// Those of [`Agent::prompt_text`].
    pub async fn prompt_text(&self, text: impl Into<String>) -> Result<Vec<Arc<Message>>, AgentError> {
        self.prompt(vec![Message::user(text)]).await
    }

    /// Runs these messages as one prompt.
    ///
    /// # Errors
    /// Those of [`Agent::prompt`].
    pub async fn prompt(&self, messages: Vec<Message>) -> Result<Vec<Arc<Message>>, AgentError> {
        let run = self.begin().await?;
        let ran = run.prompt(messages).await;
        self.after(run, ran).await
    }

    /// Runs one turn and returns its final answer; see [`Agent::submit_turn`].
    ///
    /// # Errors
    /// Those of [`Agent::submit_turn`].
    pub async fn submit_turn(&self, text: impl Into<String>) -> Result<AssistantMessage, AgentError> {
        let run = self.begin().await?;
        match run.submit_turn(text.into()).await {
            Ok(answer) => {
                let ended = vec![Arc::new(Message::Assistant(answer.clone()))];
                self.after(run, Ok(ended)).await?;
                Ok(answer)
            }
            Err(error) => {
                self.finish(run).await?;
                Err(error)
            }
        }
    }

    /// Adds a message of an extension, or of the program around the agent, to the conversation and its record without
    /// asking the model; see [`Agent::append_custom`].
    ///
    /// # Errors
    /// Those of [`Agent::append_custom`].
    pub async fn append_custom(&self, message: CustomMessage) -> Result<(), AgentError> {
        let run = self.begin().await?;
        let added = run.append_custom(message).await;
        self.finish(run).await?;
        added
    }

    /// Calls of the present branch that a gate put off and that wait for a person, as far as the model still knows of them.
    pub fn deferred(&self) -> Vec<DeferredCall> {
        match self.log().context() {
            Ok(context) => deferred_calls(&context.messages),
            Err(error) => {
                tracing::warn!(%error, "calls that wait for a person are taken from memory");
                self.agent.deferred()
            }
        }
    }

    /// Executes a call that was put off; see [`Agent::approve`].
    ///
    /// # Errors
    /// Those of [`Agent::approve`].
    pub async fn approve(&self, call_id: &str) -> Result<Vec<Arc<Message>>, AgentError> {
        self.decide(call_id, Decision::Approve).await
    }

    /// Tells the model that a call which was put off is not executed; see [`Agent::deny`].
    ///
    /// # Errors
    /// Those of [`Agent::approve`].
    pub async fn deny(
        &self,
        call_id: &str,
        reason: impl Into<String>,
    ) -> Result<Vec<Arc<Message>>, AgentError> {
        self.decide(call_id, Decision::Deny(reason.into())).await
    }

    async fn decide(&self, call_id: &str, decision: Decision) -> Result<Vec<Arc<Message>>, AgentError> {
        let run = self.begin().await?;
        let ran = run.decide(call_id, decision).await;
        self.after(run, ran).await
    }

    /// Goes on without a new prompt; see [`Agent::continue_run`].
    ///
    /// # Errors
    /// Those of [`Agent::continue_run`].
    pub async fn continue_run(&self) -> Result<Vec<Arc<Message>>, AgentError> {
        let run = self.begin().await?;
        let ran = run.continue_run().await;
        self.after(run, ran).await
    }

    /// Queues a text for the next model call; see [`Agent::steer`].
    pub fn steer_text(&self, text: impl Into<String>) {
        self.agent.steer(Message::user(text));
    }

    /// Queues a text for when the agent would otherwise stop; see [`Agent::follow_up`].
    pub fn follow_up_text(&self, text: impl Into<String>) {
        self.agent.follow_up(Message::user(text));
    }

    /// Tells hooks that the session began, once; the first prompt does it by itself.
    pub async fn announce(&self) {
        if self.shared.closing.load(Ordering::Relaxed) {
            return;
        }
        if !self.shared.announced.swap(true, Ordering::AcqRel) {
            let is_new = self.shared.is_new.load(Ordering::Relaxed);
            self.tell(if is_new { SessionLifecycle::Start } else { SessionLifecycle::Resume }).await;
        }
    }

    /// Waits until nobody works on the session itself, sees to what every run begins with, and takes the right to run.
    async fn begin(&self) -> Result<ActiveRun, AgentError> {
        let _upkeep = self.announced().await?;
        let run = self.agent.claim()?;
        self.flush_waiting(&run).await?;
        self.record_settings(&run).await?;
        Ok(run)
    }

    /// The session, announced, with nobody else working on it. Hooks are told before the lock is taken, so that one which
    /// goes on with the session from there does not wait for itself.
    async fn announced(&self) -> Result<MutexGuard<'_, ()>, AgentError> {
        drop(self.shared.upkeep.lock().await);
        loop {
            self.ensure_open()?;
            self.announce().await;
            let upkeep = self.shared.upkeep.lock().await;
            if self.shared.announced.load(Ordering::Acquire) {
                self.ensure_open()?;
                return Ok(upkeep);
            }
        }
    }

    /// Tells hooks what happened to the session: it moved to another branch, was compacted, or ended; the methods that do
    /// such things tell it themselves. Hooks that are told can add entries; a prompt from there would wait for itself.
    pub async fn tell(&self, event: SessionLifecycle) {
        self.agent.config().hooks.current().session_lifecycle(&self.id(), event).await;
    }

    /// Tells hooks that a step of a plan changed its status; steps count from 0. The context names the turn that the step is
    /// or was carried out in.
    pub async fn tell_plan_step(&self, step: u32, status: &PlanStepStatus) {
        let config = self.agent.config();
        let turns = self.agent.turns();
        let turn = match status {
            PlanStepStatus::Completed(_) | PlanStepStatus::Failed(_) => turns.saturating_sub(1),
            PlanStepStatus::Running | PlanStepStatus::Skipped => turns,
        };
        let model = config.model.info().full_name().into();
        let turn = TurnContext { session_id: self.id(), turn, round: 0, model };
        let context = HookContext::new(turn, CancellationToken::new());
        config.hooks.current().plan_step(&context, step, status).await;
    }

    /// Waits until observers have handled what they were told so far, at most `limit`. For a program that is about to
    /// end; nothing else waits for an observer.
    pub async fn flush_observers(&self, limit: Duration) {
        let observers = self.agent.config().observers;
        observers.flush(limit).await;
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
