//! One answer of the model within a round: shortened, hooked, asked, asked again if that can help, and on record before
//! anybody acts on it.

use crate::answer::{Received, receive};
use crate::error::AgentError;
use crate::request;
use crate::result::ABORTED;
use crate::retry::RetryEvent;
use crate::run::Run;
use capstan_ports::{
    AgentEvent, AssistantMessage, Content, Failure, FailureKind, HookStage, Message, ModelError,
    ModelErrorKind, ModelRequest, StopReason, TurnEvent, Usage,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Said after the provider's own words when the conversation was shortened once and still does not fit.
const STILL_TOO_LONG: &str = "The conversation was shortened once and still does not fit. Start a new session, ask for \
                              less at a time, or use a model with a larger window.";

/// Said instead when nothing could be done about it.
const NOT_SHORTENED: &str = "The conversation could not be shortened. Start a new session, ask for less at a time, or use \
                             a model with a larger window.";

/// Said instead when nothing was to be done about it.
const SWITCHED_OFF: &str = "Automatic compaction is off. Compact the conversation by hand, start a new session, or use a \
                             model with a larger window.";

/// What to do about a request that failed.
enum Remedy {
    Wait(Duration),
    Shortened,
    None,
}

impl Run<'_> {
    /// Asks the model, again if that can help, and records the answer before anybody acts on it.
    pub(crate) async fn answer(&mut self) -> Result<Arc<Message>, AgentError> {
        let (mut attempt, mut request) = (0, None);
        loop {
            let mut received = match self.ask(&mut request).await {
                Ok(received) => received,
                Err(error) => return self.fail(error).await,
            };
            let delay = match self.remedy(&received, attempt).await {
                Ok(Remedy::Wait(delay)) => delay,
                Ok(Remedy::Shortened) => {
                    // The request is made of another conversation now.
                    request = None;
                    self.close_attempt(received).await?;
                    continue;
                }
                Ok(Remedy::None) => {
                    // Nobody may share the transcript when the answer is added to it.
                    request = None;
                    drop(request);
                    self.report_retry_end(attempt, &received);
                    return match self.accept(&mut received).await {
                        Ok(()) => self.keep(received).await,
                        Err(error) => {
                            let discarded = self.keep(received).await?;
                            self.end_round(&discarded, Vec::new()).await;
                            Err(error)
                        }
                    };
                }
                Err(error) => {
                    let broken = self.keep(received).await?;
                    self.end_round(&broken, Vec::new()).await;
                    return Err(error);
                }
            };
            attempt += 1;
            let config = self.config;
            let stopped = config.retry_stop.stopped();
            self.report_retry_start(attempt, delay, &received).await;
            // A half answer that was shown is closed as a round of its own. One that was not shown leaves no trace.
            let shown = received.shown;
            let given_up = received.given_up();
            if shown {
                let broken = self.keep(received).await?;
                self.end_round(&broken, Vec::new()).await;
            }
            let wait = async {
                tokio::select! {
                    () = stopped => false,
                    () = config.sleeper.sleep(delay) => true,
                }
            };
            let waited = self.cancel.run_until_cancelled(wait).await;
            if shown {
                self.events.emit(AgentEvent::TurnStart).await;
            }
            let mut ended = match waited {
                Some(true) => continue,
                Some(false) => given_up,
                None => Received::aborted(self.config.model.as_ref()),
            };
            self.report_retry_end(attempt, &ended);
            let accepted = self.accept(&mut ended).await;
            let kept = self.keep(ended).await?;
            return accepted.map(|()| kept);
        }
    }

    /// One request. `request` keeps it for another attempt, which then sends the very same.
    async fn ask(&mut self, request: &mut Option<ModelRequest>) -> Result<Received, AgentError> {
        if let Some(message) = self.events.failure() {
            return Err(AgentError::Listener { message });
        }
        self.journal.commit().await?;
        let cancel = self.cancel;
        let ready = match request.take() {
            Some(ready) => ready,
            None => {
                // It sees to an abort itself and must not be dropped: an entry may be half written by then, and whoever was
                // told that it began is told how it ended.
                self.compact_if_due().await?;
                match cancel.run_until_cancelled(self.prepare()).await {
                    Some(prepared) => prepared?,
                    None => return Ok(Received::aborted(self.config.model.as_ref())),
                }
            }
        };
        // Kept only where a retry is possible: a second holder would make the loop copy its transcript.
        if self.config.retry.max_retries > 0 {
            *request = Some(ready.clone());
        }
        Ok(receive(self.config.model.as_ref(), ready, &self.events, cancel).await)
    }

    /// Repair, hooks, and last the form that models know.
    async fn prepare(&mut self) -> Result<ModelRequest, AgentError> {
        let mut request = request::build(self).await?;
        let hooks = self.config.hooks.current();
        if hooks.has(HookStage::BeforeModel) {
            let context = self.hook_context();
            if let Some(rewritten) = hooks.before_model(&context, &request.messages).await? {
                request.messages = rewritten.into();
            }
        }
        request.messages = request::for_model(request.messages, &self.transcript, &mut self.plain);
        Ok(request)
    }

    async fn remedy(&mut self, received: &Received, attempt: u32) -> Result<Remedy, AgentError> {
        let Some(error) = &received.failure else { return Ok(Remedy::None) };
        if error.kind == ModelErrorKind::ContextOverflow && self.shortened.is_none() {
            // Set before, so that whatever comes of it is not tried twice.
            self.shortened = Some(false);
            let shortened = self.compact_after_refusal().await?;
            self.shortened = Some(shortened);
            return Ok(if shortened { Remedy::Shortened } else { Remedy::None });
        }
        let delay = self.config.retry.delay(attempt + 1, error, (self.config.random)());
        Ok(delay.map_or(Remedy::None, Remedy::Wait))
    }

    /// Closes an attempt that is made anew at once.
    async fn close_attempt(&mut self, received: Received) -> Result<(), AgentError> {
        if received.shown {
            let broken = self.keep(received).await?;
            self.end_round(&broken, Vec::new()).await;
            self.events.emit(AgentEvent::TurnStart).await;
        }
        Ok(())
    }

    /// What happens with an answer before it is stored; for a failed one, telling of it.
    async fn accept(&mut self, received: &mut Received) -> Result<(), AgentError> {
        let hooks = self.config.hooks.current();
        let cancel = self.cancel;
        let answer = &mut received.message;
        if answer.usage.cost.total == 0.0
            && answer.usage != Usage::default()
            && let Some(price) = self.config.prices.price(self.config.model.info())
        {
            answer.usage.cost = price.cost(&answer.usage);
        }
        if let Some(error) = received.failure.take() {
            if error.kind == ModelErrorKind::ContextOverflow {
                let advice = match self.shortened {
                    Some(true) => STILL_TOO_LONG,
                    _ if self.config.compaction.enabled => NOT_SHORTENED,
                    _ => SWITCHED_OFF,
                };
                answer.error_message = Some(format!("{error}. {advice}"));
            }
            self.tell_of_failure(error, answer.error_message.as_deref()).await;
            return Ok(());
        }
        match answer.stop_reason {
            StopReason::Aborted => return Ok(()),
            StopReason::Error => {
                // The provider handed the failure out as an answer (000-153).
                let text = answer.error_message.clone().unwrap_or_default();
                let error = ModelError::new(ModelErrorKind::Protocol, text);
                self.tell_of_failure(error, None).await;
                return Ok(());
            }
            StopReason::Stop | StopReason::Length | StopReason::ToolUse => {}
        }
        self.shortened = None;
        make_ids_unique(answer);
        self.config.observers.tell(|| TurnEvent::response(answer.clone()));
        if !hooks.has(HookStage::AfterModel) {
            return Ok(());
        }
        let context = self.hook_context();
        let judged = cancel.run_until_cancelled(hooks.after_model(&context, answer)).await;
        make_ids_unique(answer);
        match judged {
            Some(Ok(())) => {
                if answer.stop_reason == StopReason::ToolUse && answer.tool_calls().next().is_none() {
                    answer.stop_reason = StopReason::Stop;
                }
                Ok(())
            }
            Some(Err(abort)) => {
                // Discarded means that nothing of it is kept.
                answer.content.clear();
                answer.stop_reason = StopReason::Error;
                answer.error_message = Some(abort.reason.clone());
                Err(abort.into())
            }
            None => {
                // What the hooks would have taken out is not known, so nothing is kept.
                answer.content.clear();
                answer.stop_reason = StopReason::Aborted;
                answer.error_message = Some(ABORTED.to_owned());
                Ok(())
            }
        }
    }

    async fn tell_of_failure(&mut self, error: ModelError, message: Option<&str>) {
        let failure = Failure::new(FailureKind::Model, message.unwrap_or(&error.message));
        self.model_failure = Some(error);
        let hooks = self.config.hooks.current();
        if hooks.has(HookStage::ModelError) {
            let context = self.hook_context();
            self.patiently(hooks.model_error(&context, &failure)).await;
        }
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
        self.add(message.clone());
        self.events.emit(AgentEvent::MessageEnd { message: message.clone() }).await;
        match recorded {
            Ok(()) => Ok(message),
            Err(error) => {
                self.end_round(&message, Vec::new()).await;
                Err(error.into())
            }
        }
    }

    async fn report_retry_start(&self, attempt: u32, delay: Duration, received: &Received) {
        let hooks = self.config.hooks.current();
        if hooks.has(HookStage::ModelError) {
            let context = self.hook_context();
            let message = received.message.error_message.as_deref().unwrap_or_default();
            let failure = Failure::new(FailureKind::Model, message);
            self.patiently(hooks.retrying(&context, attempt, delay, &failure)).await;
        }
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

/// Gives calls without an id, or with that of a call before them in the same answer, an id of their own (P13): results
/// are matched by id, and providers refuse an answer with two equal ones.
fn make_ids_unique(answer: &mut AssistantMessage) {
    // One call is the usual case and needs no look at others.
    if answer.tool_calls().nth(1).is_none() && answer.tool_calls().all(|call| !call.id.is_empty()) {
        return;
    }
    let mut seen = HashSet::new();
    for piece in &mut answer.content {
        let Content::ToolCall(call) = piece else { continue };
        if call.id.is_empty() {
            call.id = "call".to_owned();
        }
        if !seen.insert(call.id.clone()) {
            let stem = call.id.clone();
            let mut number = 2_usize;
            while !seen.insert(format!("{stem}_{number}")) {
                number += 1;
            }
            call.id = format!("{stem}_{number}");
        }
    }
}

#[cfg(test)]
#[path = "asking_tests.rs"]
mod tests;
