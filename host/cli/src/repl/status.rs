//! `/session`: which session this is, and what it has come to.

use super::Repl;
use crate::screen::{self, DIM};
use anyhow::Result;
use capstan_ports::entry::Entry;
use capstan_ports::message::Message;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Characters of one line. Names come from files, and those from anywhere.
const MAX_VALUE: usize = 1000;

/// What all messages of a session, also those of other branches, come to.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    user: usize,
    assistant: usize,
    calls: usize,
    results: usize,
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cost: f64,
}

impl Counts {
    fn of(entries: &[Arc<Entry>]) -> Self {
        let mut counts = Self::default();
        for message in entries.iter().filter_map(|entry| entry.message()) {
            match message.as_ref() {
                Message::User(_) => counts.user += 1,
                Message::ToolResult(_) => counts.results += 1,
                Message::Custom(_) => {}
                Message::Assistant(answer) => {
                    counts.assistant += 1;
                    counts.calls += answer.tool_calls().count();
                    counts.input += answer.usage.input;
                    counts.output += answer.usage.output;
                    counts.cache_read += answer.usage.cache_read;
                    counts.cache_write += answer.usage.cache_write;
                    counts.cost += answer.usage.cost.total;
                }
            }
        }
        counts
    }
}

impl Repl {
    /// `/session`
    pub(super) fn show_session(&self) -> Result<()> {
        let entries = self.session.log().entries();
        let counts = Counts::of(&entries);
        let header = self.sessions.header();
        let file = self.sessions.path().map_or_else(|| "not kept".to_owned(), |path| screen::path(&path));
        let mut lines = vec![("id", header.id.to_string()), ("file", file)];
        lines.extend(self.session.name().map(|name| ("name", name)));
        lines.push(("directory", screen::path(Path::new(&header.cwd))));
        lines.extend(header.parent_session.map(|parent| ("split off", screen::path(Path::new(&parent)))));
        lines.push(("model", self.session.model().info().full_name()));
        lines.push(("thinking", self.session.thinking_level().name().to_owned()));
        let Counts { user, assistant, calls, results, input, output, cache_read, cache_write, cost } = counts;
        lines.push((
            "messages",
            format!(
                "{user} of yours, {assistant} answers, {calls} calls, {results} results; {} entries",
                entries.len()
            ),
        ));
        lines.push((
            "tokens",
            format!("{input} read, {cache_read} read from the cache, {cache_write} written to it, {output} written"),
        ));
        // Zero means that no price is known.
        if cost > 0.0 {
            lines.push(("cost", format!("${cost:.4}")));
        }
        let mut out = String::new();
        for (name, value) in lines {
            writeln!(out, "  {DIM}{name:10}{DIM:#} {}", screen::brief(&value, MAX_VALUE))?;
        }
        Ok(screen::show(&out)?)
    }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
