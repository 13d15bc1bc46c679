//! Python, JavaScript with TypeScript, and Markdown.

use super::{first_words, signature};

/// `class`, `def` and `async def` at the margin, outside strings of three quotes.
pub(super) fn python(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut open: Option<&str> = None;
    for line in text.lines() {
        let was_open = open.is_some();
        let mut rest = line;
        loop {
            let next = match open {
                Some(quotes) => rest.find(quotes).map(|at| (at, quotes)),
                // Whichever kind comes first.
                None => ["\"\"\"", "'''"]
                    .iter()
                    .filter_map(|quotes| Some((rest.find(quotes)?, *quotes)))
                    .min_by_key(|(at, _)| *at)
                    .filter(|(at, _)| !rest[..*at].contains('#')),
            };
            let Some((at, quotes)) = next else { break };
            open = if open.is_some() { None } else { Some(quotes) };
            rest = &rest[at + quotes.len()..];
        }
        if was_open {
            continue;
        }
        let line = line.trim_end();
        if line.starts_with("class ") || line.starts_with("def ") || line.starts_with("async def ") {
            items.push(signature(line.strip_suffix(':').unwrap_or(line), &["  #"]));
        }
    }
    items
}

/// Exports, functions, classes and types; constants only where they are exported or hold a function.
pub(super) fn javascript(line: &str) -> Option<String> {
    let first = first_words(line).next()?;
    if !line.starts_with(first) {
        return None;
    }
    let second = first_words(line).nth(1).unwrap_or_default();
    let found = match first {
        "export" => {
            !line.starts_with("export {") && !line.starts_with("export *") && !line.starts_with("export{")
        }
        "function" | "class" | "interface" | "enum" | "namespace" => !second.is_empty(),
        "async" => second == "function",
        "abstract" => second == "class",
        "type" => line.contains('='),
        "declare" => true,
        "const" | "let" | "var" => {
            line.contains("=>") || line.contains("= function") || line.contains("= async")
        }
        "module" => line.starts_with("module.exports"),
        _ => false,
    };
    found.then(|| signature(line, &[" {", "{", ";", " =>", " = ("]))
}

/// Headings down to the third level, outside fenced code.
pub(super) fn markdown(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut fence: Option<char> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let mark = trimmed.chars().next().filter(|first| matches!(first, '`' | '~'));
        if let Some(mark) = mark
            && trimmed.chars().take_while(|character| *character == mark).count() >= 3
        {
            match fence {
                None => fence = Some(mark),
                Some(open) if open == mark => fence = None,
                Some(_) => {}
            }
            continue;
        }
        let level = line.chars().take_while(|character| *character == '#').count();
        if fence.is_none() && (1..=3).contains(&level) && line[level..].starts_with(' ') {
            items.push(signature(line.trim_end_matches(['#', ' ']), &[]));
        }
    }
    items
}
