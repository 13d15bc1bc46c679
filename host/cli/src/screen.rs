//! The terminal. Text of models, tools and extensions is shown escaped: nothing that they write can move the cursor, hide
//! text or change the title.

use anstyle::{AnsiColor, Style};
use capstan_policy::text::is_hidden;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

/// Quiet text: what goes on beside the conversation.
pub(crate) const DIM: Style = Style::new().dimmed();
/// Names and headings.
pub(crate) const BOLD: Style = Style::new().bold();
/// Done.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Failed or denied.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// Wants attention.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();

/// Writes data to stdout. Answers false once nobody reads it any more, which is the reader's right and no error.
pub(crate) fn data(text: &str) -> io::Result<bool> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(reason) if reason.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(reason) => Err(reason),
    }
}

/// Writes styled text to stdout; the style is left out where stdout is no terminal, or `NO_COLOR` is set.
pub(crate) fn show(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(reason) if reason.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes a line of talk to stderr. There is nowhere to report to when that fails.
pub(crate) fn note(text: &str) {
    drop(writeln!(anstream::stderr().lock(), "{text}"));
}

/// Whether stderr shows no styles. For what reaches it by another way than [`note`].
pub(crate) fn is_plain() -> bool {
    anstream::AutoStream::choice(&io::stderr()) == anstream::ColorChoice::Never
}

/// Writes an error with its causes to stderr.
pub(crate) fn complain(error: &anyhow::Error) {
    note(&format!("{BAD}capstan:{BAD:#} {}", visible(&whole(error))));
}

/// An error with its causes, each once: many errors show their source in their own text already.
pub(crate) fn whole(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// `text` with everything escaped that a terminal would act on or an eye would miss.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// A path as it may be shown: whoever names a file is no more trusted than whoever writes one.
pub(crate) fn path(path: &Path) -> String {
    visible(&path.to_string_lossy()).replace('\n', "\\n")
}

/// A number of bytes as people read it.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

/// The first line of `text`, shortened to `max_chars`, for one-line reports. Costs no more than what is shown, however long the
/// text is.
pub(crate) fn brief(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    let end = line.char_indices().nth(max_chars).map_or(line.len(), |(at, _)| at);
    let escaped = visible(line.get(..end).unwrap_or_default());
    let mut shown: String = escaped.chars().take(max_chars).collect();
    if end < text.len() || shown.len() < escaped.len() {
        shown.push('…');
    }
    shown
}

/// How much of one text is put on the screen: no person reads more, and a terminal takes minutes for what a program writes in
/// a moment. The session holds all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    bytes: usize,
    lines: usize,
    is_over: bool,
}

/// Most bytes of one text, before escaping.
const MAX_SHOWN_BYTES: usize = 256 << 10;

/// Most lines of one text.
const MAX_SHOWN_LINES: usize = 5_000;

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: MAX_SHOWN_BYTES, lines: MAX_SHOWN_LINES, is_over: false }
    }
}

impl Budget {
    /// The next piece of the text as it may be shown: escaped, cut where the budget ends, with a line there that says so. What
    /// follows is nothing.
    pub(crate) fn show<'t>(&mut self, piece: &'t str) -> Cow<'t, str> {
        if self.is_over {
            return Cow::Borrowed("");
        }
        // Where the line after the last one would begin.
        let end_of_lines = piece.match_indices('\n').nth(self.lines).map_or(piece.len(), |(at, _)| at);
        let end = piece.floor_char_boundary(self.bytes).min(end_of_lines);
        let kept = piece.get(..end).unwrap_or_default();
        if end == piece.len() {
            self.bytes -= kept.len();
            self.lines = self.lines.saturating_sub(kept.matches('\n').count());
            return visible(kept);
        }
        self.is_over = true;
        Cow::Owned(format!("{}\n[what follows is not shown; the session holds it]\n", visible(kept)))
    }
}

/// A text of which the beginning is enough, escaped.
pub(crate) fn beginning(text: &str) -> Cow<'_, str> {
    Budget::default().show(text)
}

/// Writes a line of JSON to stdout, like [`data`]. What a terminal would act on stands in it as an escape of JSON, which reads
/// back as the same text.
pub(crate) fn json(text: &str) -> io::Result<bool> {
    data(&format!("{}\n", json_visible(text)))
}

/// JSON text with everything escaped that a terminal would act on or an eye would miss. Outside of strings JSON has none of it.
pub(crate) fn json_visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
