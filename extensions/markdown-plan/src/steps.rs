//! From an item of a list to the text of a step.

use std::fmt::Write as _;

use crate::blocks::{self, Block, Item};
use crate::lines::{self, Line};
use crate::settings::{Config, Done, Nested};

/// How many levels of sub-items become steps of their own; what lies deeper stays in the text of its step.
const MAX_LEVELS: usize = 4;

/// A longer first line is not looked at for decoration: its step is refused for its length anyway.
const MAX_DECORATED_BYTES: usize = 32 << 10;

/// A step and the line at which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// Collects steps by the user's rules.
pub(crate) struct Collector<'c> {
    config: &'c Config,
    pub(crate) steps: Vec<Step>,
    /// Steps that are checked off and left out.
    pub(crate) done: usize,
}

impl<'c> Collector<'c> {
    pub(crate) fn new(config: &'c Config) -> Self {
        Self { config, steps: Vec::new(), done: 0 }
    }

    /// Adds an item. `within` is the title of the phase, or of the item above it.
    pub(crate) fn item(&mut self, item: &Item<'_>, within: Option<&str>) {
        self.add(item, within, 1);
    }

    /// Adds a step that data gave.
    pub(crate) fn step(&mut self, text: &str, within: Option<&str>, line: usize, is_done: bool) {
        let lines = lines::split(text);
        let Some(first) = lines.iter().position(|line| !line.is_blank()) else { return };
        let title = Line { indent: 0, ..lines[first] };
        let (checked, text) = folded(&blocks::section(title, &lines[first + 1..]).lines);
        if !text.is_empty() {
            self.finished(prefixed(within, &text), line, is_done || checked);
        }
    }

    pub(crate) fn nested(&self) -> Nested {
        self.config.nested
    }

    fn add(&mut self, item: &Item<'_>, within: Option<&str>, level: usize) {
        let line = item.lines.first().map_or(0, |line| line.number);
        let below = item.lines.get(1..).unwrap_or_default();
        if self.config.nested == Nested::Steps && level < MAX_LEVELS {
            let blocks = blocks::scan(below);
            let is_list = |block: &Block<'_>| matches!(block, Block::List { .. });
            if blocks.iter().any(|(block, _)| is_list(block)) {
                let (done, title) = folded(item.lines.get(..1).unwrap_or_default());
                if done && self.config.done == Done::Skip {
                    self.done += 1;
                    return;
                }
                let title = title.trim_end_matches(':').trim_end().to_owned();
                let title = prefixed(within, &title);
                let mut own = Vec::new();
                for (block, range) in &blocks {
                    match block {
                        Block::List { items, .. } => {
                            for child in items {
                                let before = self.steps.len();
                                self.add(child, Some(&title), level + 1);
                                // What the item says beside its list goes with the first step of it.
                                if let Some(step) = self.steps.get_mut(before)
                                    && !own.is_empty()
                                {
                                    step.text.push_str(&under(&own));
                                    own.clear();
                                }
                            }
                        }
                        _ => own.extend_from_slice(&below[range.clone()]),
                    }
                }
                if let (Some(last), false) = (self.steps.last_mut(), own.is_empty()) {
                    last.text.push_str(&under(&own));
                }
                return;
            }
        }
        let (done, text) = folded(&item.lines);
        if text.is_empty() {
            return;
        }
        self.finished(prefixed(within, &text), line, done);
    }

    fn finished(&mut self, text: String, line: usize, done: bool) {
        // With the title of its phase before it, a text may begin with what is decoration.
        let (first, below) = text.split_once('\n').map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
        let first = undecorated(first).1;
        let text = below.map_or(first.clone(), |below| format!("{first}\n{below}"));
        // A line of dashes is not something to do.
        if !text.chars().any(char::is_alphanumeric) {
            return;
        }
        if done && self.config.done == Done::Skip {
            self.done += 1;
            return;
        }
        self.steps.push(Step { text, line });
    }
}

/// A title before a text.
pub(crate) fn prefixed(title: Option<&str>, text: &str) -> String {
    match title {
        Some(title) if !title.is_empty() => format!("{title}: {text}"),
        _ => text.to_owned(),
    }
}

/// The title of a phase without its label.
pub(crate) fn phase_title(title: &str) -> String {
    let bare = undecorated(title).1;
    match lines::label(&bare) {
        Some((_, rest)) if !rest.is_empty() => rest.to_owned(),
        _ => match lines::marker(&bare) {
            Some((lines::Marker::Number(_), rest)) if !rest.is_empty() => rest.to_owned(),
            _ => bare,
        },
    }
    .trim_end_matches(':')
    .to_owned()
}

/// An item as one text, and whether it is checked off.
fn folded(lines: &[Line<'_>]) -> (bool, String) {
    let Some((first, below)) = lines.split_first() else { return (false, String::new()) };
    let (mut done, mut text) = undecorated(first.text);
    let mut below = below;
    while text.is_empty() {
        let Some((first, rest)) = below.split_first() else { return (done.unwrap_or(false), text) };
        let (checked, first) = undecorated(first.text);
        done = done.or(checked);
        text = first;
        below = rest;
    }
    text.push_str(&under(below));
    text.truncate(text.trim_end().len());
    (done.unwrap_or(false), text)
}

/// Lines below a first one, moved to the left as far as all of them allow.
fn under(lines: &[Line<'_>]) -> String {
    let visible = lines.iter().filter(|line| !line.is_blank());
    let margin = visible.map(|line| line.indent).min().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let indent = if line.is_blank() { 0 } else { line.indent - margin };
        // Writing into a `String` cannot fail.
        let _written = write!(text, "\n{:indent$}{}", "", line.text);
    }
    text
}

/// A first line without check box, `Step 1:` and bold letters at its start, and what the check box says.
fn undecorated(text: &str) -> (Option<bool>, String) {
    let mut done = None;
    let mut text = text.trim().to_owned();
    if text.len() > MAX_DECORATED_BYTES {
        return (done, text);
    }
    loop {
        if let Some((checked, rest)) = lines::check_box(&text) {
            done = done.or(Some(checked));
            text = rest.trim().to_owned();
        } else if let Some((lines::Label::Step, rest)) =
            lines::label(&text).filter(|(_, rest)| !rest.is_empty())
        {
            text = rest.trim().to_owned();
        } else if let Some(plain) = unbold(&text) {
            text = plain;
        } else {
            return (done, text);
        }
    }
}

/// `**Set up**: install` as `Set up: install`.
fn unbold(text: &str) -> Option<String> {
    ["**", "__"].into_iter().find_map(|sign| {
        let (inner, rest) = text.strip_prefix(sign)?.split_once(sign)?;
        Some(format!("{inner}{rest}").trim().to_owned())
    })
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
