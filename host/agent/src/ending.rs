//! The end of a turn: saved, reported, and told to the hooks, once and in any case.

use crate::error::AgentError;
use crate::hooks::HookChain;
use crate::observers::Observers;
use crate::run::Run;
use capstan_ports::{Failure, FailureKind, HookStage, Message, ModelError, SessionId, StopReason, TurnEvent};
use std::sync::Arc;
use std::time::Duration;

/// How long the hooks of an aborted turn may take to be told. With the tools' own grace it stays within a second.
const PATIENCE_AFTER_ABORT: Duration = Duration::from_millis(250);

/// What a run came to.
pub(crate) struct Outcome {
    pub(crate) added: Vec<Arc<Message>>,
    pub(crate) tool_results: Vec<Arc<Message>>,
    pub(crate) session_id: SessionId,
    pub(crate) error: Option<AgentError>,
    pub(crate) model_failure: Option<ModelError>,
}

impl Outcome {
    /// As [`Agent`](crate::Agent) sees it: a failed model is a message, not an error.
    pub(crate) fn into_added(self) -> Result<Vec<Arc<Message>>, AgentError> {
        match self.error {
            None => Ok(self.added),
            Some(error) => Err(error),
        }
    }
}

/// Reports a turn whose future was dropped.
pub(crate) struct UnfinishedTurn {
    observers: Option<Arc<Observers>>,
}

impl UnfinishedTurn {
    pub(crate) fn new(observers: Arc<Observers>) -> Self {
        Self { observers: Some(observers) }
    }

    fn finished(mut self) {
        self.observers = None;
    }
}

impl Drop for UnfinishedTurn {
    fn drop(&mut self) {
        if let Some(observers) = &self.observers {
            observers
                .tell(|| TurnEvent::TurnFailed { message: "the turn was dropped before its end".to_owned() });
        }
    }
}

impl Run<'_> {
    /// Saves the turn and tells how it ended. What was finished is saved when it failed, too (003-031).
    pub(crate) async fn conclude(
        &mut self,
        ended: Result<(), AgentError>,
        unfinished: UnfinishedTurn,
    ) -> Result<(), AgentError> {
        let failure = match &ended {
            Ok(()) => self.failed_answer(),
            Err(error) => Some(error.failure()),
        };
        let saved = self.journal.finish(&self.transcript).await;
        let (ended, failure) = match (ended, failure, saved) {
            (ended, failure, Ok(())) => (ended, failure),
            (Ok(()), None, Err(error)) => {
                let error = AgentError::from(error);
                let failure = error.failure();
                (Err(error), Some(failure))
            }
            (ended, failure, Err(second)) => {
                tracing::error!(error = %second, "a failed turn could not be saved");
                (ended, failure)
            }
        };
        unfinished.finished();
        let hooks = self.config.hooks.current();
        match failure {
            None => {
                self.config.observers.tell(|| TurnEvent::TurnCompleted);
                self.tell_of_success(&hooks).await;
            }
            Some(failure) => {
                let message = failure.message.clone();
                self.config.observers.tell(|| TurnEvent::TurnFailed { message });
                if hooks.has(HookStage::TurnError) {
                    let context = self.hook_context().of_turn();
                    self.patiently(hooks.turn_error(&context, &failure)).await;
                }
            }
        }
        ended
    }

    async fn tell_of_success(&self, hooks: &HookChain) {
        let answer =
            self.added.iter().rev().find(|message| matches!(message.as_ref(), Message::Assistant(_)));
        if let Some(answer) = answer.filter(|_| hooks.has(HookStage::AfterTurn)) {
            let context = self.hook_context().of_turn();
            self.patiently(hooks.after_turn(&context, answer, &self.tool_results)).await;
        }
    }

    /// Waits for hooks that are told of something. They are told of an aborted turn, too, but not waited for long.
    pub(crate) async fn patiently(&self, told: impl Future<Output = ()>) {
        let too_late = async {
            self.cancel.cancelled().await;
            tokio::time::sleep(PATIENCE_AFTER_ABORT).await;
        };
        tokio::select! {
            biased;
            () = told => {}
            () = too_late => tracing::warn!("the hooks took too long after the abort and were left"),
        }
    }

    /// The failure that the last answer is, if it is one.
    fn failed_answer(&self) -> Option<Failure> {
        match self.added.last().map(|message| message.as_ref()) {
            Some(Message::Assistant(answer)) => {
                let kind = match answer.stop_reason {
                    StopReason::Error => FailureKind::Model,
                    StopReason::Aborted => FailureKind::Other,
                    StopReason::Stop | StopReason::Length | StopReason::ToolUse => return None,
                };
                Some(Failure::new(kind, answer.error_message.clone().unwrap_or_default()))
            }
            Some(Message::User(_) | Message::ToolResult(_) | Message::Custom(_)) | None => None,
        }
    }

    pub(crate) fn into_outcome(self, ended: Result<(), AgentError>) -> Outcome {
        Outcome {
            added: self.added,
            tool_results: self.tool_results,
            session_id: self.session_id,
            error: ended.err(),
            model_failure: self.model_failure,
        }
    }
}
