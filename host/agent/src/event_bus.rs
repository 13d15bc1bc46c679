//! One observer for many subscribers that come and go.

use async_trait::async_trait;
use capstan_ports::{ObserverPort, TurnEvent};
use std::sync::Arc;
use tokio::sync::broadcast;

/// Events that a subscriber may be behind before it misses the oldest ones.
const BEHIND: usize = 1024;

/// Hands every event of a turn to all who subscribed (003-157).
///
/// Observers are fixed when a bundle or an agent is made; subscribers of a bus come and go. None of them delays the turn or another
/// one: who is more than 1,024 events behind misses the oldest and hears how many, who drops its receiver is forgotten.
///
/// ```
/// use capstan_agent::EventBus;
/// use capstan_ports::{ObserverPort, TurnEvent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bus = EventBus::default();
/// let mut events = bus.subscribe();
/// bus.on_event(&TurnEvent::TurnStarted).await;
/// assert_eq!(*events.recv().await?, TurnEvent::TurnStarted);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct EventBus {
    sender: broadcast::Sender<Arc<TurnEvent>>,
}

impl EventBus {
    /// A receiver of every event from now on. Its `recv` answers `Lagged` with the number of events that it missed.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<TurnEvent>> {
        self.sender.subscribe()
    }

    /// How many receivers there are.
    #[must_use]
    pub fn subscribers(&self) -> usize {
        self.sender.receiver_count()
    }
}

impl Default for EventBus {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(BEHIND) }
    }
}

#[async_trait]
impl ObserverPort for EventBus {
    async fn on_event(&self, event: &TurnEvent) {
        if self.sender.receiver_count() == 0 {
            return;
        }
        // It fails when the last receiver went in between, and then nobody wants to know.
        drop(self.sender.send(Arc::new(event.clone())));
    }
}

#[cfg(test)]
#[path = "event_bus_tests.rs"]
mod tests;
