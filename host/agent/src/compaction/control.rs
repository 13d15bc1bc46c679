//! What outlives one compaction: how often it failed, and the handle that ends the one in progress.

use std::sync::{Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// After so many failures in a row nothing is compacted any more unless a person asks for it: a model that could not
/// summarize three times only costs time and money the fourth time.
pub(crate) const MAX_FAILURES: u32 = 3;

/// Of one conversation, shared by its runs.
#[derive(Debug, Default)]
pub(crate) struct Control {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    current: Option<CancellationToken>,
}

/// A compaction in progress.
pub(crate) struct Current<'a> {
    control: &'a Control,
    pub(crate) cancel: CancellationToken,
}

impl Control {
    /// Marks that a compaction begins; it ends with the run that `within` belongs to.
    pub(crate) fn begin(&self, within: &CancellationToken) -> Current<'_> {
        let cancel = within.child_token();
        self.with(|state| state.current = Some(cancel.clone()));
        Current { control: self, cancel }
    }

    /// Whether a compaction is in progress.
    pub(crate) fn is_busy(&self) -> bool {
        self.with(|state| state.current.is_some())
    }

    /// Ends the compaction in progress, if there is one.
    pub(crate) fn abort(&self) {
        if let Some(current) = self.with(|state| state.current.clone()) {
            current.cancel();
        }
    }

    /// Whether it failed so often that only a person may begin another.
    pub(crate) fn is_paused(&self) -> bool {
        self.with(|state| state.failures >= MAX_FAILURES)
    }

    /// Forgets failures.
    pub(crate) fn resume(&self) {
        self.with(|state| state.failures = 0);
    }

    /// Counts a failure; true when it is the one that pauses.
    pub(crate) fn failed(&self) -> bool {
        self.with(|state| {
            state.failures = state.failures.saturating_add(1);
            state.failures == MAX_FAILURES
        })
    }

    // What is stored is whole at any time, so poisoning is ignored.
    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        self.control.with(|state| state.current = None);
    }
}
