//! What a plan is carried out with: something that runs one turn after another in one conversation.

use crate::error::AgentError;
use crate::session::{AgentSession, ChatResponse};
use async_trait::async_trait;
use capstan_ports::PlanStepStatus;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Runs turns. [`TaskAgent`](crate::TaskAgent) needs no more of a session, so that one execution of plans serves every kind
/// of session.
#[async_trait]
pub trait Turns: Send + Sync {
    /// Runs one turn to its final answer. When `cancel` fires, the turn ends within a moment, with an error.
    ///
    /// # Errors
    /// When the turn failed, for whatever reason. The conversation stays usable.
    async fn submit(&mut self, text: &str, cancel: &CancellationToken) -> Result<ChatResponse, AgentError>;

    /// Tells the session's hooks that a step of a plan changed its status; steps count from 0.
    async fn plan_step(&mut self, index: u32, status: &PlanStepStatus);
}

#[async_trait]
impl Turns for AgentSession {
    async fn submit(&mut self, text: &str, cancel: &CancellationToken) -> Result<ChatResponse, AgentError> {
        self.submit_turn_until(text, cancel).await
    }

    async fn plan_step(&mut self, index: u32, status: &PlanStepStatus) {
        self.tell_plan_step(index as usize, status).await;
    }
}

/// How often a run that is to end is told so: it may not have begun when it was told first.
const AGAIN: Duration = Duration::from_millis(20);

/// A session that is on record. A turn in which a gate put off a call is a failed one: the step is not done before a person
/// has decided about that.
#[async_trait]
impl Turns for capstan_agent::AgentSession {
    async fn submit(&mut self, text: &str, cancel: &CancellationToken) -> Result<ChatResponse, AgentError> {
        let waited_before = self.deferred();
        let run = self.submit_turn(text);
        tokio::pin!(run);
        let answered = tokio::select! {
            answered = &mut run => answered,
            () = cancel.cancelled() => loop {
                self.agent().abort();
                tokio::select! {
                    answered = &mut run => break answered,
                    () = tokio::time::sleep(AGAIN) => {}
                }
            },
        };
        let answer = answered?;
        let put_off = self
            .deferred()
            .into_iter()
            .find(|deferred| waited_before.iter().all(|before| before.call.id != deferred.call.id));
        match put_off {
            None => Ok(answer),
            Some(deferred) => Err(AgentError::HookBlocked(format!(
                "a call of {} was put off until a person decides: {}",
                deferred.call.name, deferred.reason
            ))),
        }
    }

    async fn plan_step(&mut self, index: u32, status: &PlanStepStatus) {
        self.tell_plan_step(index, status).await;
    }
}
