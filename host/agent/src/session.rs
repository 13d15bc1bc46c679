//! An agent bound to a session log: what it hears and says is on record before anything follows from it.

use crate::agent::Agent;
use crate::config::AgentLoopConfig;
use crate::error::AgentError;
use crate::transcript::DeferredCall;
use capstan_ports::{AssistantMessage, CustomMessage, Message, SessionId, SessionLifecycle, SessionLog};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An agent whose conversation lives in a [`SessionLog`].
///
/// The loop itself writes: a prompt is durable before the first request, an answer before any of its tools runs, and
/// each tool result as soon as it is finished. Event listeners play no part in that, however slow they are (X7).
#[derive(Clone)]
pub struct AgentSession {
    agent: Agent,
    log: Arc<dyn SessionLog>,
    /// Whether hooks know that the session began.
    announced: Arc<AtomicBool>,
    began: SessionLifecycle,
}

impl AgentSession {
    /// Takes up the conversation in `log`, which may be empty. `config` gets the log and its id.
    ///
    /// # Errors
    /// [`AgentError::Session`] when the log cannot be read.
    pub fn open(mut config: AgentLoopConfig, log: Arc<dyn SessionLog>) -> Result<Self, AgentError> {
        let messages = log.messages()?;
        config.log = Some(log.clone());
        config.session_id = Some(log.id().clone());
        let agent = Agent::with_config(config);
        let began = if messages.is_empty() { SessionLifecycle::Start } else { SessionLifecycle::Resume };
        agent.set_messages(messages)?;
        Ok(Self { agent, log, announced: Arc::default(), began })
    }

    /// Which session.
    pub fn id(&self) -> &SessionId {
        self.log.id()
    }

    /// The agent, for queues, subscriptions and settings. Its conversation is a copy of the log's; replacing it does
    /// not change the log.
    pub fn agent(&self) -> &Agent {
        &self.agent
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
        self.announce().await;
        self.agent.prompt(messages).await
    }

    /// Runs one turn and returns its final answer; see [`Agent::submit_turn`].
    ///
    /// # Errors
    /// Those of [`Agent::submit_turn`].
    pub async fn submit_turn(&self, text: impl Into<String>) -> Result<AssistantMessage, AgentError> {
        self.announce().await;
        self.agent.submit_turn(text).await
    }

    /// Adds a message of an extension, or of the program around the agent, to the conversation and its record without
    /// asking the model; see [`Agent::append_custom`].
    ///
    /// # Errors
    /// Those of [`Agent::append_custom`].
    pub async fn append_custom(&self, message: CustomMessage) -> Result<(), AgentError> {
        self.announce().await;
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
        self.announce().await;
        self.agent.approve(call_id).await
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
        self.announce().await;
        self.agent.deny(call_id, reason).await
    }

    /// Tells hooks that the session began, once; the first prompt does it by itself.
    pub async fn announce(&self) {
        if !self.announced.swap(true, Ordering::Relaxed) {
            self.tell(self.began).await;
        }
    }

    /// Tells hooks what happened to the session: it moved to another branch, was compacted, or ended.
    pub async fn tell(&self, event: SessionLifecycle) {
        self.agent.config().hooks.current().session_lifecycle(self.id(), event).await;
    }

    /// Waits until observers have handled what they were told so far, at most `limit`. For a program that is about to
    /// end; nothing else waits for an observer.
    pub async fn flush_observers(&self, limit: Duration) {
        let observers = self.agent.config().observers;
        observers.flush(limit).await;
    }

    /// Reads the conversation anew, after the log moved to another branch or was compacted.
    ///
    /// # Errors
    /// [`AgentError::AlreadyRunning`] during a run (X8), [`AgentError::Session`] when the log cannot be read.
    pub fn reload(&self) -> Result<(), AgentError> {
        self.agent.set_messages(self.log.messages()?)
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
