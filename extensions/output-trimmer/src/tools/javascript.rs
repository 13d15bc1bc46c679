//! npm, yarn, pnpm; jest, vitest, mocha, node's own tests; coverage tables.

use super::{after_number, begins};
use crate::trim::{Marks, Noise};

pub(super) fn mark(lines: &[&str], marks: &mut Marks) {
    for (at, line) in lines.iter().enumerate() {
        marks[at] = marks[at].or_else(|| noise(line));
    }
    titles(lines, marks);
    tap(lines, marks);
}

fn noise(line: &str) -> Option<Noise> {
    let word = line.trim_start();
    if begins(word, &["npm http ", "npm timing ", "npm sill ", "npm silly ", "npm verb ", "npm info "]) {
        // A request that did not succeed is none of the noise.
        let is_good = !word.starts_with("npm http ")
            || [" 200 ", " 304 ", " 202 "].iter().any(|code| word.contains(code));
        return is_good.then_some(Noise::Downloading);
    }
    if begins(
        word,
        &[
            "Progress: resolved ",
            "Resolving: total ",
            "[1/4] ",
            "[2/4] ",
            "[3/4] ",
            "[4/4] ",
            "➤ YN0013",
            "➤ YN0019",
        ],
    ) {
        return Some(Noise::Downloading);
    }
    if word.starts_with("npm warn deprecated ") {
        // Nothing that the person at work could change: these are dependencies of dependencies.
        return None;
    }
    let is_file = line.starts_with("PASS ") && !line.contains("with");
    let is_test = begins(word, &["✓ ", "✔ ", "√ "]);
    if is_file || is_test {
        return Some(Noise::Passing);
    }
    // A row of a coverage table: four hundreds, and nothing uncovered.
    let mut cells = word.split('|').map(str::trim);
    let name = cells.next()?;
    let cells: Vec<&str> = cells.collect();
    let is_whole = cells.len() >= 4
        && cells[..4].iter().all(|cell| *cell == "100")
        && cells[4..].iter().all(|cell| cell.is_empty());
    (is_whole && name != "All files").then_some(Noise::Covered)
}

/// Titles of groups in which every test passed.
fn titles(lines: &[&str], marks: &mut Marks) {
    let indent = |line: &str| line.len() - line.trim_start().len();
    for at in (0..lines.len()).rev() {
        let line = lines[at];
        if marks[at].is_some() || line.trim().is_empty() {
            continue;
        }
        let is_title = line.starts_with("  ") || line.starts_with("▶ ");
        let below: Vec<usize> = (at + 1..lines.len())
            .take_while(|next| lines[*next].trim().is_empty() || indent(lines[*next]) > indent(line))
            .take(500)
            .filter(|next| !lines[*next].trim().is_empty())
            .collect();
        if is_title && !below.is_empty() && below.iter().all(|next| marks[*next] == Some(Noise::Passing)) {
            marks[at] = Some(Noise::Passing);
        }
    }
}

/// The test anything protocol: `ok 3 - name`, and the block between `---` and `...` behind it.
fn tap(lines: &[&str], marks: &mut Marks) {
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim_start();
        let rest = line.strip_prefix("ok ").and_then(after_number);
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" - "))
            && !line.contains("# SKIP")
            && !line.contains("# TODO")
        {
            marks[at].get_or_insert(Noise::Passing);
            if let Some(end) = block_end(lines, at + 1) {
                for mark in &mut marks[at + 1..=end] {
                    mark.get_or_insert(Noise::Passing);
                }
                at = end;
            }
        } else if line.starts_with("# Subtest: ") && tells_of_passing(lines, at) {
            marks[at].get_or_insert(Noise::Passing);
        }
        at += 1;
    }
}

/// The last line of a block that begins at `start`; all of it is indented alike.
fn block_end(lines: &[&str], start: usize) -> Option<usize> {
    let indent = lines.get(start)?.strip_suffix("---").filter(|indent| indent.trim().is_empty())?;
    let block = lines[start + 1..]
        .iter()
        .take(50)
        .take_while(|line| line.starts_with(indent) && !line.trim().is_empty());
    let end = block.take_while(|line| line.trim() != "...").count() + start + 1;
    lines.get(end).filter(|line| line.trim() == "...").map(|_| end)
}

/// Whether the next result is a passed one.
fn tells_of_passing(lines: &[&str], at: usize) -> bool {
    lines[at + 1..]
        .iter()
        .take(50)
        .map(|line| line.trim_start())
        .find(|line| begins(line, &["ok ", "not ok "]))
        .is_some_and(|line| line.starts_with("ok "))
}
