//! Which run is on, as the client sees it.
//!
//! For the client a run ends with its `agent_end`, and the next prompt may come at once. For the agent it ends a moment later.
//! So whether a run is on is kept here, and runs wait for each other.

use super::answer::Answer;
use async_trait::async_trait;
use capstan_ports::event::{AgentEvent, EventSink};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::MutexGuard as AsyncMutexGuard;
use tokio_util::sync::CancellationToken;

/// The runs of one client.
#[derive(Default)]
pub(super) struct Runs {
    state: Mutex<State>,
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    /// The one that the client waits for.
    current: Option<Current>,
    /// The one whose events come now. After its end something may follow by itself: a compaction, and then what was queued
    /// meanwhile. The client may have sent the next prompt by then.
    driven: Option<(u64, CancellationToken)>,
    begun: u64,
    /// How the last one ended.
    ended_well: bool,
}

struct Current {
    number: u64,
    stop: CancellationToken,
    /// To be answered when it starts: then the prompt was accepted.
    answer: Option<Answer>,
}

/// The right to run once it is one's turn.
pub(super) struct Ticket {
    number: u64,
    /// Fires when the client wants the run to end.
    pub(super) stop: CancellationToken,
}

impl Runs {
    /// The right to a run; gives the answer back when one is on.
    pub(super) fn begin(&self, answer: Option<Answer>) -> Result<Ticket, Option<Answer>> {
        let mut state = self.state();
        if state.current.is_some() {
            return Err(answer);
        }
        state.begun += 1;
        let (number, stop) = (state.begun, CancellationToken::new());
        state.current = Some(Current { number, stop: stop.clone(), answer });
        Ok(Ticket { number, stop })
    }

    /// Waits until the run before is over for the agent, too.
    pub(super) async fn turn(&self) -> AsyncMutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Whether a run is on.
    pub(super) fn is_on(&self) -> bool {
        self.state().current.is_some()
    }

    /// Ends the run that is on, and what follows the one before it.
    pub(super) fn stop(&self) {
        let state = self.state();
        let driven = state.driven.iter().map(|(_, stop)| stop);
        state.current.iter().map(|current| &current.stop).chain(driven).for_each(CancellationToken::cancel);
    }

    /// From now on the events are those of `ticket`.
    pub(super) fn drive(&self, ticket: &Ticket) {
        self.state().driven = Some((ticket.number, ticket.stop.clone()));
    }

    /// Notes whether the last run ended with an answer.
    pub(super) fn note_end(&self, ended_well: bool) {
        self.state().ended_well = ended_well;
    }

    /// The run of `ticket` is over, also if its end was not told. Answers what was never answered.
    pub(super) fn leave(&self, ticket: &Ticket) -> Option<Answer> {
        let mut state = self.state();
        state.driven = None;
        state.current.take_if(|current| current.number == ticket.number)?.answer
    }

    /// A run has begun. Answers who is to be told that it was accepted.
    fn started(&self) -> Option<Answer> {
        let mut state = self.state();
        let (number, stop) = state.driven.clone()?;
        let current = state.current.get_or_insert(Current { number, stop, answer: None });
        if current.number == number { current.answer.take() } else { None }
    }

    /// A run is over.
    fn ended(&self) {
        let mut state = self.state();
        let driven = state.driven.as_ref().map(|(number, _)| *number);
        state.current.take_if(|current| Some(current.number) == driven);
    }

    /// Whether the last run ended with an answer.
    pub(super) fn ended_well(&self) -> bool {
        self.state().ended_well
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic happens under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows the events, before they are written.
pub(super) struct Watch(pub(super) Arc<Runs>);

#[async_trait]
impl EventSink for Watch {
    async fn emit(&self, event: AgentEvent) {
        match event {
            AgentEvent::AgentStart => {
                if let Some(answer) = self.0.started() {
                    answer.done(None).await;
                }
            }
            AgentEvent::AgentEnd { .. } => self.0.ended(),
            _ => {}
        }
    }

    fn wants_updates(&self) -> bool {
        false
    }
}

#[cfg(test)]
#[path = "runs_tests.rs"]
mod tests;
