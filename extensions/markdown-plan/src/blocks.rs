//! The text as headings, lists, blocks of code and paragraphs.
//!
//! This is not a reader of all of Markdown: it is as lenient as a person who looks for the plan in a model's answer. A
//! sub-item may be indented by one space or by eight, an unindented explanation between two numbered items belongs to the
//! first of them, and a bullet below a number is a part of it.

use std::ops::Range;

use crate::lines::{self, Fence, Label, Line, Marker};

/// Below all headings that Markdown has: `Step 1: …` as a line of its own.
const LABEL_LEVEL: usize = 7;

/// A line that is bold from end to end heads what follows.
const BOLD_LEVEL: usize = 6;

/// One item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item<'a> {
    /// Its text, then what belongs to it. The first line stands at column zero.
    pub(crate) lines: Vec<Line<'a>>,
}

/// A piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block<'a> {
    Heading { level: usize, title: &'a str, label: Option<Label>, line: usize },
    List { items: Vec<Item<'a>>, ordered: bool, intro: Option<&'a str>, line: usize },
    Code { info: &'a str, body: Range<usize>, line: usize },
    Text,
}

/// A block and the lines that it is made of.
pub(crate) type Placed<'a> = (Block<'a>, Range<usize>);

/// The pieces of the lines, from first to last.
pub(crate) fn scan<'a>(lines: &[Line<'a>]) -> Vec<Placed<'a>> {
    let mut blocks: Vec<Placed<'a>> = Vec::new();
    // The last line of the paragraph before, which may say what the list after it is.
    let mut intro = None;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let start = at;
        at += 1;
        if line.is_blank() {
            continue;
        }
        if let Some(fence) = Fence::open(line.text) {
            let close = lines[at..].iter().position(|line| fence.closes(line.text));
            let end = close.map_or(lines.len(), |offset| at + offset);
            let body = at..end;
            at = (end + 1).min(lines.len());
            blocks.push((Block::Code { info: fence.info, body, line: line.number }, start..at));
            continue;
        }
        if let Some((level, title, label)) = heading(line) {
            blocks.push((Block::Heading { level, title, label, line: line.number }, start..at));
            intro = None;
            continue;
        }
        if let Some((marker, _)) = lines::marker(line.text) {
            let ordered = matches!(marker, Marker::Number(_));
            let (items, end) = List::read(lines, start, ordered);
            blocks.push((Block::List { items, ordered, intro: intro.take(), line: line.number }, start..end));
            at = end;
            continue;
        }
        if let (true, Some(title)) = (is_underline(line.text), intro)
            && let Some((last @ Block::Text, _)) = blocks.last_mut()
        {
            let level = if line.text.starts_with('=') { 1 } else { 2 };
            *last = Block::Heading { level, title, label: label_of(title), line: line.number };
            intro = None;
            continue;
        }
        intro = (!lines::is_rule(line.text)).then_some(line.text);
        blocks.push((Block::Text, start..at));
    }
    blocks
}

fn is_underline(text: &str) -> bool {
    text.len() >= 2 && (text.chars().all(|c| c == '=') || text.chars().all(|c| c == '-'))
}

/// The label of a heading, also where it is only a number.
fn label_of(title: &str) -> Option<Label> {
    let plain = title.trim_start_matches(['*', '_']);
    match lines::label(plain) {
        Some((label, _)) => Some(label),
        None => matches!(lines::marker(plain), Some((Marker::Number(_), _))).then_some(Label::Number),
    }
}

/// A heading, a bold line, or a line such as `Step 1: …`.
fn heading<'a>(line: &Line<'a>) -> Option<(usize, &'a str, Option<Label>)> {
    if line.indent > 3 {
        return None;
    }
    if let Some((level, title)) = lines::heading(line.text) {
        return Some((level, title, label_of(title)));
    }
    if let Some(title) = lines::bold_line(line.text) {
        let label = label_of(title);
        let level = if matches!(label, Some(Label::Step | Label::Number)) { LABEL_LEVEL } else { BOLD_LEVEL };
        return Some((level, title, label));
    }
    let plain = line.text.trim_start_matches(['*', '_']);
    let (label, _) = lines::label(plain)?;
    let level = if label == Label::Phase { BOLD_LEVEL } else { LABEL_LEVEL };
    Some((level, line.text, Some(label)))
}

/// A list that is being read.
struct List<'a> {
    items: Vec<Item<'a>>,
    number: u32,
    /// Lines behind the last item that belong to it only if the next number follows: their first position, and they.
    pending: Option<usize>,
    /// Unindented lines belonged to an item before, so they do to the last one.
    loose: bool,
    /// Empty lines since the last one of the item. They count when another follows.
    blanks: usize,
    fence: Option<(Fence<'a>, usize)>,
}

impl<'a> List<'a> {
    /// The items of the list that begins at `start`, and where it ends.
    fn read(lines: &[Line<'a>], start: usize, ordered: bool) -> (Vec<Item<'a>>, usize) {
        let base = lines[start].indent;
        let mut list =
            Self { items: Vec::new(), number: 0, pending: None, loose: false, blanks: 0, fence: None };
        let mut after_blank = false;
        let mut at = start;
        while let Some(line) = lines.get(at) {
            if list.in_code(line, base) {
                if list.pending.is_none() {
                    list.push(*line);
                }
            } else if line.is_blank() {
                after_blank = true;
                if list.pending.is_none() {
                    list.blanks += 1;
                }
                at += 1;
                continue;
            } else if line.indent > base && !list.items.is_empty() {
                list.belongs(*line);
            } else if !list.outdented(line, base, ordered, after_blank, lines, at) {
                break;
            }
            after_blank = false;
            at += 1;
        }
        let end = list.finish(lines, at, base);
        (list.items, end)
    }

    /// A line that is not indented further than the items: whether the list goes on.
    fn outdented(
        &mut self,
        line: &Line<'a>,
        base: usize,
        ordered: bool,
        after_blank: bool,
        lines: &[Line<'a>],
        at: usize,
    ) -> bool {
        let marker = lines::marker(line.text);
        match marker {
            Some((Marker::Number(number), rest)) if ordered => {
                if base - line.indent.min(base) > 3 {
                    return false;
                }
                let follows = number == self.number + 1 || (number == self.number && number <= 1);
                let restarts = number <= 1 && self.number > 1 && after_blank;
                if !self.items.is_empty() && (restarts || (self.pending.is_some() && !follows)) {
                    return false;
                }
                if let Some(from) = self.pending.take() {
                    self.attach(&lines[from..at]);
                    self.loose = true;
                }
                self.number = number;
                self.begin(line, rest, base);
                true
            }
            Some((Marker::Bullet, rest)) if !ordered => {
                if base - line.indent.min(base) > 3 {
                    return false;
                }
                self.begin(line, rest, base);
                true
            }
            Some((Marker::Number(_), _)) => false,
            // A bullet below a number.
            Some((Marker::Bullet, _)) if !after_blank && self.pending.is_none() => {
                self.loose = true;
                self.belongs(*line);
                true
            }
            Some(_) => self.wait(line, at),
            None if heading(line).is_some() || lines::is_tag(line.text) => false,
            None if lines::is_rule(line.text) => ordered,
            None if !after_blank && self.pending.is_none() => {
                self.belongs(*line);
                true
            }
            None => ordered && self.wait(line, at),
        }
    }

    fn begin(&mut self, line: &Line<'a>, rest: &'a str, base: usize) {
        self.items.push(Item { lines: Vec::new() });
        self.blanks = 0;
        self.push(Line { indent: 0, text: rest, ..*line });
        self.fence = Fence::open(rest).map(|fence| (fence, base + 1));
    }

    /// Puts a line to the last item, unless the lines before it wait for a decision.
    fn belongs(&mut self, line: Line<'a>) {
        if let Some(fence) = Fence::open(line.text) {
            self.fence = Some((fence, line.indent));
        }
        if self.pending.is_none() {
            self.push(line);
        }
    }

    fn push(&mut self, line: Line<'a>) {
        let Some(item) = self.items.last_mut() else { return };
        let blank = Line { indent: 0, text: "", number: line.number };
        item.lines.extend(std::iter::repeat_n(blank, std::mem::take(&mut self.blanks)));
        item.lines.push(line);
    }

    fn wait(&mut self, line: &Line<'a>, at: usize) -> bool {
        self.pending.get_or_insert(at);
        if let Some(fence) = Fence::open(line.text) {
            self.fence = Some((fence, line.indent));
        }
        true
    }

    /// Whether a line lies in a block of code of the item. One that was indented ends with its item.
    fn in_code(&mut self, line: &Line<'a>, base: usize) -> bool {
        let Some((fence, indent)) = self.fence else { return false };
        let left = !line.is_blank() && line.indent <= base && indent > base;
        if left || fence.closes(line.text) {
            self.fence = None;
        }
        !left
    }

    /// Lines that waited, as lines of the last item.
    fn attach(&mut self, lines: &[Line<'a>]) {
        lines.iter().for_each(|line| self.push(*line));
    }

    /// What waits behind the last item: its bullets, if the items before had such too; else it is no part of the list.
    fn finish(&mut self, lines: &[Line<'a>], at: usize, base: usize) -> usize {
        let Some(from) = self.pending.take() else { return at };
        if !self.loose {
            return from;
        }
        let is_part = |line: &Line<'a>| {
            line.is_blank()
                || line.indent > base
                || matches!(lines::marker(line.text), Some((Marker::Bullet, _)))
        };
        let count = lines[from..at].iter().take_while(|line| is_part(line)).count();
        self.attach(&lines[from..from + count]);
        from + count
    }
}

/// The lines of a section as an item: its heading, then what it holds.
pub(crate) fn section<'a>(title: Line<'a>, lines: &[Line<'a>]) -> Item<'a> {
    let mut list = List {
        items: vec![Item { lines: vec![title] }],
        number: 0,
        pending: None,
        loose: false,
        blanks: 0,
        fence: None,
    };
    list.attach(lines);
    list.items.pop().unwrap_or(Item { lines: Vec::new() })
}
