//! Hands turn events to observers without ever waiting for one.
//!
//! Each observer has a bounded queue and a thread of its own, so that one which blocks, panics or never returns costs the
//! turn nothing: what does not fit in its queue is dropped and counted.

use capstan_ports::{AgentEvent, ObserverPort, TurnEvent, TurnEventSink};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

/// Events that may wait for one observer. A round makes a handful, so this is many rounds of being behind; beyond it the
/// newest events are dropped, because an observer that slow does not catch up.
const MAX_WAITING: usize = 1024;

/// Names an observer of an [`Observers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObserverId(u64);

/// The observers of an agent. Clones of the surrounding `Arc` share them; changes count from the next event.
#[derive(Default)]
pub struct Observers {
    channels: RwLock<Arc<Vec<Channel>>>,
    next_id: AtomicU64,
}

#[derive(Clone)]
struct Channel {
    id: ObserverId,
    queue: mpsc::Sender<Item>,
    /// Whether it also takes what a screen shows.
    watches_agent_events: bool,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    dropped: AtomicU64,
    panicked: AtomicU64,
}

enum Item {
    Event(Arc<TurnEvent>),
    AgentEvent(Arc<AgentEvent>),
    /// Answered when everything before it was handled.
    Mark(oneshot::Sender<()>),
}

impl Observers {
    /// Adds an observer. What it awaits runs on the tokio runtime of the caller, or on one of its own where there is none.
    pub fn add(&self, observer: Arc<dyn ObserverPort>) -> ObserverId {
        let (queue, events) = mpsc::channel(MAX_WAITING);
        let counts = Arc::new(Counts::default());
        let id = ObserverId(self.next_id.fetch_add(1, Ordering::Relaxed));
        let watches_agent_events = observer.watches_agent_events();
        let work = serve(observer, events, counts.clone());
        let runtime = Handle::try_current().ok();
        let thread = std::thread::Builder::new().name("observer".to_owned()).spawn(move || match runtime {
            Some(runtime) => runtime.block_on(work),
            None => match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(own) => own.block_on(work),
                Err(error) => tracing::warn!(%error, "an observer got no runtime and sees no events"),
            },
        });
        match thread {
            Ok(_detached) => {
                let mut channels = self.channels.write().unwrap_or_else(PoisonError::into_inner);
                Arc::make_mut(&mut channels).push(Channel { id, queue, watches_agent_events, counts });
            }
            Err(error) => tracing::warn!(%error, "an observer got no thread and sees no events"),
        }
        id
    }

    /// Removes an observer; events that wait for it are still handled.
    pub fn remove(&self, id: ObserverId) {
        let mut channels = self.channels.write().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut channels).retain(|channel| channel.id != id);
    }

    /// Tells all observers. `event` is only called when there are any.
    pub fn tell(&self, event: impl FnOnce() -> TurnEvent) {
        let channels = self.snapshot();
        if channels.is_empty() {
            return;
        }
        let event = Arc::new(event());
        for channel in channels.iter() {
            channel.offer(Item::Event(event.clone()));
        }
    }

    /// Tells those that watch what a screen shows. What grows and is replaced is left out.
    pub(crate) fn tell_shown(&self, event: &AgentEvent) {
        if matches!(event, AgentEvent::MessageUpdate { .. } | AgentEvent::ToolExecutionUpdate { .. }) {
            return;
        }
        let channels = self.snapshot();
        let mut watching = channels.iter().filter(|channel| channel.watches_agent_events).peekable();
        if watching.peek().is_none() {
            return;
        }
        let event = Arc::new(event.clone());
        for channel in watching {
            channel.offer(Item::AgentEvent(event.clone()));
        }
    }

    /// Events that observers missed because they were too slow, all together.
    pub fn dropped(&self) -> u64 {
        self.snapshot().iter().map(|channel| channel.counts.dropped.load(Ordering::Relaxed)).sum()
    }

    /// Events at which an observer panicked, all together.
    pub fn panicked(&self) -> u64 {
        self.snapshot().iter().map(|channel| channel.counts.panicked.load(Ordering::Relaxed)).sum()
    }

    /// Waits until observers have handled what was told so far, at most `limit`. For a program that is about to end.
    pub async fn flush(&self, limit: Duration) {
        let marks = async {
            for channel in self.snapshot().iter() {
                let (done, waiting) = oneshot::channel();
                if channel.queue.send(Item::Mark(done)).await.is_ok() {
                    // An observer that ended without answering has nothing left to handle.
                    waiting.await.unwrap_or_default();
                }
            }
        };
        if tokio::time::timeout(limit, marks).await.is_err() {
            tracing::warn!("an observer was still busy after {limit:?}");
        }
    }

    fn snapshot(&self) -> Arc<Vec<Channel>> {
        self.channels.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Channel {
    /// Puts an item into the queue, or counts it as missed.
    fn offer(&self, item: Item) {
        if self.queue.try_send(item).is_err() {
            let before = self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            if before == 0 {
                tracing::warn!("an observer is too slow or gone; it misses events from now on");
            }
        }
    }
}

impl TurnEventSink for Observers {
    fn tell(&self, event: TurnEvent) {
        Self::tell(self, || event);
    }
}

async fn serve(observer: Arc<dyn ObserverPort>, mut events: mpsc::Receiver<Item>, counts: Arc<Counts>) {
    while let Some(item) = events.recv().await {
        let handled = match item {
            Item::Event(event) => AssertUnwindSafe(observer.on_event(&event)).catch_unwind().await,
            Item::AgentEvent(event) => AssertUnwindSafe(observer.on_agent_event(&event)).catch_unwind().await,
            // Nobody waits any more when this fails.
            Item::Mark(done) => {
                done.send(()).unwrap_or_default();
                Ok(())
            }
        };
        if handled.is_err() {
            counts.panicked.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
#[path = "observers_tests.rs"]
mod tests;
