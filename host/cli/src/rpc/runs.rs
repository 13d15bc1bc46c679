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
    current: Option<Current>,
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

    /// Ends the run that is on.
    pub(super) fn stop(&self) {
        if let Some(current) = &self.state().current {
            current.stop.cancel();
        }
    }

    /// Notes whether the last run ended with an answer.
    pub(super) fn note_end(&self, ended_well: bool) {
        self.state().ended_well = ended_well;
    }

    /// The run of `ticket` is over, also if its end was not told. Answers what was never answered.
    pub(super) fn leave(&self, ticket: &Ticket) -> Option<Answer> {
        self.state().current.take_if(|current| current.number == ticket.number)?.answer
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
                let accepted = self.0.state().current.as_mut().and_then(|current| current.answer.take());
                if let Some(answer) = accepted {
                    answer.done(None).await;
                }
            }
            AgentEvent::AgentEnd { .. } => self.0.state().current = None,
            _ => {}
        }
    }

    fn wants_updates(&self) -> bool {
        false
    }
}
