//! What the searching tools share: collecting lines up to what one result holds, and saying what is left out.

use crate::text::truncate::{MAX_BYTES, head};
use crate::workspace::Walked;
use capstan_ports::tool::ToolOutcome;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Said where lines were left out because of their size.
pub(super) const BYTES_NOTICE: &str = "The limit of 50KB is reached";

/// Lines of a result, a little more than fits at most.
#[derive(Default)]
pub(super) struct Lines {
    lines: Vec<String>,
    n_bytes: usize,
    /// Of lines that come before these in the result.
    n_bytes_before: usize,
}

impl Lines {
    /// None yet, but to be added to `others`.
    pub(super) fn after(others: &Self) -> Self {
        Self { lines: Vec::new(), n_bytes_before: others.n_bytes_before + others.n_bytes, n_bytes: 0 }
    }

    /// `Break` when more would not be shown anyway.
    pub(super) fn push(&mut self, line: String) -> ControlFlow<()> {
        self.n_bytes += line.len() + 1;
        self.lines.push(line);
        if self.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(super) fn extend(&mut self, lines: Lines) {
        self.n_bytes += lines.n_bytes;
        self.lines.extend(lines.lines);
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// One byte over the limit is needed to know that there is more.
    pub(super) fn is_full(&self) -> bool {
        self.n_bytes_before + self.n_bytes > MAX_BYTES + 1
    }
}

/// The result of a search: its lines or `nothing`, and then the notices.
pub(super) fn listed(
    lines: &Lines,
    nothing: &str,
    mut notices: Vec<String>,
    mut details: Map<String, Value>,
    walked: &Walked,
) -> ToolOutcome {
    let text = lines.lines.join("\n");
    let cut = head(&text, usize::MAX, MAX_BYTES);
    if let Some(truncation) = cut.truncation {
        notices.push(BYTES_NOTICE.to_owned());
        details.insert("truncation".to_owned(), json!(truncation));
    }
    if walked.n_unreadable > 0 {
        notices.push(format!("Directories that could not be read: {}", walked.n_unreadable));
    }
    if walked.n_cut > 0 {
        notices.push(format!("Directories too large or too deep to be searched whole: {}", walked.n_cut));
    }
    outcome(if text.is_empty() { nothing } else { cut.text }, &notices, details)
}

/// A text with its notices below it.
pub(super) fn outcome(text: &str, notices: &[String], details: Map<String, Value>) -> ToolOutcome {
    let details = (!details.is_empty()).then_some(Value::Object(details));
    let text = match notices.is_empty() {
        true => text.to_owned(),
        false => format!("{}\n\n[{}]", text.strip_suffix('\n').unwrap_or(text), notices.join(". ")),
    };
    ToolOutcome { details, ..ToolOutcome::text(text) }
}

/// A name as one line: whoever can make files must not be able to make lines of a result.
pub(super) fn visible(name: &str) -> Cow<'_, str> {
    if !name.contains(char::is_control) {
        return Cow::Borrowed(name);
    }
    let escaped =
        name.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() });
    Cow::Owned(escaped.collect())
}
