//! The right to run, and what can be run with it.

use super::{AgentSink, Inner};
use crate::bundle::TurnResult;
use crate::config::{AgentContext, AgentLoopConfig};
use crate::emitter::Emitter;
use crate::ending::Outcome;
use crate::error::AgentError;
use crate::journal::Journal;
use crate::run::{Decision, Opening, Run};
use crate::transcript::deferred_calls;
use capstan_ports::{AssistantMessage, CompactionResult, CustomMessage, Message};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// Whether a run begins by polling the steering queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstPoll {
    Now,
    /// The first message was just taken from that queue and must be answered alone (000-106).
    Skipped,
}

/// The right to run. However it ends, also by a panic or a dropped future, the agent is idle afterwards.
///
/// Whoever holds it can do more than one thing before anybody else runs: a session writes down what waited for the end of
/// the run.
pub(crate) struct ActiveRun {
    pub(super) inner: Arc<Inner>,
    pub(super) cancel: CancellationToken,
}

impl ActiveRun {
    /// Fires when the run is aborted.
    pub(crate) fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Replaces the conversation. Why a run of the old one failed is forgotten with it.
    pub(crate) fn set_messages(&self, messages: Vec<Arc<Message>>) {
        let users = messages.iter().filter(|message| matches!(message.as_ref(), Message::User(_))).count();
        self.inner.turns.store(u32::try_from(users).unwrap_or(u32::MAX), Ordering::Relaxed);
        let mut state = self.inner.state();
        state.messages = messages;
        state.error_message = None;
    }

    /// See [`Agent::prompt`](super::Agent::prompt).
    pub(crate) async fn prompt(&self, messages: Vec<Message>) -> Result<Vec<Arc<Message>>, AgentError> {
        let prompts = messages.into_iter().map(Arc::new).collect();
        self.drive(Opening::Prompts(prompts), FirstPoll::Now).await
    }

    /// See [`Agent::submit_turn`](super::Agent::submit_turn).
    pub(crate) async fn submit_turn(&self, text: String) -> Result<AssistantMessage, AgentError> {
        let prompts = vec![Arc::new(Message::user(text))];
        let turn = self.drive_turn(Opening::Prompts(prompts), FirstPoll::Now, TurnResult::of).await?;
        match turn.message.as_ref() {
            // Always so: only an answer ends a turn well.
            Message::Assistant(answer) => Ok(answer.clone()),
            Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => Err(AgentError::Aborted),
        }
    }

    /// See [`Agent::append_custom`](super::Agent::append_custom).
    pub(crate) async fn append_custom(&self, message: CustomMessage) -> Result<(), AgentError> {
        let message = Arc::new(Message::Custom(message));
        let config = self.config();
        Journal::new(config.log).record(&message).await?;
        let sink = AgentSink { inner: &self.inner };
        let events = Emitter::new(&sink).observed_by(&config.observers);
        events.emit_message(&message).await;
        events.failure().map_or(Ok(()), |message| Err(AgentError::Listener { message }))
    }

    /// See [`Agent::continue_run`](super::Agent::continue_run).
    pub(crate) async fn continue_run(&self) -> Result<Vec<Arc<Message>>, AgentError> {
        match self.conversation()?.last().map(AsRef::as_ref) {
            None => Err(AgentError::ContinueWithoutMessages),
            Some(Message::Assistant(_)) => {
                let steering = self.inner.steering.drain();
                if !steering.is_empty() {
                    return self.drive(Opening::Prompts(steering), FirstPoll::Skipped).await;
                }
                let follow_ups = self.inner.follow_ups.drain();
                if follow_ups.is_empty() {
                    return Err(AgentError::ContinueFromAssistant);
                }
                self.drive(Opening::Prompts(follow_ups), FirstPoll::Now).await
            }
            Some(Message::User(_) | Message::ToolResult(_) | Message::Custom(_)) => {
                self.drive(Opening::Prompts(Vec::new()), FirstPoll::Now).await
            }
        }
    }

    /// Does what a person decided about a call that was put off.
    pub(crate) async fn decide(
        &self,
        call_id: &str,
        decision: Decision,
    ) -> Result<Vec<Arc<Message>>, AgentError> {
        let call_id = call_id.to_owned();
        if deferred_calls(&self.conversation()?).iter().all(|waiting| waiting.call.id != call_id) {
            return Err(AgentError::NotDeferred { call_id });
        }
        self.drive(Opening::Decided { call_id, decision }, FirstPoll::Now).await
    }

    /// What the run will begin with: where there is a log, that counts.
    fn conversation(&self) -> Result<Vec<Arc<Message>>, AgentError> {
        match self.config().log {
            Some(log) => Ok(log.context()?.messages),
            None => Ok(self.inner.state().messages.clone()),
        }
    }

    fn config(&self) -> AgentLoopConfig {
        self.inner.settings().config.clone()
    }

    /// Runs what was opened, or goes on from the conversation when there are no prompts.
    async fn drive(&self, opening: Opening, first_poll: FirstPoll) -> Result<Vec<Arc<Message>>, AgentError> {
        self.drive_turn(opening, first_poll, Outcome::into_added).await
    }

    /// As [`ActiveRun::drive`], with what `of` makes of the outcome.
    async fn drive_turn<T>(
        &self,
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
