//! Turns the tree into a text of at most so many bytes.

use std::fmt::Write as _;
use std::path::Path;

use crate::tree::Tree;

/// Items for each file, from all to none: the first that makes the map fit is taken.
const ITEMS: [usize; 9] = [usize::MAX, 30, 18, 12, 8, 5, 3, 1, 0];

/// Room for the lines that say what was left out.
const NOTICE_BYTES: usize = 200;

/// A finished map.
pub(crate) struct Map {
    pub(crate) text: String,
    /// Files that it shows.
    pub(crate) shown: usize,
}

pub(crate) fn render(tree: &Tree, below: &Path, max_bytes: usize) -> Map {
    let room = max_bytes.saturating_sub(NOTICE_BYTES);
    let total: u64 = tree.files.iter().map(|file| file.bytes).sum();
    let place = if below.as_os_str().is_empty() {
        "the workspace".to_owned()
    } else {
        format!("`{}`", below.display())
    };
    let mut text = format!("{} files, {} in {place}\n", tree.files.len(), size(total));
    let items = ITEMS.into_iter().find(|items| text.len() + length(tree, *items) <= room);
    let mut shown = 0;
    for file in &tree.files {
        let start = text.len();
        write_file(&mut text, file, items.unwrap_or(0));
        if text.len() > room {
            text.truncate(start);
            break;
        }
        shown += 1;
    }
    notices(&mut text, tree, items, shown);
    Map { text, shown }
}

fn notices(text: &mut String, tree: &Tree, items: Option<usize>, shown: usize) {
    let mut say = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    if shown < tree.files.len() {
        say(format!(
            "… {} more files: pass `path` for a part of them, or a larger `max_bytes`",
            tree.files.len() - shown
        ));
    } else if items != Some(usize::MAX) {
        say("… some items are left out: pass `path` or a larger `max_bytes` to see them".to_owned());
    }
    if tree.cut {
        say("… the workspace has too many files: pass `path`".to_owned());
    }
    let left_out = [
        (tree.binary, "binary"),
        (tree.large, "large"),
        (tree.unreadable, "unreadable"),
        (tree.deep, "too deep (pass `depth`)"),
    ];
    let parts: Vec<String> = left_out
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !parts.is_empty() {
        say(format!("left out: {}", parts.join(", ")));
    }
}

fn length(tree: &Tree, items: usize) -> usize {
    let mut text = String::new();
    let mut sum = 0;
    for file in &tree.files {
        text.clear();
        write_file(&mut text, file, items);
        sum += text.len();
    }
    sum
}

fn write_file(text: &mut String, file: &crate::tree::File, items: usize) {
    // Writing into a `String` cannot fail.
    let _written = writeln!(text, "{} {}", printable(&file.path), size(file.bytes));
    for item in file.items.iter().take(items) {
        let _written = writeln!(text, "  {}", printable(item));
    }
    if items > 0 && file.items.len() > items {
        let _written = writeln!(text, "  … {} more", file.items.len() - items);
    }
}

/// A file name or a line of code must not look like another line of the map.
fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{}.{} KiB", bytes / 1024, bytes % 1024 * 10 / 1024),
        _ => format!("{}.{} MiB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;
