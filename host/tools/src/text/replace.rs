//! Replaces pieces of a text. All or nothing, and every byte outside of the pieces stays.

use crate::text::fold::{Folded, Folding};
use std::ops::Range;

const BYTE_ORDER_MARK: &str = "\u{FEFF}";

/// Occurrences counted at most; beyond this the exact number helps nobody.
const MAX_COUNT: usize = 1000;

/// One replacement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replacement<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) occurrence: Occurrence,
}

/// Which occurrence is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occurrence {
    /// The only one; several are an error.
    Only,
    /// The first one.
    First,
}

/// Why nothing was replaced. Numbers are indices of replacements.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    EmptyOld(usize),
    NotFound(usize),
    /// With the number of occurrences.
    NotUnique(usize, usize),
    Overlap(usize, usize),
    NoChange,
}

/// The text afterwards.
#[derive(Debug)]
pub(crate) struct Replaced {
    pub(crate) text: String,
    /// The replacements whose old text was not in the file as it was written, only in its folded form.
    pub(crate) loose: Vec<usize>,
}

/// Replaces all or nothing. Every old text is looked for in `original`, not in the outcome of the one before.
///
/// Line ends of the old and new texts do not matter: they are those of the file. A text that is found exactly is not
/// looked for loosely, so that a file which holds both `"a"` and `“a”` can be edited at either place.
pub(crate) fn replace(original: &str, replacements: &[Replacement<'_>]) -> Result<Replaced, Misfit> {
    let start = if original.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let body = &original[start..];
    let line_end = if body.find('\n').is_some_and(|at| body[..at].ends_with('\r')) { "\r\n" } else { "\n" };
    let exact = Folded::new(body, Folding::LineEnds);
    let mut loosely = None;
    let mut found = Vec::new();
    let mut loose = Vec::new();
    for (index, replacement) in replacements.iter().enumerate() {
        let old = replacement.old.replace("\r\n", "\n");
        if old.is_empty() {
            return Err(Misfit::EmptyOld(index));
        }
        let mut places = places(&exact, &old, LineTail::Free);
        if places.is_empty() {
            let haystack = loosely.get_or_insert_with(|| Folded::new(body, Folding::Loose));
            let needle = Folded::new(&old, Folding::Loose);
            let tail = if needle.trimmed_at_end { LineTail::EndsLine } else { LineTail::Free };
            places = self::places(haystack, &needle.text, tail);
            loose.push(index);
        }
        match (places.as_slice(), replacement.occurrence) {
            ([], _) => return Err(Misfit::NotFound(index)),
            ([place], _) | ([place, ..], Occurrence::First) => found.push((place.clone(), index)),
            (_, Occurrence::Only) => return Err(Misfit::NotUnique(index, places.len())),
        }
    }
    found.sort_by_key(|(place, _)| place.start);
    if let Some(pair) = found.windows(2).find(|pair| pair[0].0.end > pair[1].0.start) {
        let (one, other) = (pair[0].1, pair[1].1);
        return Err(Misfit::Overlap(one.min(other), one.max(other)));
    }
    let mut text = String::with_capacity(original.len());
    text.push_str(&original[..start]);
    let mut at = 0;
    for (place, index) in found {
        text.push_str(&body[at..place.start]);
        text.push_str(&replacements[index].new.replace("\r\n", "\n").replace('\n', line_end));
        at = place.end;
    }
    text.push_str(&body[at..]);
    if text == original { Err(Misfit::NoChange) } else { Ok(Replaced { text, loose }) }
}

/// What must follow an occurrence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineTail {
    Free,
    /// The end of a line: spaces at the end of the old text were dropped, so `a ` must not be found in `ab`.
    EndsLine,
}

/// Where `needle` occurs, in the original's terms. Occurrences that overlap each other count, because either could be
/// meant.
fn places(haystack: &Folded, needle: &str, tail: LineTail) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut from = 0;
    let Some(step) = needle.chars().next().map(char::len_utf8) else { return places };
    while let Some(at) = haystack.text[from..].find(needle).map(|at| from + at)
        && places.len() < MAX_COUNT
    {
        let after = &haystack.text[at + needle.len()..];
        if (tail == LineTail::Free || after.is_empty() || after.starts_with('\n'))
            && let Some(place) = haystack.original(at..at + needle.len())
        {
            places.push(place);
        }
        from = at + step;
    }
    places
}

#[cfg(test)]
#[path = "replace_tests.rs"]
mod tests;
