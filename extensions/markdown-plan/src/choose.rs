//! Which list of a text is the plan.

use std::ops::Range;

use crate::blocks::{self, Block, Item, Placed};
use crate::lines::{self, Label, Line};
use crate::steps;

/// Words of a heading that say: here is the plan.
const PLAN_WORDS: [&str; 9] =
    ["plan", "steps", "tasks", "todo", "todos", "roadmap", "checklist", "procedure", "instructions"];

/// Words of a heading that say: this is about the plan, and not it.
const OTHER_WORDS: [&str; 27] = [
    "note",
    "notes",
    "risk",
    "risks",
    "assumption",
    "assumptions",
    "consideration",
    "considerations",
    "question",
    "questions",
    "alternative",
    "alternatives",
    "reference",
    "references",
    "summary",
    "context",
    "background",
    "scope",
    "dependencies",
    "criteria",
    "goal",
    "goals",
    "requirements",
    "prerequisites",
    "files",
    "findings",
    "overview",
];

/// Steps that may be the plan, and how much speaks for them.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    score: i32,
    ordered: bool,
    /// With the title of the phase that they belong to.
    pub(crate) items: Vec<(Option<String>, Item<'a>)>,
}

/// The best candidate: the one under a heading that speaks of a plan, else the longest, else the numbered, else the first.
pub(crate) fn choose<'a>(lines: &[Line<'a>]) -> Option<Candidate<'a>> {
    let blocks = blocks::scan(lines);
    let mut found = lists(&blocks);
    found.extend(headings(lines, &blocks));
    found.extend(phases(lines, &blocks));
    let mut best: Option<Candidate<'a>> = None;
    for candidate in found {
        let rank = |it: &Candidate<'_>| (it.score, it.items.len(), it.ordered);
        if best.as_ref().is_none_or(|best| rank(&candidate) > rank(best)) {
            best = Some(candidate);
        }
    }
    best.filter(|best| !best.items.is_empty())
}

/// What headings and the line before a list say of it.
fn named(text: &str) -> i32 {
    let has = |words: &[&str]| {
        text.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word.to_lowercase().as_str()))
    };
    match (has(&OTHER_WORDS), has(&PLAN_WORDS)) {
        (true, _) => -2,
        (false, true) => 6,
        (false, false) => 0,
    }
}

/// The headings above a place, outermost first.
#[derive(Default, Clone)]
struct Chain<'a>(Vec<(usize, &'a str)>);

impl<'a> Chain<'a> {
    fn enter(&mut self, level: usize, title: &'a str) {
        self.0.retain(|(above, _)| *above < level);
        self.0.push((level, title));
    }

    fn score(&self) -> i32 {
        let Some(((_, closest), above)) = self.0.split_last() else { return 0 };
        match named(closest) {
            0 if above.iter().any(|(_, title)| named(title) > 0) => 4,
            score => score,
        }
    }
}

/// Each list on its own.
fn lists<'a>(blocks: &[Placed<'a>]) -> Vec<Candidate<'a>> {
    let mut chain = Chain::default();
    let mut found = Vec::new();
    for (block, _) in blocks {
        match block {
            Block::Heading { level, title, .. } => chain.enter(*level, title),
            Block::List { items, ordered, intro, .. } => {
                let introduced =
                    intro.filter(|intro| intro.ends_with(':') || intro.starts_with('<')).map_or(0, named);
                let score = if introduced == 0 { chain.score() } else { introduced };
                let items = items.iter().map(|item| (None, item.clone())).collect();
                found.push(Candidate { score, ordered: *ordered, items });
            }
            Block::Code { .. } | Block::Text => {}
        }
    }
    found
}

/// The headings of one level that follow each other below the same heading.
struct Siblings<'a> {
    above: Chain<'a>,
    level: usize,
    /// Position of the heading among the blocks.
    members: Vec<usize>,
}

fn siblings<'a>(blocks: &[Placed<'a>], of: impl Fn(&Option<Label>) -> bool) -> Vec<Siblings<'a>> {
    let mut chain = Chain::default();
    let mut groups: Vec<Siblings<'a>> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (at, (block, _)) in blocks.iter().enumerate() {
        let Block::Heading { level, title, label, .. } = block else { continue };
        // A higher heading ends the groups below it; so does another of the same level that is no part of the group.
        open.retain(|group| groups[*group].level < *level || (groups[*group].level == *level && of(label)));
        if of(label) {
            match open.iter().find(|group| groups[**group].level == *level) {
                Some(group) => groups[*group].members.push(at),
                None => {
                    let mut above = chain.clone();
                    above.0.retain(|(above, _)| above < level);
                    open.push(groups.len());
                    groups.push(Siblings { above, level: *level, members: vec![at] });
                }
            }
        }
        chain.enter(*level, title);
    }
    groups
}

/// The blocks below a heading, to the next one that is not below it.
fn below(blocks: &[Placed<'_>], at: usize, level: usize) -> Range<usize> {
    let ends = |block: &Block<'_>| matches!(block, Block::Heading { level: other, .. } if *other <= level);
    let end = blocks[at + 1..].iter().position(|(block, _)| ends(block));
    at + 1..end.map_or(blocks.len(), |offset| at + 1 + offset)
}

/// A heading with all that is below it.
fn section<'a>(
    lines: &[Line<'a>],
    blocks: &[Placed<'a>],
    at: usize,
    level: usize,
    title: &'a str,
) -> Item<'a> {
    let range = below(blocks, at, level);
    let inside = match (blocks[range.clone()].first(), blocks[range].last()) {
        (Some((_, first)), Some((_, last))) => &lines[first.start..last.end],
        _ => &[],
    };
    let number = lines[blocks[at].1.start].number;
    blocks::section(Line { number, indent: 0, text: numberless(title) }, inside)
}

/// `1. Set up` as `Set up`.
fn numberless(title: &str) -> &str {
    match lines::marker(title) {
        Some((_, rest)) if !rest.is_empty() => rest,
        _ => title,
    }
}

/// Headings that are the steps: `## Step 1: …`, `### 1. …`, lines such as `Step 1: …`.
fn headings<'a>(lines: &[Line<'a>], blocks: &[Placed<'a>]) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    for (label, least, base) in [(Label::Step, 1, 8), (Label::Number, 2, 2)] {
        for group in siblings(blocks, |other| *other == Some(label)) {
            if group.members.len() < least {
                continue;
            }
            let context = group.above.score();
            let score = if label == Label::Step { base.max(base + context) } else { base + context };
            let items = group.members.iter().filter_map(|at| match &blocks[*at].0 {
                Block::Heading { level, title, .. } => {
                    Some((None, section(lines, blocks, *at, *level, title)))
                }
                _ => None,
            });
            found.push(Candidate { score, ordered: true, items: items.collect() });
        }
    }
    found
}

/// Headings that hold the steps: `## Phase 1: …` with a list below each, or all parts of a heading that speaks of a plan.
fn phases<'a>(lines: &[Line<'a>], blocks: &[Placed<'a>]) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    for group in siblings(blocks, |label| *label == Some(Label::Phase)) {
        found.push(joined(lines, blocks, &group, 8.max(8 + group.above.score())));
    }
    for group in siblings(blocks, Option::is_none) {
        let titles = || {
            group.members.iter().filter_map(|at| match &blocks[*at].0 {
                Block::Heading { title, .. } => Some(*title),
                _ => None,
            })
        };
        // Where one of the parts is called the plan, the others are not.
        if group.above.score() > 0 && titles().all(|title| named(title) <= 0) {
            let candidate = joined(lines, blocks, &group, 5);
            if candidate.items.iter().filter(|(phase, _)| phase.is_some()).count() > 0 {
                found.push(candidate);
            }
        }
    }
    found
}

fn joined<'a>(lines: &[Line<'a>], blocks: &[Placed<'a>], group: &Siblings<'a>, score: i32) -> Candidate<'a> {
    let mut items = Vec::new();
    for at in &group.members {
        let Block::Heading { level, title, label, .. } = &blocks[*at].0 else { continue };
        if named(title) < 0 {
            continue;
        }
        let phase = steps::phase_title(title);
        let before = items.len();
        let range = below(blocks, *at, *level);
        let mut in_step = false;
        for inner in range {
            match &blocks[inner].0 {
                Block::Heading { level, title, label, .. } => {
                    in_step = *label == Some(Label::Step);
                    if in_step {
                        items.push((Some(phase.clone()), section(lines, blocks, inner, *level, title)));
                    }
                }
                Block::List { items: list, .. } if !in_step => {
                    items.extend(list.iter().map(|item| (Some(phase.clone()), item.clone())));
                }
                _ => {}
            }
        }
        // A phase without a list is one step.
        if items.len() == before && label.is_some() {
            let mut item = section(lines, blocks, *at, *level, title);
            if let Some(first) = item.lines.first_mut()
                && let Some((_, rest)) = lines::label(first.text)
                && !rest.is_empty()
            {
                first.text = rest;
            }
            items.push((None, item));
        }
    }
    Candidate { score, ordered: true, items }
}
