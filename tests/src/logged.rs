//! What the product logs on this thread, for tests that look into the log.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// Collects log lines from its making to its end.
pub struct Logged {
    lines: Arc<Mutex<Vec<String>>>,
    _guard: DefaultGuard,
    /// With a single collector, a line that is first reached on a thread without one would never be collected on any.
    _second: Dispatch,
}

impl Logged {
    /// Begins to collect. Only what happens on this thread counts, so it needs a runtime of one thread.
    pub fn begin() -> Self {
        let lines = Arc::default();
        let second = Dispatch::new(Collector { lines: Arc::default() });
        let collector = Collector { lines: Arc::clone(&lines) };
        Self { lines, _guard: tracing::subscriber::set_default(collector), _second: second }
    }

    /// The lines so far, each with its level, fields and text.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Those that contain `text`.
    pub fn with(&self, text: &str) -> Vec<String> {
        self.lines().into_iter().filter(|line| line.contains(text)).collect()
    }
}

struct Collector {
    lines: Arc<Mutex<Vec<String>>>,
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("capstan")
    }

    fn new_span(&self, _attributes: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.0);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a string does not fail.
        let _infallible = write!(self.0, " {field}={value:?}");
    }
}
