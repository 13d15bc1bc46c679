//! A command line in the shape that the rules need: commands, and what flows from one to the next. Conditions and loops
//! are flattened, because every branch may run.

/// Commands in the order of the text.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Script {
    pub(crate) pipelines: Vec<Pipeline>,
    /// Names of functions that multiply when they are called.
    pub(crate) fork_bombs: Vec<String>,
}

/// Commands of which each reads what the one before writes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Pipeline {
    pub(crate) commands: Vec<Command>,
    /// Ends in `&`.
    pub(crate) background: bool,
}

/// One simple command, or a group in its place.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Command {
    /// `NAME=value` before the command, and the values that a `for` gives its variable.
    pub(crate) assignments: Vec<(String, Word)>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    /// `( … )` or `{ …; }`.
    pub(crate) group: Option<Script>,
}

impl Command {
    pub(crate) fn is_empty(&self) -> bool {
        self.assignments.is_empty()
            && self.words.is_empty()
            && self.redirects.is_empty()
            && self.group.is_none()
    }
}

/// What is connected with a command besides the pipe.
#[derive(Debug, PartialEq)]
pub(crate) enum Redirect {
    /// A file that is written.
    Output(Word),
    /// A file that is read.
    Input(Word),
    /// The input itself: a here-document or here-string.
    Text(Word),
}

/// A word before the shell replaces anything in it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
}

/// A piece of a word.
#[derive(Debug, PartialEq)]
pub(crate) enum Part {
    /// Text that stands for itself; quoted text has no tilde, glob or braces.
    Text { text: String, quoted: bool },
    /// `$NAME` or `${NAME}`.
    Variable { name: String, quoted: bool },
    /// What only the running shell knows, as it was written.
    Unknown(String),
    /// `$( … )`, backticks, `<( … )` and `>( … )`.
    Substitution(Script),
}

impl Word {
    /// The text of a word without any replacement in it.
    pub(crate) fn plain(&self) -> Option<String> {
        let mut all = String::new();
        for part in &self.parts {
            match part {
                Part::Text { text, .. } => all.push_str(text),
                Part::Variable { .. } | Part::Unknown(_) | Part::Substitution(_) => return None,
            }
        }
        Some(all)
    }

    /// The text of a word that could be a keyword: neither quoted nor replaced.
    pub(crate) fn keyword(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }

    /// Whether nothing in it came from quotes.
    pub(crate) fn has_quotes(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Text { quoted: true, .. }))
    }
}
