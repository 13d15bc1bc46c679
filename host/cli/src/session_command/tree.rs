//! `capstan session tree`.

use super::speech;
use crate::screen::{self, BOLD, DIM, GOOD, WARN};
use anyhow::Result;
use capstan_session::{Row, SessionFile};
use serde_json::json;
use std::fmt::Write as _;

/// Characters of an entry that fit beside its id.
const MAX_TEXT_CHARS: usize = 70;

/// A tree that forks deeper than this is indented no further: what a line says would leave the screen.
const MAX_INDENTS: usize = 12;

/// All entries, indented where the conversation forked; `*` marks the branch, `<` where it goes on.
pub(super) fn text(session: &SessionFile) -> Result<String> {
    let header = session.header();
    let mut out = String::new();
    writeln!(
        out,
        "{BOLD}{}{BOLD:#}  {DIM}{}{DIM:#}",
        screen::visible(header.id.as_str()),
        screen::brief(&header.cwd, usize::MAX)
    )?;
    session.look(|tree| {
        if let Some(name) = tree.name() {
            writeln!(out, "{}", screen::brief(name, MAX_TEXT_CHARS))?;
        }
        for row in tree.rows() {
            line(&mut out, &row)?;
        }
        if tree.entries().len() == 0 {
            writeln!(out, "(nothing was said)")?;
        }
        Ok(out)
    })
}

fn line(out: &mut String, row: &Row<'_>) -> Result<()> {
    let (who, text) = speech::in_short(row.entry);
    let style = if row.is_on_branch { BOLD } else { DIM };
    let mark = if row.is_on_branch { '*' } else { ' ' };
    let indent = "  ".repeat(row.n_forks.min(MAX_INDENTS));
    write!(
        out,
        "{mark} {indent}{DIM}{:8}{DIM:#} {style}{}{style:#}",
        screen::brief(row.entry.id.as_str(), MAX_TEXT_CHARS),
        screen::brief(&who, MAX_TEXT_CHARS)
    )?;
    if !text.is_empty() {
        write!(out, " {}", screen::brief(&text, MAX_TEXT_CHARS))?;
    }
    if let Some(label) = row.label {
        write!(out, " {WARN}[{}]{WARN:#}", screen::brief(label, MAX_TEXT_CHARS))?;
    }
    if row.is_leaf {
        write!(out, " {GOOD}<{GOOD:#}")?;
    }
    writeln!(out)?;
    Ok(())
}

/// All entries in the same order.
pub(super) fn json(session: &SessionFile) -> Result<String> {
    let rows: Vec<_> = session.look(|tree| {
        tree.rows()
            .map(|row| {
                let (who, text) = speech::in_short(row.entry);
                json!({
                    "id": row.entry.id,
                    "parentId": row.entry.parent_id,
                    "type": row.entry.kind.type_name(),
                    "timestamp": row.entry.timestamp,
                    "depth": row.depth,
                    "forks": row.n_forks,
                    "children": row.n_children,
                    "onBranch": row.is_on_branch,
                    "leaf": row.is_leaf,
                    "label": row.label,
                    "who": who,
                    "text": text,
                })
            })
            .collect()
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&rows)?))
}
