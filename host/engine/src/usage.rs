//! What an extension has used, counted as it happens.

use serde::{Deserialize, Serialize};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

/// What an extension has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Usage {
    /// Calls into it.
    pub calls: u64,
    /// Of these, calls that did not come back with an answer.
    pub failures: u64,
    /// Time that a processor worked for it, host functions included and waiting left out, in microseconds.
    pub cpu_micros: u64,
    /// The most memory that one of its instances had, in bytes.
    pub peak_memory_bytes: u64,
    /// Host functions that it called.
    pub host_calls: u64,
    /// Bytes that calls handed to it, about.
    pub input_bytes: u64,
    /// Bytes that it wrote to files.
    pub written_bytes: u64,
    /// Bytes of bodies that it sent and received over HTTP.
    pub http_bytes: u64,
}

impl Usage {
    /// Adds what was used in another run.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failures += other.failures;
        self.cpu_micros += other.cpu_micros;
        self.peak_memory_bytes = self.peak_memory_bytes.max(other.peak_memory_bytes);
        self.host_calls += other.host_calls;
        self.input_bytes += other.input_bytes;
        self.written_bytes += other.written_bytes;
        self.http_bytes += other.http_bytes;
    }
}

/// Counts for one extension. Shared by all of its calls.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub(crate) calls: AtomicU64,
    pub(crate) failures: AtomicU64,
    cpu_nanos: AtomicU64,
    peak_memory_bytes: AtomicU64,
    pub(crate) host_calls: AtomicU64,
    pub(crate) input_bytes: AtomicU64,
    pub(crate) written_bytes: AtomicU64,
    pub(crate) http_bytes: AtomicU64,
}

impl Meter {
    pub(crate) fn count(counter: &AtomicU64, more: u64) {
        counter.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn memory(&self, bytes: usize) {
        self.peak_memory_bytes.fetch_max(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Usage {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Usage {
            calls: of(&self.calls),
            failures: of(&self.failures),
            cpu_micros: of(&self.cpu_nanos) / 1000,
            peak_memory_bytes: of(&self.peak_memory_bytes),
            host_calls: of(&self.host_calls),
            input_bytes: of(&self.input_bytes),
            written_bytes: of(&self.written_bytes),
            http_bytes: of(&self.http_bytes),
        }
    }
}

pin_project_lite::pin_project! {
    /// Counts the time in which a future is worked on. A guest that computes is inside of `poll`; one that waits is not.
    pub(crate) struct Metered<'m, F> {
        #[pin]
        work: F,
        meter: &'m Meter,
    }
}

impl<'m, F> Metered<'m, F> {
    pub(crate) fn new(work: F, meter: &'m Meter) -> Self {
        Self { work, meter }
    }
}

impl<F: Future> Future for Metered<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let began = Instant::now();
        let polled = this.work.poll(context);
        let nanos = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Meter::count(&this.meter.cpu_nanos, nanos);
        polled
    }
}
