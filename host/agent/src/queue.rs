//! Messages that wait for the loop to take them: steering and follow-ups.

use capstan_ports::Message;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much one drain takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QueueMode {
    /// The oldest message only, so that the model answers each by itself.
    #[default]
    OneAtATime,
    /// Everything.
    All,
}

/// A first-in, first-out queue that any thread may fill while a run drains it.
#[derive(Debug, Default)]
pub struct PendingMessageQueue {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    mode: QueueMode,
    messages: VecDeque<Arc<Message>>,
}

impl PendingMessageQueue {
    /// An empty queue.
    pub fn new(mode: QueueMode) -> Self {
        Self { inner: Mutex::new(Inner { mode, messages: VecDeque::new() }) }
    }

    /// Adds a message at the end.
    pub fn enqueue(&self, message: Arc<Message>) {
        self.lock().messages.push_back(message);
    }

    /// Takes what the mode allows, oldest first; empty when nothing waits.
    pub fn drain(&self) -> Vec<Arc<Message>> {
        let mut inner = self.lock();
        match inner.mode {
            QueueMode::OneAtATime => inner.messages.pop_front().into_iter().collect(),
            QueueMode::All => inner.messages.drain(..).collect(),
        }
    }

    /// Whether anything waits.
    pub fn has_items(&self) -> bool {
        !self.lock().messages.is_empty()
    }

    /// What waits, oldest first.
    pub fn waiting(&self) -> Vec<Arc<Message>> {
        self.lock().messages.iter().cloned().collect()
    }

    /// How much one drain takes.
    pub fn mode(&self) -> QueueMode {
        self.lock().mode
    }

    /// Forgets everything that waits.
    pub fn clear(&self) {
        self.lock().messages.clear();
    }

    /// Changes the mode; the next drain follows it, also during a run.
    pub fn set_mode(&self, mode: QueueMode) {
        self.lock().mode = mode;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing that can panic happens under the lock, so a poisoned queue is still a whole queue.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
