//! The lines that `grep` finds, as the model sees them.

use crate::tools::found::Lines;
use grep_matcher::LineTerminator;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use std::io;

/// Characters of one line that are shown. A match in generated code would otherwise fill the result alone.
pub(super) const MAX_LINE_CHARS: usize = 500;

/// Bytes held of one line while it is searched, on top of a buffer of 64 KB. A file with a longer line is counted as not
/// searched whole.
const MAX_LINE_BYTES: usize = 8 * 1024 * 1024;

/// Text has no zero byte; what has one is passed over.
pub(super) fn searcher(n_context_lines: usize) -> Searcher {
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .line_number(true)
        .before_context(n_context_lines)
        .after_context(n_context_lines)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_LINE_BYTES))
        .build()
}

/// What was found in all files so far.
#[derive(Default)]
pub(super) struct Found {
    pub(super) lines: Lines,
    pub(super) n_matches: usize,
    /// There is a match that is not shown because of the limit.
    pub(super) is_more: bool,
    pub(super) has_cut_lines: bool,
}

impl Found {
    pub(super) fn add(&mut self, file: InFile) {
        // What a binary file held before its first zero byte says nothing.
        if file.is_binary {
            return;
        }
        self.lines.extend(file.lines);
        self.n_matches += file.n_matches;
        self.is_more |= file.is_more;
        self.has_cut_lines |= file.has_cut_lines;
    }

    /// Nothing that could still be found would be shown.
    pub(super) fn is_complete(&self) -> bool {
        self.is_more || self.lines.is_full()
    }
}

/// Collects the matches of one file.
pub(super) struct InFile {
    name: String,
    /// Matches that may still be shown.
    room: usize,
    lines: Lines,
    /// Lines before a match that is not known to be shown yet.
    before: Vec<String>,
    n_matches: usize,
    is_more: bool,
    has_cut_lines: bool,
    pub(super) is_binary: bool,
}

impl InFile {
    pub(super) fn new(name: String, found: &Found, limit: usize) -> Self {
        Self {
            name,
            room: limit.saturating_sub(found.n_matches),
            lines: Lines::after(&found.lines),
            before: Vec::new(),
            n_matches: 0,
            is_more: false,
            has_cut_lines: false,
            is_binary: false,
        }
    }

    /// One line with its number, between marks that tell matches from what stands around them.
    fn shown(&mut self, mark: char, number: Option<u64>, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let (text, is_cut) = cut(text.trim_end_matches(['\n', '\r']));
        self.has_cut_lines |= is_cut;
        let more = if is_cut { "... [cut]" } else { "" };
        format!("{}{mark}{}{mark} {text}{more}", self.name, number.unwrap_or_default())
    }
}

/// At most [`MAX_LINE_CHARS`] characters from the front.
pub(super) fn cut(line: &str) -> (&str, bool) {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((at, _)) => (&line[..at], true),
        None => (line, false),
    }
}

impl Sink for InFile {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.n_matches == self.room {
            self.is_more = true;
            return Ok(false);
        }
        self.n_matches += 1;
        for line in std::mem::take(&mut self.before) {
            if self.lines.push(line).is_break() {
                return Ok(false);
            }
        }
        let line = self.shown(':', found.line_number(), found.bytes());
        Ok(self.lines.push(line).is_continue())
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let line = self.shown('-', context.line_number(), context.bytes());
        if *context.kind() == SinkContextKind::Before {
            self.before.push(line);
            return Ok(true);
        }
        Ok(self.lines.push(line).is_continue())
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }
}

#[cfg(test)]
#[path = "matches_tests.rs"]
mod tests;
