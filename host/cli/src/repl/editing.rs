//! What line editing knows beyond keys: the names of slash commands, and whether anything was typed.

use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Completes commands with Tab and follows what is being typed.
#[derive(Default)]
pub(super) struct Editing {
    /// Without the slash, in the order in which they are offered.
    names: Arc<Mutex<Vec<String>>>,
    has_text: Arc<AtomicBool>,
}

impl Editing {
    /// The names that Tab completes. They may change while a line is being typed.
    pub(super) fn names(&self) -> Arc<Mutex<Vec<String>>> {
        self.names.clone()
    }

    /// Whether the line has any text. Ctrl-C means another thing then, and the editor does not tell what it threw away.
    pub(super) fn has_text(&self) -> Arc<AtomicBool> {
        self.has_text.clone()
    }
}

impl Completer for Editing {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let begun = line.get(..cursor).and_then(|typed| typed.strip_prefix('/'));
        let Some(begun) = begun.filter(|begun| !begun.contains(char::is_whitespace)) else {
            return Ok((cursor, Vec::new()));
        };
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = names.iter().filter(|name| name.starts_with(begun));
        Ok((0, fitting.map(|name| format!("/{name} ")).collect()))
    }
}

impl Hinter for Editing {
    type Hint = String;

    /// Offers nothing. It is the one place that the editor calls with the line whenever that has changed.
    fn hint(&self, line: &str, _: usize, _: &Context<'_>) -> Option<String> {
        self.has_text.store(!line.is_empty(), Ordering::Relaxed);
        None
    }
}

impl Highlighter for Editing {}
impl Validator for Editing {}
impl Helper for Editing {}

#[cfg(test)]
#[path = "editing_tests.rs"]
mod tests;
