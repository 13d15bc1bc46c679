//! The session as a tree: what was said on which branch, where the session stands, and going elsewhere in it.

use super::elsewhere::editable;
use super::own::first_word;
use super::{Next, Repl};
use crate::screen::{self, BOLD, DIM, GOOD, WARN, visible};
use crate::sessions::Kept;
use anyhow::{Result, ensure};
use capstan_ports::entry::{EntryKind, MessageBody, MessageEntry};
use capstan_ports::message::Message;
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

/// `None` for what belongs to the session itself, unless it stands there.
fn line(row: &Row<'_>) -> Option<String> {
    let said = said(&row.entry.kind);
    if said.is_none() && !row.is_leaf && row.label.is_none() {
        return None;
    }
    let (who, text) = said.unwrap_or_else(|| (row.entry.kind.type_name().to_owned(), String::new()));
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

/// Who said what, in short.
fn said(kind: &EntryKind) -> Option<(String, String)> {
    match kind {
        EntryKind::Message(MessageEntry { message: MessageBody::Known(message) }) => match message.as_ref() {
            Message::User(_) => Some(("you".to_owned(), message.text())),
            Message::Assistant(answer) => {
                let calls: Vec<_> = answer.tool_calls().map(|call| call.name.as_str()).collect();
                let text = message.text();
                match text.trim().is_empty() {
                    true => Some(("model".to_owned(), format!("calls {}", calls.join(", ")))),
                    false => Some(("model".to_owned(), text)),
                }
            }
            // They belong to the answer that asked for them, and nobody goes on from one.
            Message::ToolResult(_) => None,
            Message::Custom(custom) => Some((custom.custom_type.clone(), message.text())),
        },
        EntryKind::Message(MessageEntry { message: MessageBody::Bash(bash) }) => {
            Some(("you ran".to_owned(), bash.command.clone()))
        }
        EntryKind::Compaction(compaction) => Some(("compacted".to_owned(), compaction.summary.clone())),
        EntryKind::BranchSummary(branch) => Some(("left a branch".to_owned(), branch.summary.clone())),
        EntryKind::CustomMessage(custom) => {
            Some((custom.custom_type.clone(), capstan_ports::message::text_of(&custom.content.pieces())))
        }
        EntryKind::Message(MessageEntry { message: MessageBody::Other(_) })
        | EntryKind::ModelChange(_)
        | EntryKind::ThinkingLevelChange(_)
        | EntryKind::Custom(_)
        | EntryKind::Label(_)
        | EntryKind::SessionInfo(_)
        | EntryKind::Unknown(_) => None,
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
