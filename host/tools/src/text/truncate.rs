//! Cuts text to what a model should get: whole lines, from the front or from the back.

use serde::Serialize;

/// Lines that one result holds at most. With [`MAX_BYTES`] some ten thousand tokens, about what a context bears per call.
pub const MAX_LINES: usize = 2000;

/// Bytes that one result holds at most.
pub const MAX_BYTES: usize = 50 * 1024;

/// Which limit was met first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TruncatedBy {
    /// The number of lines.
    Lines,
    /// The number of bytes.
    Bytes,
}

/// What was left out. In JSON it is part of a result's details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// Which limit was met.
    pub truncated_by: TruncatedBy,
    /// Lines of the whole text. A last line without an end counts.
    pub total_lines: usize,
    /// Bytes of the whole text.
    pub total_bytes: usize,
    /// Lines kept.
    pub output_lines: usize,
    /// Bytes kept.
    pub output_bytes: usize,
    /// True when one line alone is over the limit of bytes. From the front nothing of it is kept, because a model takes
    /// the beginning of a line for the line; from the back its end is kept.
    pub line_too_long: bool,
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut<'a> {
    /// What was kept. Line ends are kept too.
    pub text: &'a str,
    /// `None` when that is everything.
    pub truncation: Option<Truncation>,
}

/// Lines of a text; a last line without an end counts.
pub fn count_lines(text: &str) -> usize {
    let ends = text.bytes().filter(|byte| *byte == b'\n').count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Keeps whole lines from the front.
pub fn head(text: &str, max_lines: usize, max_bytes: usize) -> Cut<'_> {
    let by_lines = text.split_inclusive('\n').take(max_lines).map(str::len).sum::<usize>();
    if by_lines == text.len() && text.len() <= max_bytes {
        return Cut { text, truncation: None };
    }
    if by_lines <= max_bytes {
        return cut(text, &text[..by_lines], TruncatedBy::Lines, false);
    }
    let whole_lines =
        text.as_bytes()[..max_bytes].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    cut(text, &text[..whole_lines], TruncatedBy::Bytes, whole_lines == 0)
}

/// Keeps whole lines from the back.
pub fn tail(text: &str, max_lines: usize, max_bytes: usize) -> Cut<'_> {
    let by_lines = text.split_inclusive('\n').rev().take(max_lines).map(str::len).sum::<usize>();
    if by_lines == text.len() && text.len() <= max_bytes {
        return Cut { text, truncation: None };
    }
    if by_lines <= max_bytes {
        return cut(text, &text[text.len() - by_lines..], TruncatedBy::Lines, false);
    }
    let earliest = text.len() - max_bytes;
    // A line begins where the byte before is a line end; the end of the text begins none.
    let line_start = (earliest..text.len()).find(|at| *at > 0 && text.as_bytes()[at - 1] == b'\n');
    match line_start {
        Some(at) => cut(text, &text[at..], TruncatedBy::Bytes, false),
        None => cut(text, &text[text.ceil_char_boundary(earliest)..], TruncatedBy::Bytes, true),
    }
}

fn cut<'a>(whole: &str, kept: &'a str, truncated_by: TruncatedBy, line_too_long: bool) -> Cut<'a> {
    let truncation = Truncation {
        truncated_by,
        total_lines: count_lines(whole),
        total_bytes: whole.len(),
        output_lines: count_lines(kept),
        output_bytes: kept.len(),
        line_too_long,
    };
    Cut { text: kept, truncation: Some(truncation) }
}

/// `n_bytes` for people: `512B`, `1.5KB`, `2.0MB`.
pub(crate) fn size(n_bytes: usize) -> String {
    match n_bytes {
        0..1024 => format!("{n_bytes}B"),
        1024..1_048_576 => format!("{:.1}KB", n_bytes as f64 / 1024.0),
        _ => format!("{:.1}MB", n_bytes as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
#[path = "truncate_tests.rs"]
mod tests;
