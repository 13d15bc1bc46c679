//! How many bytes a call may still write to files.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The account of one call, shared between its store and the streams that it opened. A stream that is kept for the next
/// call of a session writes on that call's account.
#[derive(Debug)]
pub(crate) struct Quota {
    limit: AtomicU64,
    written: AtomicU64,
    used_up: AtomicBool,
}

/// A write that did not fit.
#[derive(Debug, thiserror::Error)]
#[error("the quota of {} MiB for writing files is used up", .limit >> 20)]
pub(crate) struct UsedUp {
    limit: u64,
}

impl Quota {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit: limit.into(), written: 0.into(), used_up: false.into() }
    }

    /// Opens the account of a new call.
    pub(crate) fn renew(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
        self.written.store(0, Ordering::Relaxed);
        self.used_up.store(false, Ordering::Relaxed);
    }

    /// Books bytes that are about to be written. What does not fit whole is not written in part, and ends writing for
    /// this call: a guest that goes on with smaller pieces would leave files with holes in them.
    pub(crate) fn book(&self, bytes: u64) -> Result<(), UsedUp> {
        let limit = self.limit.load(Ordering::Relaxed);
        if bytes == 0 {
            return Ok(());
        }
        let fits = |written: u64| written.checked_add(bytes).filter(|sum| *sum <= limit);
        let booked = !self.used_up.load(Ordering::Relaxed)
            && self.written.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        if booked {
            return Ok(());
        }
        self.used_up.store(true, Ordering::Relaxed);
        Err(UsedUp { limit })
    }

    /// Takes back what was booked in this call and not written.
    pub(crate) fn give_back(&self, bytes: u64) {
        self.written.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Why nothing more is written, if so.
    pub(crate) fn used_up(&self) -> Option<UsedUp> {
        let limit = self.limit.load(Ordering::Relaxed);
        self.used_up.load(Ordering::Relaxed).then_some(UsedUp { limit })
    }

    /// Closes the account: the bytes that were written, and none when asked again.
    pub(crate) fn settle(&self) -> u64 {
        self.written.swap(0, Ordering::Relaxed)
    }
}

/// What a write costs: its bytes, and the gap that it leaves behind the present end of the file. Such a gap takes no room at
/// first, but whoever copies or reads the file pays for it.
pub(crate) fn cost(size: u64, offset: u64, bytes: u64) -> u64 {
    match bytes {
        0 => 0,
        bytes => bytes.max(offset.saturating_add(bytes).saturating_sub(size)),
    }
}

#[cfg(test)]
#[path = "quota_tests.rs"]
mod tests;
