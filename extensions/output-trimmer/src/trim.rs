//! From an output to a shorter one: each line is kept or belongs to something that can be left out.

use std::collections::BTreeMap;

use crate::settings::Config;
use crate::{clean, command, tools};

/// What a line is that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Noise {
    Passing,
    Building,
    Downloading,
    Progress,
    Repeated,
    Hints,
    LockFile,
    Unchanged,
    Message,
    Covered,
    Untracked,
}

impl Noise {
    /// What the line says that stands in their place.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Passing => "passing tests",
            Self::Building => "build progress",
            Self::Downloading => "downloads",
            Self::Progress => "progress",
            Self::Repeated => "repeats of the line above",
            Self::Hints => "hints",
            Self::LockFile => "changes to lock files",
            Self::Unchanged => "unchanged lines",
            Self::Message => "commit messages",
            Self::Covered => "files that are wholly covered",
            Self::Untracked => "untracked files",
        }
    }
}

/// The marks of all lines.
pub(crate) type Marks = [Option<Noise>];

/// A shorter output.
#[derive(Debug)]
pub(crate) struct Trimmed {
    pub(crate) text: String,
    pub(crate) bytes_before: usize,
    /// Lines by what they were.
    pub(crate) left_out: BTreeMap<&'static str, usize>,
}

/// Stands at the end, because the model cannot know it otherwise.
const HINT: &str = "[shortened by output-trimmer; to read all of it, end the command with \"# full\"]";

/// Below this share of savings the output stays as it is: two versions of it help no one.
const LEAST_PERCENT: usize = 10;

/// The output of a command, shortened; `None` where it stays as it is.
pub(crate) fn trim(command: &str, text: &str, failed: bool, config: &Config) -> Option<Trimmed> {
    let programs = command::programs(command);
    let is_skipped = programs.iter().any(|program| config.skip.iter().any(|skipped| skipped == program));
    if text.len() < config.shortest
        || is_skipped
        || command::wants_all(command)
        || command::only_reads(&programs)
    {
        return None;
    }
    let clean = clean::clean(text);
    let lines: Vec<&str> = clean.lines().collect();
    let mut marks = vec![None; lines.len()];
    tools::mark(&programs, &lines, &mut marks);
    keep_ends(&lines, &mut marks, config);
    if failed && !kept(&lines, &marks).any(says_why) {
        // Something failed, and no rule knows where that is said.
        marks.fill(None);
    }
    mark_progress(&lines, &mut marks);
    mark_repeats(&lines, &mut marks);
    keep_ends(&lines, &mut marks, config);
    let trimmed = assemble(&lines, &mut marks, text.len());
    let saves = text.len().saturating_sub(trimmed.text.len()) * 100 >= text.len() * LEAST_PERCENT;
    saves.then_some(trimmed)
}

/// The last lines say how it ended, and what the host itself added stands there.
fn keep_ends(lines: &[&str], marks: &mut Marks, config: &Config) {
    let spoken = (0..lines.len()).rev().filter(|at| !lines[*at].trim().is_empty());
    for at in spoken.take(2) {
        marks[at] = None;
    }
    for mark in marks.iter_mut() {
        if mark.is_some_and(|noise| config.keep.iter().any(|kept| kept == noise.words())) {
            *mark = None;
        }
    }
}

fn kept<'l>(lines: &'l [&str], marks: &'l Marks) -> impl Iterator<Item = &'l str> {
    let pairs = lines.iter().zip(marks);
    pairs.filter(|(line, mark)| mark.is_none() && !line.starts_with("Command ")).map(|(line, _)| *line)
}

/// Whether a line can be the reason of a failure.
fn says_why(line: &str) -> bool {
    const WORDS: [&str; 18] = [
        "error",
        "fail",
        "fatal",
        "panic",
        "exception",
        "traceback",
        "abort",
        "denied",
        "cannot",
        "could not",
        "not found",
        "no such",
        "undefined",
        "invalid",
        "missing",
        "killed",
        "conflict",
        "rejected",
    ];
    let lower = line.to_ascii_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

/// Of lines that differ in their numbers alone, and tell how far something is, only the last says anything.
fn mark_progress(lines: &[&str], marks: &mut Marks) {
    let mut previous = String::new();
    for (at, line) in lines.iter().enumerate() {
        let shape = if line.contains('%') || line.contains("/s ") || line.contains("ETA") {
            shape(line)
        } else {
            String::new()
        };
        if !shape.is_empty() && shape == previous {
            marks[at - 1].get_or_insert(Noise::Progress);
        }
        previous = shape;
    }
}

/// A line without its numbers, units and bars.
fn shape(line: &str) -> String {
    let is_bar = |character: char| {
        character.is_ascii_digit()
            || character.is_whitespace()
            || matches!(
                character,
                '#' | '='
                    | '-'
                    | '>'
                    | '.'
                    | ':'
                    | '█'
                    | '▓'
                    | '░'
                    | '━'
                    | '╸'
                    | '╺'
                    | '⠋'
                    | '⠙'
                    | '⠹'
                    | '⠸'
                    | '⠼'
                    | '⠴'
                    | '⠦'
                    | '⠧'
                    | '⠇'
                    | '⠏'
            )
    };
    line.chars().filter(|character| !is_bar(*character)).collect()
}

fn mark_repeats(lines: &[&str], marks: &mut Marks) {
    let mut at = 0;
    while at < lines.len() {
        let same = lines[at..].iter().take_while(|line| **line == lines[at]).count();
        if same >= 3 {
            for mark in &mut marks[at + 1..at + same] {
                mark.get_or_insert(Noise::Repeated);
            }
        }
        at += same.max(1);
    }
}

fn assemble(lines: &[&str], marks: &mut Marks, bytes_before: usize) -> Trimmed {
    // Empty lines between what is left out go with it.
    let mut last: Option<(usize, Noise)> = None;
    for at in 0..lines.len() {
        match (marks[at], lines[at].trim().is_empty()) {
            (Some(noise), _) => {
                if let Some((from, noise)) = last {
                    marks[from + 1..at].fill(Some(noise));
                }
                last = Some((at, noise));
            }
            (None, true) => {}
            (None, false) => last = None,
        }
    }
    let mut text = String::new();
    let mut left_out = BTreeMap::new();
    let mut at = 0;
    while at < lines.len() {
        let run = marks[at..].iter().take_while(|mark| mark.is_some()).count();
        let bytes: usize = lines[at..at + run].iter().map(|line| line.len() + 1).sum();
        let note = note(&marks[at..at + run]);
        if run > 0 && bytes > note.len() + 1 {
            for noise in marks[at..at + run].iter().flatten() {
                *left_out.entry(noise.words()).or_default() += 1;
            }
            text.push_str(&note);
            text.push('\n');
            at += run;
        } else {
            for line in &lines[at..at + run.max(1)] {
                text.push_str(line);
                text.push('\n');
            }
            at += run.max(1);
        }
    }
    text.push_str(HINT);
    Trimmed { text, bytes_before, left_out }
}

/// `[… 212 lines of passing tests left out]`
fn note(run: &Marks) -> String {
    let mut kinds: Vec<Noise> = run.iter().flatten().copied().collect();
    kinds.sort_unstable();
    kinds.dedup();
    let words: Vec<&str> = kinds.into_iter().map(Noise::words).collect();
    let lines = if run.len() == 1 { "line" } else { "lines" };
    format!("[… {} {lines} of {} left out]", run.len(), words.join(", "))
}
