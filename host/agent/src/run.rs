//! The loop: rounds of one model call and the tool calls it asked for, until nothing is left to do.
//!
//! The order of events is that of the traces T1 to T7, which the tests spell out. Whatever goes wrong, every start has
//! its end, `AgentEnd` comes last and exactly once, and the transcript stays acceptable to a provider.

use crate::answer::{Received, receive};
use crate::config::{AgentContext, AgentLoopConfig};
use crate::emitter::Emitter;
use crate::error::AgentError;
use crate::execute::{Batch, BatchEnd};
use crate::journal::Journal;
use crate::request;
use crate::retry::RetryEvent;
use capstan_ports::message::now_ms;
use capstan_ports::{
    AgentEvent, AssistantMessage, EventSink, Message, SessionId, StopReason, ToolCall, TurnContext,
};
use std::sync::Arc;
use std::time::Duration;
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
    Run::new(context, config, sink, cancel).run(prompts).await
}

/// Goes on from the context without a new prompt; the returned list holds only what is new.
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
    match context.messages.last().map(|message| message.as_ref()) {
        None => Err(AgentError::ContinueWithoutMessages),
        Some(Message::Assistant(_)) => Err(AgentError::ContinueFromAssistant),
        Some(Message::User(_) | Message::ToolResult(_)) => {
            Run::new(context, config, sink, cancel).run(Vec::new()).await
        }
    }
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

struct Run<'a> {
    context: &'a AgentContext,
    config: &'a AgentLoopConfig,
    events: Emitter<'a>,
    cancel: &'a CancellationToken,
    journal: Journal,
    /// The context's messages and what was added.
    transcript: Vec<Arc<Message>>,
    session_id: SessionId,
    model_name: Arc<str>,
    round: u32,
    tool_rounds: u32,
}

impl<'a> Run<'a> {
    fn new(
        context: &'a AgentContext,
        config: &'a AgentLoopConfig,
        sink: &'a dyn EventSink,
        cancel: &'a CancellationToken,
    ) -> Self {
        Self {
            context,
            config,
            events: Emitter::new(sink),
            cancel,
            journal: Journal::new(config.log.clone()),
            transcript: context.messages.clone(),
            session_id: config.session().unwrap_or_else(|| SessionId::new("in-memory")),
            model_name: config.model.info().full_name().into(),
            round: 0,
            tool_rounds: 0,
        }
    }

    async fn run(mut self, prompts: Vec<Arc<Message>>) -> Result<Vec<Arc<Message>>, AgentError> {
        self.events.emit(AgentEvent::AgentStart).await;
        let ended = self.rounds(prompts).await;
        let added = self.transcript.split_off(self.context.messages.len());
        self.events.emit(AgentEvent::AgentEnd { messages: added.clone() }).await;
        ended.map(|()| added)
    }

    async fn rounds(&mut self, prompts: Vec<Arc<Message>>) -> Result<(), AgentError> {
        self.events.emit(AgentEvent::TurnStart).await;
        if let Err(error) = self.admit(prompts).await {
            return self.fail(error).await;
        }
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
                self.end_turn(&answer, Vec::new()).await;
                return Ok(Next::Over);
            }
            StopReason::Stop | StopReason::Length | StopReason::ToolUse => said.tool_calls().collect(),
        };
        if calls.is_empty() {
            self.end_turn(&answer, Vec::new()).await;
            return Ok(Next::Rest);
        }
        let exceeded = self.config.limits.max_tool_rounds.filter(|limit| self.tool_rounds >= *limit);
        let refusal = self.refusal(said.stop_reason, exceeded);
        self.tool_rounds += 1;
        let turn = self.turn_context();
        let tools = self.context.tools.snapshot();
        let batch = Batch::new(self.config, &self.events, &mut self.journal, tools, turn, self.cancel)
            .execute(calls, refusal)
            .await;
        self.transcript.extend_from_slice(&batch.results);
        self.end_turn(&answer, batch.results).await;
        if let Some(limit) = exceeded {
            return Err(AgentError::ToolLoopExceeded { limit });
        }
        match batch.end {
            BatchEnd::Continue => Ok(Next::Ask),
            BatchEnd::Terminate => Ok(Next::Rest),
            BatchEnd::Deferred => Ok(Next::Over),
            BatchEnd::Aborted(abort) => {
                Err(AgentError::HookAborted { hook: abort.hook, reason: abort.reason })
            }
            BatchEnd::Unrecorded(error) => Err(error.into()),
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

    /// Asks the model, again if that can help, and records the answer before anybody acts on it.
    async fn answer(&mut self) -> Result<Arc<Message>, AgentError> {
        let mut attempt = 0;
        loop {
            let received = match self.ask().await {
                Ok(received) => received,
                Err(error) => return self.fail(error).await,
            };
            let again =
                received.failure.as_ref().and_then(|error| self.config.retry.delay(attempt + 1, error));
            let Some(delay) = again else {
                self.report_retry_end(attempt, &received);
                return self.keep(received).await;
            };
            attempt += 1;
            self.report_retry_start(attempt, delay, &received);
            // A half answer that was shown is closed as a round of its own. One that was not shown leaves no trace.
            let shown = received.shown;
            if shown {
                let broken = self.keep(received).await?;
                self.end_turn(&broken, Vec::new()).await;
            }
            let waited = tokio::select! {
                biased;
                () = self.cancel.cancelled() => false,
                () = self.config.sleeper.sleep(delay) => true,
            };
            if shown {
                self.events.emit(AgentEvent::TurnStart).await;
            }
            if !waited {
                let aborted = Received::aborted(self.config.model.as_ref());
                self.report_retry_end(attempt, &aborted);
                return self.keep(aborted).await;
            }
        }
    }

    /// One request.
    async fn ask(&mut self) -> Result<Received, AgentError> {
        if let Some(message) = self.events.failure() {
            return Err(AgentError::Listener { message });
        }
        self.journal.commit().await?;
        let model = self.config.model.as_ref();
        let tools = self.context.tools.snapshot();
        let request = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Ok(Received::aborted(model)),
            request = request::build(&self.transcript, &tools, self.context, self.config) => request?,
        };
        Ok(receive(model, request, &self.events, self.cancel).await)
    }

    /// Makes an answer durable and part of the transcript. One that could not be recorded becomes a failed answer,
    /// because tools must not run for a call that is not on record.
    async fn keep(&mut self, received: Received) -> Result<Arc<Message>, AgentError> {
        let Received { message, shown, failure: _ } = received;
        let mut message = Arc::new(Message::Assistant(message));
        if !shown {
            self.events.emit(AgentEvent::MessageStart { message: message.clone() }).await;
        }
        let recorded = self.journal.record(&message).await;
        if let (Err(error), Message::Assistant(said)) = (&recorded, message.as_ref()) {
            message = Arc::new(Message::Assistant(AssistantMessage {
                stop_reason: StopReason::Error,
                error_message: Some(error.to_string()),
                ..said.clone()
            }));
        }
        self.transcript.push(message.clone());
        self.events.emit(AgentEvent::MessageEnd { message: message.clone() }).await;
        match recorded {
            Ok(()) => Ok(message),
            Err(error) => {
                self.end_turn(&message, Vec::new()).await;
                Err(error.into())
            }
        }
    }

    /// Takes messages into the conversation. They are durable before the next request.
    async fn admit(&mut self, messages: Vec<Arc<Message>>) -> Result<(), AgentError> {
        for message in messages {
            self.events.emit(AgentEvent::MessageStart { message: message.clone() }).await;
            let appended = self.journal.append(&message).await;
            self.transcript.push(message.clone());
            self.events.emit(AgentEvent::MessageEnd { message }).await;
            appended?;
        }
        Ok(())
    }

    /// Ends the run at a point where the round has no answer yet: the reason takes its place (X3).
    async fn fail<T>(&mut self, error: AgentError) -> Result<T, AgentError> {
        let info = self.config.model.info();
        let message = Arc::new(Message::Assistant(AssistantMessage {
            api: info.api.clone(),
            provider: info.provider.clone(),
            model: info.id.clone(),
            stop_reason: StopReason::Error,
            error_message: Some(error.to_string()),
            timestamp: now_ms(),
            ..AssistantMessage::default()
        }));
        let is_log_broken = matches!(error, AgentError::Session(_));
        if !is_log_broken && let Err(second) = self.journal.record(&message).await {
            tracing::error!(error = %second, "the failure of a run could not be recorded");
        }
        self.transcript.push(message.clone());
        self.events.emit_message(&message).await;
        self.end_turn(&message, Vec::new()).await;
        Err(error)
    }

    async fn end_turn(&self, answer: &Arc<Message>, tool_results: Vec<Arc<Message>>) {
        self.events.emit(AgentEvent::TurnEnd { message: answer.clone(), tool_results }).await;
    }

    fn turn_context(&self) -> TurnContext {
        TurnContext {
            session_id: self.session_id.clone(),
            turn: self.config.turn,
            round: self.round,
            model: self.model_name.clone(),
        }
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

    fn report_retry_start(&self, attempt: u32, delay: Duration, received: &Received) {
        if let Some(observe) = &self.config.on_retry {
            observe(RetryEvent::AutoRetryStart {
                attempt,
                max_attempts: self.config.retry.max_retries,
                delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                error_message: received.message.error_message.clone().unwrap_or_default(),
            });
        }
    }

    fn report_retry_end(&self, attempt: u32, received: &Received) {
        if let Some(observe) = self.config.on_retry.as_ref().filter(|_| attempt > 0) {
            let final_error = received.message.error_message.clone();
            observe(RetryEvent::AutoRetryEnd { success: final_error.is_none(), attempt, final_error });
        }
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "run_ending_tests.rs"]
mod ending_tests;
