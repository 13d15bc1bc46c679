//! Markdown of strangers inside a document of ours.
//!
//! A model's Markdown is worth keeping as Markdown, and must not become more than text: no HTML, no picture that tells a
//! server who reads, no code block that swallows what follows, no heading that passes for one of the document's. A parser
//! decides what is code and what is HTML. Readers differ in which extensions they know, so the text is made inert for both
//! ends of the range: plain CommonMark, and everything that is in use. What cannot be made inert becomes a code block.

use crate::screen;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};
use std::collections::BTreeMap;
use std::ops::Range;

/// How often a text is mended. Taking away one piece of HTML can uncover another, in texts made for it.
const MAX_PASSES: usize = 8;

/// The dialects between which readers lie.
fn dialects() -> [Options; 2] {
    let all = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    [Options::empty(), all]
}

/// `text` as Markdown that is text only.
pub(super) fn inert(text: &str) -> String {
    let mut mended = clean(text);
    for _ in 0..MAX_PASSES {
        let edits = edits_of(&mended, |text, event, range| match event {
            Event::Html(_) | Event::InlineHtml(_) => range
                .clone()
                .filter(|at| text.as_bytes()[*at] == b'<')
                .map(|at| (at, Edit { removed: 1, inserted: "&lt;" }))
                .collect(),
            Event::Start(Tag::Image { .. }) => vec![(range.start, Edit { removed: 0, inserted: "\\" })],
            _ => Vec::new(),
        });
        if edits.is_empty() {
            let lowered = apply(&mended, &edits_of(&mended, lower_heading));
            return if is_inert(&lowered) { lowered } else { fenced(text, "") };
        }
        mended = apply(&mended, &edits);
    }
    fenced(text, "")
}

/// `text` in a code block that nothing in it can end.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let text = clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let line_end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{fence}{language}\n{text}{line_end}{fence}\n")
}

/// `text` on one line, with nothing in it that means anything in Markdown.
pub(super) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 8);
    for c in clean(text).chars() {
        match c {
            '\n' | '\t' => shown.push(' '),
            '<' => shown.push_str("&lt;"),
            '&' => shown.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '>' | '#' | '|' | '!' | '~' | '$' => shown.extend(['\\', c]),
            other => shown.push(other),
        }
    }
    shown.trim().to_owned()
}

/// `text` as a reader should see it: line ends of one kind, and nothing hidden.
pub(super) fn clean(text: &str) -> String {
    screen::visible(&text.replace("\r\n", "\n")).into_owned()
}

#[derive(Debug, Clone, Copy)]
struct Edit {
    removed: usize,
    inserted: &'static str,
}

/// What `find` wants changed, in either dialect.
fn edits_of(
    text: &str,
    find: impl Fn(&str, &Event<'_>, &Range<usize>) -> Vec<(usize, Edit)>,
) -> BTreeMap<usize, Edit> {
    dialects()
        .into_iter()
        .flat_map(|dialect| Parser::new_ext(text, dialect).into_offset_iter())
        .flat_map(|(event, range)| find(text, &event, &range))
        .collect()
}

fn apply(text: &str, edits: &BTreeMap<usize, Edit>) -> String {
    let mut edited = String::with_capacity(text.len() + edits.len() * 4);
    let mut done = 0;
    for (at, edit) in edits {
        edited.push_str(&text[done..*at]);
        edited.push_str(edit.inserted);
        done = at + edit.removed;
    }
    edited + &text[done..]
}

/// The document's own headings are of the first two levels.
fn lower_heading(text: &str, event: &Event<'_>, range: &Range<usize>) -> Vec<(usize, Edit)> {
    let Event::Start(Tag::Heading { level, .. }) = event else { return Vec::new() };
    let heading = text[range.clone()].trim_end();
    if heading.starts_with('#') {
        let inserted = match level {
            HeadingLevel::H1 | HeadingLevel::H2 | HeadingLevel::H3 | HeadingLevel::H4 => "##",
            HeadingLevel::H5 => "#",
            HeadingLevel::H6 => "",
        };
        return vec![(range.start, Edit { removed: 0, inserted })];
    }
    // Underlined; without its line it is a paragraph.
    let line = heading.trim_end_matches(['=', '-']);
    vec![(range.start + line.len(), Edit { removed: 0, inserted: "\\" })]
}

/// Whether nothing of `text` is more than text, in either dialect, and what follows it is not part of it.
fn is_inert(text: &str) -> bool {
    let document = format!("{text}\n\n# end\n");
    dialects().into_iter().all(|dialect| {
        let mut depth = 0usize;
        let mut ends = false;
        for (event, range) in Parser::new_ext(&document, dialect).into_offset_iter() {
            match event {
                Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. }) => return false,
                Event::Start(Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. }) => {
                    ends = depth == 0 && range.start > text.len();
                    if !ends {
                        return false;
                    }
                    depth += 1;
                }
                Event::Start(_) => depth += 1,
                Event::End(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        ends
    })
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
