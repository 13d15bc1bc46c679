//! Host functions that need no grant.

use crate::bindings::capstan::extension::{cancellation, config, events, log, progress, types};
use crate::state::State;
use capstan_policy::text::is_hidden;
use capstan_ports::TurnEvent;
use capstan_ports::tool::ToolOutcome;

/// Longest progress text, in bytes.
const MAX_PROGRESS_BYTES: usize = 64 << 10;

/// Longest data of an event, in bytes.
const MAX_EVENT_BYTES: usize = 64 << 10;

impl types::Host for State {}

impl log::Host for State {
    fn write(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        let scope = &mut self.scope;
        if scope.log_lines_left == 0 {
            scope.log_lines_dropped = scope.log_lines_dropped.saturating_add(1);
            return Ok(());
        }
        scope.log_lines_left -= 1;
        let (extension, line) = (&*scope.identity.extension, printable(&message, scope.log_line_bytes));
        match level {
            log::Level::Trace => tracing::trace!(target: "capstan::extension", extension, "{line}"),
            log::Level::Debug => tracing::debug!(target: "capstan::extension", extension, "{line}"),
            log::Level::Info => tracing::info!(target: "capstan::extension", extension, "{line}"),
            log::Level::Warn => tracing::warn!(target: "capstan::extension", extension, "{line}"),
            log::Level::Error => tracing::error!(target: "capstan::extension", extension, "{line}"),
        }
        Ok(())
    }
}

impl progress::Host for State {
    fn report(&mut self, text: String) -> wasmtime::Result<()> {
        if let Some(progress) = &self.scope.progress {
            progress.report(ToolOutcome::text(cut(&text, MAX_PROGRESS_BYTES)));
        }
        Ok(())
    }
}

impl cancellation::Host for State {
    fn is_cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(self.scope.cancel.is_cancelled())
    }
}

impl config::Host for State {
    fn get(&mut self) -> wasmtime::Result<String> {
        Ok(self.scope.identity.config.to_string())
    }
}

impl events::Host for State {
    fn emit(&mut self, label: String, data: String) -> wasmtime::Result<()> {
        let fits = (1..=48).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let shown = printable(&data, self.scope.log_line_bytes);
        let data = match serde_json::from_str(&data) {
            Ok(value) if fits && data.len() <= MAX_EVENT_BYTES => value,
            // The function has no answer, so the log is where an author finds it.
            _ => {
                let text = "an event was dropped: its label must be 1 to 48 of a-z, 0-9 and -, its data JSON of at most 64 KiB";
                return log::Host::write(self, log::Level::Warn, text.to_owned());
            }
        };
        let scope = &mut self.scope;
        // Counted as a log line, so that events are no way around its limit.
        if scope.log_lines_left == 0 {
            scope.log_lines_dropped = scope.log_lines_dropped.saturating_add(1);
            return Ok(());
        }
        scope.log_lines_left -= 1;
        let extension = &*scope.identity.extension;
        tracing::debug!(target: "capstan::extension", extension, "event {label}: {shown}");
        if let Some(events) = &scope.identity.services.events {
            events.tell(TurnEvent::Custom { source: scope.identity.extension.to_string(), label, data });
        }
        Ok(())
    }
}

/// `text` with everything escaped that a terminal would act on or an eye would miss. Cut at `max_bytes`, at a character.
pub(crate) fn printable(text: &str, max_bytes: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(max_bytes));
    for c in cut(text, max_bytes).chars() {
        if is_hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    if text.len() > max_bytes {
        shown.push('…');
    }
    shown
}

fn cut(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

#[cfg(test)]
#[path = "always_tests.rs"]
mod tests;
