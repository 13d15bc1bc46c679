//! Private keys in PEM blocks.
//!
//! The lines with BEGIN and END stay, and each line between them stays a line, so that numbers of lines keep their meaning.

use super::{Finding, run, short_run};

/// A block is no longer than this; keys of 16,384 bits have 13 KB.
const MAX_BLOCK: usize = 64 * 1024;

/// Shorter runs are words of headers or of what stands before each line, as with `grep -n`.
const LEAST_RUN: usize = 16;

/// Adds the lines of a private key whose `-----BEGIN` or `-----END` stands at `at`.
pub(super) fn at(text: &str, at: usize, found: &mut Vec<Finding<'_>>) {
    let bytes = text.as_bytes();
    let title = at + b"-----".len();
    let title_end = short_run(bytes, title, 64, |byte| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
    });
    if !bytes[title_end..].starts_with(b"-----") {
        return;
    }
    let name = &text[title..title_end];
    if !name.contains("PRIVATE KEY") {
        return;
    }
    if name.starts_with("BEGIN ") {
        body(bytes, title_end + 5, found);
    } else if name.starts_with("END ")
        && !found.last().is_some_and(|last| last.kind == KIND && is_near(bytes, last.end, at))
    {
        beheaded(bytes, at, found);
    }
}

const KIND: &str = "private key";

fn is_near(bytes: &[u8], from: usize, to: usize) -> bool {
    to - from < 100 && bytes[from..to].iter().filter(|byte| **byte == b'\n').count() <= 2
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// What follows a BEGIN: the runs of each line, up to the next `-----`, or to a line that has none.
fn body(bytes: &[u8], from: usize, found: &mut Vec<Finding<'_>>) {
    let limit = bytes.len().min(from + MAX_BLOCK);
    let mut at = from;
    let mut empty_lines = 0;
    while at < limit && !bytes[at..].starts_with(b"-----") {
        // An escaped line break, where the key is a string of JSON or of an environment file.
        if bytes[at] == b'\\' && bytes.get(at + 1).is_some_and(|byte| matches!(byte, b'n' | b'r' | b't')) {
            at += 2;
        } else if is_key(bytes[at]) {
            let end = run(&bytes[..limit], at, is_key);
            // The last line of a key can be short, and stands alone.
            let is_line = bytes.get(at.wrapping_sub(1)).is_some_and(|byte| matches!(byte, b'\n' | b'n'))
                && bytes.get(end).is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'\\'));
            if end - at >= LEAST_RUN || is_line {
                found.push(Finding { start: at, end, kind: KIND });
                empty_lines = 0;
            }
            at = end;
        } else {
            if bytes[at] == b'\n' {
                empty_lines += 1;
                // The headers of an encrypted key are two lines and an empty one.
                if empty_lines > 4 {
                    return;
                }
            }
            at += 1;
        }
    }
}

/// The lines before an END whose BEGIN was cut off.
fn beheaded(bytes: &[u8], end: usize, found: &mut Vec<Finding<'_>>) {
    let floor = found.last().map_or(0, |last| last.end).max(end.saturating_sub(MAX_BLOCK));
    let mut lines = Vec::new();
    let mut line_end = end;
    while line_end > floor && bytes[line_end - 1] == b'\n' {
        let line_start = bytes[floor..line_end - 1]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(floor, |at| floor + at + 1);
        let line = &bytes[line_start..line_end - 1];
        let is_last = lines.is_empty();
        if !line.iter().all(|byte| is_key(*byte)) || line.len() < if is_last { 1 } else { 40 } {
            break;
        }
        lines.push(Finding { start: line_start, end: line_end - 1, kind: KIND });
        line_end = line_start;
    }
    lines.reverse();
    found.append(&mut lines);
}
