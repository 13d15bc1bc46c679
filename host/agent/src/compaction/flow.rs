//! One compaction from the question whether it is needed to the event that says what came of it.

use crate::compaction::cut::{carried, safe_cut};
use crate::compaction::record::Shorter;
use crate::compaction::shorten::shortened;
use crate::compaction::summary::{Task, message_of, of_message};
use crate::compaction::threshold::{ThresholdCompressor, kept_tokens};
use crate::compaction::trim::trimmed;
use crate::error::AgentError;
use crate::run::Run;
use crate::transcript::is_complete;
use capstan_ports::entry::EntryKind;
use capstan_ports::{
    AgentEvent, CompactionReason, CompactionResult, CompressAction, CompressContext, CompressReason,
    HookStage, Message, ModelError, SessionId, SessionLifecycle, TurnEvent,
};
use futures::FutureExt;
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Said once, with the failure after which nothing is tried any more.
const PAUSED: &str = "Automatic compaction is paused, because it failed three times in a row; compact by hand to go on with it";

/// What came of an attempt.
enum Attempt {
    Done(CompactionResult),
    /// There was nothing that could be shortened.
    Nothing,
    Aborted,
    Refused {
        hook: String,
        reason: String,
    },
    Failed(ModelError),
}

impl Run<'_> {
    /// After a run. True when the conversation has grown too far, whatever came of it.
    pub(crate) async fn compact_after_run(&mut self) -> Result<bool, AgentError> {
        let (used, window) = (self.used_tokens(), self.window_tokens());
        let is_due = self.config.compaction.enabled && self.config.compaction.is_due(used, window);
        if is_due {
            self.compact_if_due().await?;
        }
        Ok(is_due)
    }

    /// Before a model call: shortens the conversation if it has grown too far. True when it did.
    pub(crate) async fn compact_if_due(&mut self) -> Result<bool, AgentError> {
        let control = self.config.compaction_control.clone();
        if !self.config.compaction.enabled || control.is_paused() || self.is_left_alone {
            return Ok(false);
        }
        let current = control.begin(self.cancel);
        let order = self.order(CompressReason::BeforeModel, None, &current.cancel).await;
        if order == CompressAction::None {
            return Ok(false);
        }
        let reason = CompactionReason::Threshold;
        let attempt = self.attempt(order, reason, CompressReason::BeforeModel, &current.cancel).await?;
        self.is_left_alone |= matches!(attempt, Attempt::Aborted | Attempt::Refused { .. });
        let done = matches!(attempt, Attempt::Done(_));
        self.report(reason, attempt, None).await;
        Ok(done)
    }

    /// The model refused the conversation as too long: shortens it in any case, if need be only for this run and without
    /// asking a model.
    pub(crate) async fn compact_after_refusal(&mut self) -> Result<bool, AgentError> {
        if !self.config.compaction.enabled {
            return Ok(false);
        }
        let control = self.config.compaction_control.clone();
        let current = control.begin(self.cancel);
        let (reason, why) = (CompactionReason::Overflow, CompressReason::Overflow);
        let order = match control.is_paused() || self.is_left_alone {
            true => CompressAction::None,
            false => self.order(why, None, &current.cancel).await,
        };
        let attempt = self.attempt(order, reason, why, &current.cancel).await?;
        let for_now = match &attempt {
            Attempt::Nothing | Attempt::Failed(_) => trimmed(&self.transcript, self.window_tokens()),
            Attempt::Done(_) | Attempt::Aborted | Attempt::Refused { .. } => None,
        };
        let retry = for_now.is_some() || matches!(attempt, Attempt::Done(_));
        if let Some(shorter) = for_now {
            self.replace(shorter);
            // What the session has was not shortened; an entry made of what is left here would pass over the rest.
            self.is_left_alone = self.config.log.is_some();
            let hooks = self.config.hooks.current();
            self.patiently(hooks.session_lifecycle(&self.session_id, SessionLifecycle::Compacted)).await;
        }
        self.report(reason, attempt, Some(retry)).await;
        Ok(retry)
    }

    /// A person asked for it.
    pub(crate) async fn compact_by_hand(
        &mut self,
        instructions: Option<String>,
    ) -> Result<CompactionResult, AgentError> {
        let control = self.config.compaction_control.clone();
        control.resume();
        if self.compacted > 0 && self.compacted == self.transcript.len() {
            return Err(AgentError::AlreadyCompacted);
        }
        let current = control.begin(self.cancel);
        let (reason, why) = (CompactionReason::Manual, CompressReason::Manual);
        let order = self.order(why, instructions, &current.cancel).await;
        if current.cancel.is_cancelled() {
            return Err(AgentError::CompactionCancelled);
        }
        if order == CompressAction::None {
            return Err(AgentError::NothingToCompact);
        }
        let attempt = self.attempt(order, reason, why, &current.cancel).await?;
        let (result, told) = match attempt {
            Attempt::Done(result) => (Ok(result.clone()), Attempt::Done(result)),
            Attempt::Nothing => (Err(AgentError::NothingToCompact), Attempt::Nothing),
            Attempt::Aborted => (Err(AgentError::CompactionCancelled), Attempt::Aborted),
            Attempt::Refused { hook, reason } => {
                let error = AgentError::CompactionRefused { hook: hook.clone(), reason: reason.clone() };
                (Err(error), Attempt::Refused { hook, reason })
            }
            Attempt::Failed(source) => {
                let told = ModelError::new(source.kind, source.message.clone());
                (Err(AgentError::Compaction(source)), Attempt::Failed(told))
            }
        };
        self.report(reason, told, None).await;
        if matches!(result, Err(AgentError::Compaction(_))) {
            // The person saw it fail, so it does not count towards what fails unseen.
            control.resume();
        }
        match self.events.failure() {
            Some(message) => Err(AgentError::Listener { message }),
            None => result,
        }
    }

    /// What is to be done: as the chosen compressor says, or the native one where none was chosen, where it failed, and
    /// where leaving everything is no answer.
    async fn order(
        &mut self,
        reason: CompressReason,
        instructions: Option<String>,
        cancel: &CancellationToken,
    ) -> CompressAction {
        let context = self.compress_context(reason, instructions);
        let chosen = self.config.compressor.clone().filter(|compressor| !compressor.is_left_out());
        if let Some(compressor) = chosen {
            let asked = AssertUnwindSafe(compressor.compress(&self.transcript, &context)).catch_unwind();
            let leaves = reason == CompressReason::BeforeModel;
            match cancel.run_until_cancelled(asked).await {
                None => return CompressAction::None,
                Some(Ok(Ok(CompressAction::None))) if leaves => {
                    return CompressAction::None;
                }
                Some(Ok(Ok(CompressAction::None))) => {}
                Some(Ok(Ok(action))) if is_usable(&action) => return action,
                Some(Ok(Ok(_unusable))) => tracing::warn!(
                    "the compressor's messages are refused: there are none, or a call lacks its result, or a result its call"
                ),
                Some(Ok(Err(error))) => tracing::warn!(%error, "the native compaction takes its place"),
                Some(Err(_payload)) => {
                    tracing::warn!("the compressor panicked; the native compaction takes its place");
                }
            }
        }
        let native = ThresholdCompressor::new(self.config.compaction);
        native.judge(&self.transcript, &context)
    }

    /// Does it, and tells that it begins. An error is one of the log or the store; its event is sent.
    async fn attempt(
        &mut self,
        order: CompressAction,
        reason: CompactionReason,
        why: CompressReason,
        cancel: &CancellationToken,
    ) -> Result<Attempt, AgentError> {
        self.events.emit(AgentEvent::CompactionStart { reason }).await;
        let hooks = self.config.hooks.current();
        if hooks.has(HookStage::SessionLifecycle) {
            let context = self.hook_context();
            match cancel.run_until_cancelled(hooks.before_compaction(&context, reason)).await {
                None => return Ok(Attempt::Aborted),
                Some(Some(objection)) => {
                    return Ok(Attempt::Refused { hook: objection.hook, reason: objection.reason });
                }
                Some(None) => {}
            }
        }
        let done = match order {
            _ if cancel.is_cancelled() => Ok(Attempt::Aborted),
            CompressAction::None => Ok(Attempt::Nothing),
            CompressAction::Replace(messages) => self.written_by_extension(messages).await,
            CompressAction::NewSession { messages, session_id } => self.moved(messages, session_id).await,
            CompressAction::Summarize { first_kept, instructions } => {
                self.summarized(first_kept, &instructions, why, cancel).await
            }
        };
        if let Err(error) = &done {
            self.tell_end(reason, None, Some(error.to_string()), false, false).await;
        }
        done
    }

    async fn written_by_extension(&mut self, messages: Vec<Arc<Message>>) -> Result<Attempt, AgentError> {
        let shorter = Shorter { messages, summary: None, details: None, by_extension: true };
        Ok(self.adopt(shorter).await?.map_or(Attempt::Nothing, Attempt::Done))
    }

    /// Goes on in a new session of the store. A log is one session and stays it, and so does a conversation in memory.
    async fn moved(
        &mut self,
        messages: Vec<Arc<Message>>,
        session_id: Option<SessionId>,
    ) -> Result<Attempt, AgentError> {
        let from = self.session_id.clone();
        let messages_before = self.transcript.len();
        if let Some(to) = self.journal.redirect(session_id, &messages).await? {
            self.session_id = to.clone();
            let messages_after = messages.len();
            let event = || TurnEvent::SessionRedirect { from, to, messages_before, messages_after };
            self.config.observers.tell(event);
        } else {
            tracing::info!("this session stays in one log; the compressor's messages take its place there");
        }
        self.written_by_extension(messages).await
    }

    /// Has what is before `first_kept` summarized, and cuts results that are too large to be kept.
    async fn summarized(
        &mut self,
        first_kept: usize,
        instructions: &str,
        why: CompressReason,
        cancel: &CancellationToken,
    ) -> Result<Attempt, AgentError> {
        let messages = self.transcript.clone();
        let (cut, carried) = (safe_cut(&messages, first_kept), carried(&messages));
        let keep = kept_tokens(self.config.compaction, &self.compress_context(why, None));
        let kept = shortened(&messages[cut..], keep);
        let shorter = if cut <= carried {
            let messages = messages[..cut].iter().cloned().chain(kept).collect();
            Shorter { messages, summary: None, details: None, by_extension: false }
        } else {
            let window_tokens = self.window_tokens();
            let task = Task {
                config: self.config,
                cancel,
                settings: self.config.compaction.for_window(window_tokens),
                window_tokens,
                messages: &messages,
                cut,
                instructions,
                details: self.noted_before()?,
            };
            let summary = match task.summary().await {
                _ if cancel.is_cancelled() => return Ok(Attempt::Aborted),
                Ok(summary) => summary,
                Err(error) => return Ok(Attempt::Failed(error)),
            };
            let messages = std::iter::once(message_of(&summary.text)).chain(kept).collect();
            let (summary, details) = (Some(summary.text), Some(summary.details));
            Shorter { messages, summary, details, by_extension: false }
        };
        // Nobody may share the transcript when the next answer is added to it.
        drop(messages);
        Ok(self.adopt(shorter).await?.map_or(Attempt::Nothing, Attempt::Done))
    }

    /// What the host noted with the session's latest compaction. What an extension noted is its own affair.
    fn noted_before(&self) -> Result<Option<Value>, AgentError> {
        let Some(log) = &self.config.log else { return Ok(None) };
        let latest = log.path(None)?.into_iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::Compaction(compaction) => Some(compaction.clone()),
            _ => None,
        });
        Ok(latest.filter(|compaction| compaction.from_hook != Some(true)).and_then(|latest| latest.details))
    }

    /// Tells what came of an attempt, and counts failures. `retried` says for a refusal whether the request is made again.
    async fn report(&mut self, reason: CompactionReason, attempt: Attempt, retried: Option<bool>) {
        let control = self.config.compaction_control.clone();
        let for_now = match retried {
            Some(true) => "; for this run old results and the oldest turns are left out",
            Some(false) | None => "",
        };
        let retry = retried.unwrap_or(false);
        let (result, aborted, why) = match attempt {
            Attempt::Done(result) => {
                control.resume();
                (Some(result), false, None)
            }
            Attempt::Nothing => {
                (None, false, Some(format!("there is nothing that could be summarized{for_now}")))
            }
            Attempt::Aborted => (None, true, None),
            Attempt::Refused { hook, reason } => (None, true, Some(format!("{hook} objected: {reason}"))),
            Attempt::Failed(error) => {
                tracing::warn!(%error, "the conversation could not be summarized");
                let paused = if control.failed() { format!(". {PAUSED}") } else { String::new() };
                let text = format!("the conversation could not be summarized: {error}{for_now}{paused}");
                (None, false, Some(text))
            }
        };
        self.tell_end(reason, result, why, aborted, retry).await;
    }

    async fn tell_end(
        &self,
        reason: CompactionReason,
        result: Option<CompactionResult>,
        error_message: Option<String>,
        aborted: bool,
        will_retry: bool,
    ) {
        let end = AgentEvent::CompactionEnd { reason, result, aborted, will_retry, error_message };
        self.events.emit(end).await;
    }

    fn compress_context(&mut self, reason: CompressReason, instructions: Option<String>) -> CompressContext {
        let answer = self.config.model.info().max_output_tokens;
        CompressContext {
            session_id: self.session_id.clone(),
            window_tokens: self.window_tokens(),
            used_tokens: self.used_tokens(),
            reserve_tokens: self.config.compaction.reserve_tokens.min(answer),
            instructions,
            reason,
        }
    }

    /// Tokens of the conversation, as far as they are known.
    pub(crate) fn used_tokens(&mut self) -> u32 {
        self.tally.count(&self.transcript, self.compacted)
    }

    pub(crate) fn window_tokens(&self) -> u32 {
        self.config.context_window.unwrap_or(self.config.model.info().context_window)
    }
}

/// How many leading messages of a stored conversation an earlier compaction left. A store keeps no entries that would say
/// so; but the answers among them are older than the summary that stands before them.
pub(crate) fn compacted_before(messages: &[Arc<Message>]) -> usize {
    let Some(Message::User(summary)) =
        messages.first().map(AsRef::as_ref).filter(|first| of_message(first).is_some())
    else {
        return 0;
    };
    let is_older = |message: &Arc<Message>| match message.as_ref() {
        Message::Assistant(answer) => answer.timestamp <= summary.timestamp,
        Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => false,
    };
    messages.iter().rposition(is_older).map_or(1, |at| at + 1)
}

/// Whether a provider would accept the messages of an action: there are some, and each call has its result and each result its call
/// (P18). Nothing else is carried out.
pub fn is_usable(action: &CompressAction) -> bool {
    match action {
        CompressAction::Replace(messages) | CompressAction::NewSession { messages, .. } => {
            !messages.is_empty() && is_complete(messages)
        }
        CompressAction::None | CompressAction::Summarize { .. } => true,
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
