//! Who is told of an agent's events.

use capstan_ports::{AgentEvent, EventSink};
use futures::FutureExt;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// Ends a subscription, see [`Agent::unsubscribe`](crate::agent::Agent::unsubscribe).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SubscriptionId(u64);

/// Listeners in the order of their subscription.
#[derive(Default)]
pub(crate) struct Listeners {
    inner: Mutex<Inner>,
}

type Subscribed = Vec<(SubscriptionId, Arc<dyn EventSink>)>;

#[derive(Default)]
struct Inner {
    next_id: u64,
    /// Replaced, never changed: an event in progress keeps the list it began with, so listeners may come and go
    /// inside one.
    subscribed: Arc<Subscribed>,
}

impl Listeners {
    pub(crate) fn add(&self, listener: Arc<dyn EventSink>) -> SubscriptionId {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let id = SubscriptionId(inner.next_id);
        inner.next_id += 1;
        Arc::make_mut(&mut inner.subscribed).push((id, listener));
        id
    }

    pub(crate) fn remove(&self, id: SubscriptionId) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut inner.subscribed).retain(|(other, _)| *other != id);
    }

    pub(crate) fn want_updates(&self) -> bool {
        self.snapshot().iter().any(|(_, listener)| listener.wants_updates())
    }

    /// Tells each, one after another. When one panics the others are told all the same; then the panic goes on to the
    /// loop, which ends the run.
    pub(crate) async fn tell(&self, event: AgentEvent) {
        let subscribed = self.snapshot();
        let mut panic = None;
        for (_, listener) in subscribed.iter() {
            let told = AssertUnwindSafe(listener.emit(event.clone())).catch_unwind().await;
            panic = panic.or(told.err());
        }
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }

    fn snapshot(&self) -> Arc<Subscribed> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).subscribed.clone()
    }
}
