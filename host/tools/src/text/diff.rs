//! What an edit changed, for screens.

use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 4;

/// After this time the diff is less exact, never wrong.
const MAX_TIME: Duration = Duration::from_millis(200);

/// A numbered diff.
pub(crate) struct NumberedDiff {
    /// Lines of `+`, `-` or space, the line's number (of the old text for `-`, else of the new) and the line. A line of
    /// `...` stands for what is left out between two changes.
    pub(crate) text: String,
    /// Counted from one, in the new text.
    pub(crate) first_changed_line: Option<usize>,
}

/// Compares two texts line by line. Line ends do not show.
pub(crate) fn numbered_diff(old: &str, new: &str) -> NumberedDiff {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let width = old.len().max(new.len()).to_string().len();
    let mut config = TextDiff::configure();
    config.timeout(MAX_TIME);
    let diff = config.diff_slices(&old, &new);
    let mut text = Vec::new();
    let mut first_changed_line = None;
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            text.push(format!(" {:>width$} ...", ""));
        }
        let mut next_new = group.first().map_or(0, |operation| operation.new_range().start);
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let (sign, number) = match change.tag() {
                ChangeTag::Equal => (' ', change.new_index()),
                ChangeTag::Insert => ('+', change.new_index()),
                ChangeTag::Delete => ('-', change.old_index()),
            };
            if sign != ' ' && first_changed_line.is_none() {
                first_changed_line = Some(next_new + 1);
            }
            next_new = change.new_index().map_or(next_new, |index| index + 1);
            text.push(format!("{sign}{:>width$} {}", number.unwrap_or(0) + 1, change.value()));
        }
    }
    NumberedDiff { text: text.join("\n"), first_changed_line }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
