//! Partial results on their way from running calls to the event sink.

use capstan_ports::tool::Progress;
use capstan_ports::{AgentEvent, ToolCall, ToolOutcome};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Partial results that may wait for a slow sink. Each replaces the one before, so the oldest can go when there are
/// more; without a bound a tool that reports in a tight loop would fill the host's memory.
const MAX_WAITING: usize = 256;

/// The partial results of one batch, in the order in which they were reported.
#[derive(Default)]
pub(crate) struct ProgressQueue {
    waiting: Mutex<VecDeque<(usize, ToolOutcome)>>,
    wake: Notify,
}

impl ProgressQueue {
    /// The next report and the position of its call in the batch; waits for one.
    pub(crate) async fn next(&self) -> (usize, ToolOutcome) {
        loop {
            if let Some(report) = self.lock().pop_front() {
                return report;
            }
            self.wake.notified().await;
        }
    }

    /// All reports that wait now.
    pub(crate) fn take_all(&self) -> VecDeque<(usize, ToolOutcome)> {
        std::mem::take(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(usize, ToolOutcome)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reporting end of one call.
pub(crate) struct CallProgress {
    queue: Arc<ProgressQueue>,
    position: usize,
    open: AtomicBool,
}

impl CallProgress {
    pub(crate) fn new(queue: Arc<ProgressQueue>, position: usize) -> Self {
        Self { queue, position, open: AtomicBool::new(true) }
    }

    /// From here on reports are dropped (000-023).
    pub(crate) fn close(&self) {
        // Under the queue's lock, so that a report from another thread is either before this or not at all.
        let _waiting = self.queue.lock();
        self.open.store(false, Ordering::Relaxed);
    }
}

impl Progress for CallProgress {
    fn report(&self, partial: ToolOutcome) {
        let mut waiting = self.queue.lock();
        if !self.open.load(Ordering::Relaxed) {
            return;
        }
        if waiting.len() == MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back((self.position, partial));
        drop(waiting);
        self.queue.wake.notify_one();
    }
}

/// The event of a partial result.
pub(crate) fn update_event(call: &ToolCall, partial_result: ToolOutcome) -> AgentEvent {
    AgentEvent::ToolExecutionUpdate {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        args: call.arguments.clone(),
        partial_result,
    }
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
