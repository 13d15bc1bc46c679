//! The session as a tree: what was said on which branch, where the session stands, and going elsewhere in it.

use super::elsewhere::editable;
use super::own::first_word;
use super::{Next, Repl};
use crate::screen::{self, BOLD, DIM, GOOD, WARN, visible};
use crate::session_command::speech::{self, Who};
use crate::sessions::Kept;
use anyhow::{Result, ensure};
use capstan_session::{Row, Tree};

/// Characters of an entry's text in the outline.
const SHOWN: usize = 70;

/// Most lines of an outline; of a longer session the last ones are shown.
const MAX_ROWS: usize = 400;

impl Repl {
    /// `/tree`
    pub(super) fn tree(&self) -> Result<()> {
        let shown = match self.sessions.current() {
            Kept::File(file) => file.look(outline),
            Kept::Memory(session) => session.look(outline),
        };
        Ok(screen::show(&shown)?)
    }
}

/// One line for each entry that says something, indented at each fork.
fn outline(tree: &Tree) -> String {
    let lines: Vec<_> = tree.rows().filter_map(|row| line(&row)).collect();
    if lines.is_empty() {
        return "  nothing was said yet\n".to_owned();
    }
    let left_out = lines.len().saturating_sub(MAX_ROWS);
    let mut out = String::new();
    if left_out > 0 {
        out = format!("  {DIM}{left_out} lines before these; `capstan session tree` shows all{DIM:#}\n");
    }
    out.extend(lines.into_iter().skip(left_out));
    out
}

/// `None` for what nobody goes on from: results of tools, which belong to the answer that asked for them, and what belongs to
/// the session itself. Where the session stands and what is bookmarked is shown whatever it is.
fn line(row: &Row<'_>) -> Option<String> {
    let is_said = speech::of(row.entry)
        .is_some_and(|speech| !matches!(speech.who, Who::Tool | Who::FailedTool | Who::Note));
    if !is_said && !row.is_leaf && row.label.is_none() {
        return None;
    }
    let (who, text) = speech::in_short(row.entry);
    let indent = "  ".repeat(row.n_forks.min(20));
    let mark = match (row.is_leaf, row.is_on_branch) {
        (true, _) => format!("{GOOD}→{GOOD:#}"),
        (false, true) => format!("{BOLD}•{BOLD:#}"),
        (false, false) => format!("{DIM}·{DIM:#}"),
    };
    let label = row
        .label
        .map(|label| format!(" {WARN}[{}]{WARN:#}", screen::brief(label, SHOWN)))
        .unwrap_or_default();
    let (id, who, text) = (
        visible(row.entry.id.as_str()).into_owned(),
        visible(&who).into_owned(),
        screen::brief(&text, SHOWN),
    );
    Some(format!("  {indent}{mark} {DIM}{id}{DIM:#}{label} {who}: {text}\n"))
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
