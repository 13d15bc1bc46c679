//! Finds the top-level items of a source file, line by line.
//!
//! This is no parser: it looks at how lines begin, in the way that formatted code is written. Items that macros make,
//! items behind other code on one line, and code that is indented at the top level are missed; a line in a long string
//! can be taken for an item.

mod brackets;
mod scripts;

use std::path::Path;

/// Longer signatures are cut: the map tells where something is, the file tells the rest.
const MAX_ITEM_CHARS: usize = 120;

/// More items than this are data or generated code.
const MAX_ITEMS: usize = 400;

/// A language with rules of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Python,
    JavaScript,
    Go,
    C,
    Java,
    Markdown,
}

impl Language {
    /// By the ending of the file name.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "rs" => Self::Rust,
            "py" | "pyi" => Self::Python,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => Self::JavaScript,
            "go" => Self::Go,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Self::C,
            "java" => Self::Java,
            "md" | "markdown" => Self::Markdown,
            _ => return None,
        })
    }
}

/// The items of a text in the order of its lines.
pub(crate) fn outline(language: Language, text: &str) -> Vec<String> {
    let mut items: Vec<String> = match language {
        Language::Markdown => scripts::markdown(text),
        Language::Python => scripts::python(text),
        Language::JavaScript => code_lines(text).filter_map(scripts::javascript).collect(),
        Language::Rust => code_lines(text).filter_map(brackets::rust).collect(),
        Language::Go => code_lines(text).filter_map(brackets::go).collect(),
        Language::C => code_lines(text).filter_map(brackets::c).collect(),
        Language::Java => code_lines(text).filter_map(brackets::java).collect(),
    };
    items.truncate(MAX_ITEMS);
    items
}

/// The lines that start at the margin, outside `/* … */`.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut in_comment = false;
    text.lines().filter(move |line| {
        let outside = !in_comment;
        let mut rest = *line;
        loop {
            let sign = if in_comment { "*/" } else { "/*" };
            let Some(at) = rest.find(sign) else { break };
            // `//` before `/*` hides it, and so does a quote, in which it is most likely text.
            if !in_comment && (rest[..at].contains("//") || rest[..at].matches('"').count() % 2 == 1) {
                break;
            }
            in_comment = !in_comment;
            rest = &rest[at + 2..];
        }
        outside && line.chars().next().is_some_and(|first| !first.is_whitespace())
    })
}

/// A signature: the line up to its body, with single spaces, cut where it is too long.
fn signature(line: &str, ends: &[&str]) -> String {
    let end = ends.iter().filter_map(|end| line.find(end)).min().unwrap_or(line.len());
    let words: Vec<&str> = line[..end].split_whitespace().collect();
    let text = words.join(" ");
    if text.chars().count() <= MAX_ITEM_CHARS {
        return text;
    }
    let mut cut: String = text.chars().take(MAX_ITEM_CHARS).collect();
    cut.push('…');
    cut
}

/// The words of a line up to the first sign that is no part of a name.
fn first_words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|character: char| !(character.is_alphanumeric() || matches!(character, '_' | '@' | '!')))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;
