//! Which command lines may be rewritten: those whose output nobody but the model reads.
//!
//! This reads no shell grammar. Whatever could be a pipe, a substitution, a here-document or a redirection leaves the line
//! as it is, also where it only stands in quotes: too few rewrites cost tokens, one too many costs a wrong answer.

/// Redirections that only join the two outputs.
const HARMLESS: [&str; 3] = ["2>&1", ">&2", "1>&2"];

/// Set before a command, it is left alone: the way to have the raw output for once.
const RAW: &str = "RTK_DISABLED=1";

/// A command line without anything that rules a rewrite out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Leading assignments of variables, with the space behind them. They stay in front of whatever comes.
    pub(crate) assignments: &'a str,
    /// The rest.
    pub(crate) command: &'a str,
}

impl<'a> Line<'a> {
    /// `None` if the line is to stay as it is.
    pub(crate) fn plain(text: &'a str) -> Option<Self> {
        let command = text.trim();
        if !is_plain(command) || command.split_whitespace().any(is_rtk) {
            return None;
        }
        let mut rest = command;
        while let Some((word, behind)) = rest.split_once(char::is_whitespace) {
            if !is_assignment(word) {
                break;
            }
            rest = behind.trim_start();
        }
        let assignments = &command[..command.len() - rest.len()];
        (!rest.is_empty()).then_some(Self { assignments, command: rest })
    }

    /// Whether the line asks to be left alone.
    pub(crate) fn is_raw(&self) -> bool {
        self.assignments.split_whitespace().any(|word| word == RAW)
    }

    /// Whether a command of the line begins with these words.
    pub(crate) fn begins_with(&self, words: &str) -> bool {
        let mut commands = self.command.split(['&', ';']);
        commands.any(|command| {
            let mut given = command.split_whitespace();
            words.split_whitespace().all(|word| given.next() == Some(word))
        })
    }
}

/// Whether this can be what a command line was rewritten to.
pub(crate) fn is_rewrite(text: &str) -> bool {
    is_plain(text) && text.split_whitespace().any(is_rtk)
}

fn is_plain(text: &str) -> bool {
    let risky = |c: char| matches!(c, '|' | '`' | '<' | '>' | '\0') || (c.is_control() && c != '\t');
    text.split(' ')
        .filter(|word| !HARMLESS.contains(word))
        .all(|word| !word.contains(risky) && !word.contains("$("))
}

fn is_rtk(word: &str) -> bool {
    word == "rtk" || word.ends_with("/rtk")
}

/// `NAME=value` with a value that needs no quotes.
fn is_assignment(word: &str) -> bool {
    let Some((name, value)) = word.split_once('=') else { return false };
    let mut name = name.chars();
    name.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && name.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !value.contains(['\'', '"', '\\', '$', ';', '&'])
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
