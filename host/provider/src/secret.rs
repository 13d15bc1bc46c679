//! A value that must not be seen.

use std::fmt;
use std::sync::Arc;

/// An API key or another credential. Printing it in any way shows `***`, so that it cannot reach a log, an error
/// message or a session by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Takes the text without surrounding white space: keys read from files and shells often end in a newline, which
    /// no HTTP header may hold.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(Arc::from(text.as_ref().trim()))
    }

    /// The value itself. Only for putting it into a request, never for showing it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing to hide, for example from `OPENAI_API_KEY=`.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// Shorter values are placeholders like `x`, which local servers ask for; hiding those would garble ordinary words.
const MIN_SECRET_CHARS: usize = 4;

/// So much of a key's start identifies it.
const START_CHARS: usize = 6;

/// Hides secrets in a text that came from outside.
///
/// Servers quote keys back, sometimes shortened in the middle; so each word that starts as the key starts is hidden
/// whole. Other values are hidden where they stand complete: a header may hold an ordinary word.
pub(crate) fn scrub(text: &str, key: Option<&Secret>, others: &[Secret]) -> String {
    let mut out = text.to_owned();
    for secret in key.into_iter().chain(others).map(Secret::expose) {
        if secret.chars().count() >= MIN_SECRET_CHARS {
            out = out.replace(secret, "***");
        }
    }
    if let Some(key) = key.map(Secret::expose).filter(|key| key.chars().count() >= 2 * START_CHARS) {
        let start: String = key.chars().take(START_CHARS).collect();
        out = hide_words(&out, &start);
    }
    out
}

fn hide_words(text: &str, start: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(start) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        out.push_str("***");
        let end = found
            .find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '*' | '.'))
            .unwrap_or(found.len())
            .max(start.len());
        rest = &found[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
