//! Which tools, or which kinds of start, a hook is asked about.

use regex::Regex;

/// Our names and those that Claude Code has for the same tools.
const SPELLINGS: [(&str, &str); 7] = [
    ("bash", "Bash"),
    ("read", "Read"),
    ("write", "Write"),
    ("edit", "Edit"),
    ("grep", "Grep"),
    ("find", "Glob"),
    ("ls", "LS"),
];

/// A matcher as in Claude Code: nothing, an empty text or `*` takes everything; letters, digits, `_`, `-` and `|` name
/// tools exactly; anything else is a regular expression that has to match somewhere in the name. Case matters.
#[derive(Debug, Clone)]
pub(crate) enum Matcher {
    Everything,
    Names(Vec<String>),
    Pattern(Regex),
}

impl Matcher {
    pub(crate) fn new(text: Option<&str>) -> Result<Self, regex::Error> {
        let text = text.unwrap_or_default().trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::Everything);
        }
        let exact = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '|' | ' ');
        if text.chars().all(exact) {
            return Ok(Self::Names(text.split('|').map(|name| name.trim().to_owned()).collect()));
        }
        Regex::new(text).map(Self::Pattern)
    }

    /// Takes a built-in tool by either of its names.
    pub(crate) fn takes_tool(&self, tool: &str) -> bool {
        let other = SPELLINGS.iter().find(|(ours, _)| *ours == tool).map(|(_, theirs)| *theirs);
        self.takes(tool) || other.is_some_and(|other| self.takes(other))
    }

    pub(crate) fn takes(&self, name: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Names(names) => names.iter().any(|wanted| wanted == name),
            Self::Pattern(pattern) => pattern.is_match(name),
        }
    }
}

#[cfg(test)]
#[path = "matcher_tests.rs"]
mod tests;
