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

/// The first line of `text`, shortened to `max_chars`, for one-line reports.
pub(crate) fn brief(text: &str, max_chars: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut shown: String = visible(line).chars().take(max_chars).collect();
    if shown.chars().count() < visible(text.trim()).chars().count() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
