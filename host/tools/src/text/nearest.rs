//! Finds the part of a file that a wrong quotation probably meant.

use std::collections::{HashMap, HashSet};

/// Lines shown at most. Enough to see where one is; whoever wants more reads the file.
const MAX_SHOWN: usize = 12;

/// Characters shown of one line.
const MAX_WIDTH: usize = 200;

/// Lines of a file that are compared letter by letter when not one line is the same; bounds the time for huge files.
const MAX_COMPARED: usize = 20_000;

/// Below this share of common letter pairs two lines have nothing to do with each other.
const ALIKE: f32 = 0.5;

/// Numbered lines of `text` around the place that is most like `wanted`; `None` when nothing is.
pub(crate) fn nearest(text: &str, wanted: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<String> = wanted.lines().map(squeezed).collect();
    let start = by_equal_lines(&lines, &wanted).or_else(|| by_similar_line(&lines, &wanted))?;
    let shown = wanted.len().clamp(1, MAX_SHOWN);
    let numbered = lines.iter().enumerate().skip(start).take(shown).map(|(index, line)| {
        let line: String = line.chars().take(MAX_WIDTH).collect();
        format!("{:>5} | {line}", index + 1)
    });
    Some(numbered.collect::<Vec<_>>().join("\n"))
}

/// Every line of the file that equals a wanted one, but for spaces, votes for where the quotation would then begin.
fn by_equal_lines(lines: &[&str], wanted: &[String]) -> Option<usize> {
    let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| is_telling(line)) {
        positions.entry(line).or_default().push(index);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        for position in positions.get(squeezed(line).as_str()).into_iter().flatten() {
            *votes.entry(index.saturating_sub(*position)).or_default() += 1;
        }
    }
    votes.into_iter().max_by_key(|(start, count)| (*count, usize::MAX - start)).map(|(start, _)| start)
}

/// The longest wanted line is the most telling one.
fn by_similar_line(lines: &[&str], wanted: &[String]) -> Option<usize> {
    let (position, longest) = wanted.iter().enumerate().max_by_key(|(_, line)| line.len())?;
    let pairs = letter_pairs(longest);
    let (index, likeness) = lines
        .iter()
        .take(MAX_COMPARED)
        .enumerate()
        .map(|(index, line)| (index, likeness(&pairs, &letter_pairs(&squeezed(line)))))
        .max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)))?;
    (likeness >= ALIKE).then(|| index.saturating_sub(position))
}

/// Lines such as `}` are everywhere.
fn is_telling(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).count() > 1
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn letter_pairs(line: &str) -> HashSet<(char, char)> {
    line.chars().zip(line.chars().skip(1)).take(2 * MAX_WIDTH).collect()
}

fn likeness(one: &HashSet<(char, char)>, other: &HashSet<(char, char)>) -> f32 {
    let all = one.len() + other.len();
    if all == 0 { 0.0 } else { 2.0 * one.intersection(other).count() as f32 / all as f32 }
}

#[cfg(test)]
#[path = "nearest_tests.rs"]
mod tests;
