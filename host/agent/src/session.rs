//! An agent bound to a session: what it hears and says is on record before anything follows from it.
//!
//! The agent's own list of messages is what was said; what the model is told comes from the session for each run, with
//! summaries for what was compacted and with what extensions and shell commands added.

mod compacting;
mod keeping;

use crate::agent::Agent;
use crate::config::AgentLoopConfig;
use crate::error::AgentError;
use crate::transcript::DeferredCall;
use capstan_ports::entry::EntryKind;
use capstan_ports::{AssistantMessage, CustomMessage, Message, SessionId, SessionLifecycle, SessionLog};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::Mutex;

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
    /// Whether hooks know that the session began, and how they will be told.
    announced: AtomicBool,
    is_new: AtomicBool,
    /// Held while the session itself is changed: compacted, moved to another branch, exchanged. Prompts that come
    /// meanwhile wait for it and lose nothing (001-155).
    upkeep: Mutex<()>,
    /// What came during a run and would stand between a call and its result.
    waiting: Mutex<Vec<EntryKind>>,
}

impl AgentSession {
    /// Takes up the conversation in `log`, which may be empty. `config` gets the log and its id.
    ///
    /// # Errors
    /// [`AgentError::Session`] when the log cannot be read.
    pub fn open(mut config: AgentLoopConfig, log: Arc<dyn SessionLog>) -> Result<Self, AgentError> {
        let messages = log.transcript()?;
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
    /// not change the session.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Goes on with another session in the place of this one: a new one, another file, a fork. Hooks are told that the
    /// old one ended and the new one began. Queued messages stay queued.
    ///
    /// # Errors
    /// [`AgentError::AlreadyRunning`] during a run, [`AgentError::Session`] when the log cannot be read; then nothing
    /// changes.
    pub async fn switch(&self, log: Arc<dyn SessionLog>) -> Result<(), AgentError> {
        let _upkeep = self.shared.upkeep.lock().await;
        let messages = log.transcript()?;
        self.flush_waiting().await?;
        let run = self.agent.claim()?;
        if self.shared.announced.swap(false, Ordering::Relaxed) {
            self.tell(SessionLifecycle::End).await;
        }
        self.shared.is_new.store(messages.is_empty(), Ordering::Relaxed);
        *self.shared.log.write().unwrap_or_else(PoisonError::into_inner) = log.clone();
        self.agent.configure(|config| {
            config.session_id = Some(log.id().clone());
            config.log = Some(log);
            config.compaction_control = Arc::default();
        });
        run.set_messages(messages);
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
        self.ready().await?;
        let ran = self.agent.prompt(messages).await;
        self.after(ran).await
    }

    /// Runs one turn and returns its final answer; see [`Agent::submit_turn`].
    ///
    /// # Errors
    /// Those of [`Agent::submit_turn`].
    pub async fn submit_turn(&self, text: impl Into<String>) -> Result<AssistantMessage, AgentError> {
        self.ready().await?;
        let ran = self.agent.submit_turn(text).await;
        self.flush_waiting().await?;
        let answer = ran?;
        self.settle(&[Arc::new(Message::Assistant(answer.clone()))]).await?;
        Ok(answer)
    }

    /// Adds a message of an extension, or of the program around the agent, to the conversation and its record without
    /// asking the model; see [`Agent::append_custom`].
    ///
    /// # Errors
    /// Those of [`Agent::append_custom`].
    pub async fn append_custom(&self, message: CustomMessage) -> Result<(), AgentError> {
        self.ready().await?;
        self.agent.append_custom(message).await
    }

    /// Calls that a gate put off and that wait for a person.
    pub fn deferred(&self) -> Vec<DeferredCall> {
        self.agent.deferred()
    }

    /// Executes a call that was put off; see [`Agent::approve`].
    ///
    /// # Errors
    /// Those of [`Agent::approve`].
    pub async fn approve(&self, call_id: &str) -> Result<Vec<Arc<Message>>, AgentError> {
        self.ready().await?;
        let ran = self.agent.approve(call_id).await;
        self.after(ran).await
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
        self.ready().await?;
        let ran = self.agent.deny(call_id, reason).await;
        self.after(ran).await
    }

    /// Goes on without a new prompt; see [`Agent::continue_run`].
    ///
    /// # Errors
    /// Those of [`Agent::continue_run`].
    pub async fn continue_run(&self) -> Result<Vec<Arc<Message>>, AgentError> {
        self.ready().await?;
        let ran = self.agent.continue_run().await;
        self.after(ran).await
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
        if !self.shared.announced.swap(true, Ordering::Relaxed) {
            let is_new = self.shared.is_new.load(Ordering::Relaxed);
            self.tell(if is_new { SessionLifecycle::Start } else { SessionLifecycle::Resume }).await;
        }
    }

    /// Waits until nobody works on the session itself, and sees to what every run begins with.
    async fn ready(&self) -> Result<(), AgentError> {
        drop(self.shared.upkeep.lock().await);
        self.flush_waiting().await?;
        self.announce().await;
        // Somebody may have begun meanwhile.
        drop(self.shared.upkeep.lock().await);
        Ok(())
    }

    /// Tells hooks what happened to the session: it moved to another branch, was compacted, or ended.
    pub async fn tell(&self, event: SessionLifecycle) {
        self.agent.config().hooks.current().session_lifecycle(&self.id(), event).await;
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
