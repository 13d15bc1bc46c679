//! Choosing from a list: a number, or a part of what stands there.

use super::terminal::{Line, Terminal};
use crate::screen::{self, BOLD, DIM, visible};
use crate::session_command::list::ago;
use anyhow::{Context, Result, ensure};
use capstan_session::{Condition, Listed};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Most lines that are shown at once. What stands further down is found by a part of its text.
const MAX_SHOWN: usize = 20;

/// Characters of one line's text.
const MAX_CHARS: usize = 100;

/// One thing to choose.
pub(super) struct Item {
    /// What it is recognized by.
    pub(super) text: String,
    /// What else is shown of it.
    pub(super) about: String,
}

/// What an answer means.
#[derive(Debug, PartialEq, Eq)]
enum Meant {
    /// This one.
    One(usize),
    /// One of these.
    Several(Vec<usize>),
    /// None of them.
    Nothing,
}

/// Lets the person choose; answers the position, or `None` when they would rather not.
pub(super) async fn choose(terminal: &Terminal, items: &[Item]) -> Result<Option<usize>> {
    let mut shown: Vec<usize> = (0..items.len()).collect();
    loop {
        screen::show(&list(items, &shown))?;
        let Line::Text(answer) = terminal.ask("Which? (number or part of the text, nothing: none) ").await?
        else {
            return Ok(None);
        };
        if answer.trim().is_empty() {
            return Ok(None);
        }
        match meant(answer.trim(), items) {
            Meant::One(position) => return Ok(Some(position)),
            Meant::Several(fitting) => shown = fitting,
            Meant::Nothing => {
                screen::note(&format!("capstan: nothing here is called {}", screen::brief(&answer, 60)));
            }
        }
    }
}

/// A number counts as it is shown, so it stays the same whatever part of the list is looked at.
fn meant(answer: &str, items: &[Item]) -> Meant {
    if let Ok(number) = answer.parse::<usize>()
        && (1..=items.len()).contains(&number)
    {
        return Meant::One(number - 1);
    }
    let answer = answer.to_lowercase();
    let fits = |item: &Item| item.text.to_lowercase().contains(&answer);
    let fitting: Vec<_> = (0..items.len()).filter(|at| items.get(*at).is_some_and(fits)).collect();
    match fitting.as_slice() {
        [] => Meant::Nothing,
        [only] => Meant::One(*only),
        _ => Meant::Several(fitting),
    }
}

fn list(items: &[Item], shown: &[usize]) -> String {
    let mut out = String::new();
    for (at, item) in shown.iter().take(MAX_SHOWN).filter_map(|at| Some((at, items.get(*at)?))) {
        let (number, text, about) = (at + 1, screen::brief(&item.text, MAX_CHARS), visible(&item.about));
        out += &format!("  {BOLD}{number:>3}{BOLD:#}  {text}  {DIM}{about}{DIM:#}\n");
    }
    if shown.len() > MAX_SHOWN {
        let n = shown.len() - MAX_SHOWN;
        out += &format!("  {DIM}and {n} more; a part of the text finds them{DIM:#}\n");
    }
    out
}

/// Lets the person choose one of the sessions of a directory but for the `current` one.
///
/// # Errors
/// When there is none, or the folder cannot be read.
pub(super) async fn session(
    terminal: &Terminal,
    root: &Path,
    directory: &Path,
    current: Option<&Path>,
) -> Result<Option<PathBuf>> {
    ensure!(
        terminal.is_interactive(),
        "a session is needed here: its id, the beginning of its id, or its file; `capstan session list` shows them"
    );
    let listed = capstan_session::list(root, Some(directory))?;
    let others: Vec<_> = listed
        .into_iter()
        .filter(|session| !matches!(session.condition, Condition::Unreadable { .. }))
        .filter(|session| Some(session.path.as_path()) != current)
        .collect();
    ensure!(
        !others.is_empty(),
        "there is no other session of {}; `capstan session list --all` shows those of other directories",
        screen::path(directory)
    );
    let now = SystemTime::now();
    let items: Vec<_> = others.iter().map(|session| item(session, now)).collect();
    let chosen = choose(terminal, &items).await?;
    chosen
        .map(|at| others.get(at).map(|session| session.path.clone()).context("the list has changed"))
        .transpose()
}

fn item(session: &Listed, now: SystemTime) -> Item {
    let text = session.name.clone().or_else(|| session.first_message.clone());
    let n = session.n_messages;
    let more = if session.is_whole { "" } else { "at least " };
    let unit = if n == 1 { "message" } else { "messages" };
    let age = ago(now.duration_since(session.modified).unwrap_or_default());
    Item {
        text: text.unwrap_or_else(|| "(nothing was said)".to_owned()),
        about: format!("{age}, {more}{n} {unit}, {}", session.id),
    }
}

#[cfg(test)]
#[path = "picker_tests.rs"]
mod tests;
