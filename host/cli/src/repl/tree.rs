//! The session as a tree: what was said on which branch, where the session stands, and going elsewhere in it.

use super::elsewhere::editable;
use super::summary::Waited;
use super::terminal::Line;
use super::{Next, Repl};
use crate::print::Stop;
use crate::screen::{self, BOLD, DIM, GOOD, WARN, visible};
use crate::session_command::speech::{self, Who};
use crate::sessions::Kept;
use anyhow::Result;
use capstan_agent::NavigateOptions;
use capstan_ports::EntryId;
use capstan_ports::entry::Entry;
use capstan_session::{Row, Tree};
use std::collections::HashSet;

/// Characters of an entry's text in the outline.
const SHOWN: usize = 70;

/// Most lines of an outline; of a longer session the last ones are shown.
const MAX_ROWS: usize = 400;

/// Deeper forks are indented no further, because what a line says would leave the screen.
const MAX_INDENTS: usize = 12;

impl Repl {
    /// `/tree`
    pub(super) fn tree(&self) -> Result<()> {
        let shown = match self.sessions.current() {
            Kept::File(file) => file.look(outline),
            Kept::Memory(session) => session.look(outline),
        };
        Ok(screen::show(&shown)?)
    }

    /// `/goto ID`
    pub(super) async fn go_to(&mut self, id: &str) -> Result<Next> {
        let target = self.entry(id)?;
        let summarize = match self.leaves_something(&target)? && self.terminal.is_interactive() {
            true => match self.terminal.ask("Summarize what is left behind, for the model? [y/N] ").await? {
                Line::Text(answer) => matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"),
                Line::Cleared | Line::Interrupted | Line::End => return Ok(Next::Line),
            },
            false => false,
        };
        if summarize {
            screen::note("capstan: summarizing; Ctrl-C stops it and stays here");
        }
        let session = self.session.clone();
        let options = NavigateOptions { summarize, ..NavigateOptions::default() };
        let (moved, stopped) = match self.watched(session.navigate(&target, options)).await? {
            Waited::Done(moved, stopped) => (moved, stopped),
            Waited::Left(stop) => return Ok(Next::Drop(stop.exit_code())),
        };
        if stopped == Some(Stop::Terminate) {
            return Ok(Next::after(stopped));
        }
        // Before that message, whose text is there to be changed, or after anything else.
        self.draft = moved?.editor_text.as_deref().map(editable).unwrap_or_default();
        self.say_where();
        Ok(Next::Line)
    }

    /// Whether something was said on this branch that is not on the way to `target`.
    fn leaves_something(&self, target: &EntryId) -> Result<bool> {
        let log = self.session.log();
        let Some(leaf) = log.leaf() else { return Ok(false) };
        let kept = log.path(Some(target))?;
        let kept: HashSet<&EntryId> = kept.iter().map(|entry| &entry.id).collect();
        let here = log.path(Some(&leaf))?;
        Ok(here.iter().any(|entry| !kept.contains(&entry.id) && is_said(entry)))
    }
}

/// One line for each entry that somebody might go to, indented at each fork.
fn outline(tree: &Tree) -> String {
    let rows: Vec<_> = tree.rows().filter(|row| is_said(row.entry) || row.label.is_some()).collect();
    if rows.is_empty() {
        return "  nothing was said yet\n".to_owned();
    }
    // What was done to the session since, a bookmark for example, is where it stands strictly speaking.
    let here = rows.iter().rposition(|row| row.is_on_branch);
    let left_out = rows.len().saturating_sub(MAX_ROWS);
    let mut out = String::new();
    if left_out > 0 {
        out = format!("  {DIM}{left_out} lines before these; `capstan session tree` shows all{DIM:#}\n");
    }
    if here.is_none() {
        out += &format!("  {GOOD}→{GOOD:#} {DIM}before everything{DIM:#}\n");
    }
    for (at, row) in rows.iter().enumerate().skip(left_out) {
        out += &line(row, here == Some(at));
    }
    out
}

/// Whether it is something that people go on from. Results of tools belong to the answer that asked for them; settings, names
/// and bookmarks belong to the session itself.
fn is_said(entry: &Entry) -> bool {
    let speech = speech::of(entry);
    speech.is_some_and(|speech| !matches!(speech.who, Who::Tool | Who::FailedTool | Who::Note))
}

fn line(row: &Row<'_>, is_here: bool) -> String {
    let (who, text) = speech::in_short(row.entry);
    let indent = "  ".repeat(row.n_forks.min(MAX_INDENTS));
    let mark = match (is_here, row.is_on_branch) {
        (true, _) => format!("{GOOD}→{GOOD:#}"),
        (false, true) => format!("{BOLD}•{BOLD:#}"),
        (false, false) => format!("{DIM}·{DIM:#}"),
    };
    let label = row.label.map(|label| format!(" {WARN}[{}]{WARN:#}", screen::brief(label, SHOWN)));
    let (id, label) = (visible(row.entry.id.as_str()), label.unwrap_or_default());
    let (who, text) = (screen::brief(&who, SHOWN), screen::brief(&text, SHOWN));
    format!("  {indent}{mark} {DIM}{id}{DIM:#}{label} {who}: {text}\n")
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
