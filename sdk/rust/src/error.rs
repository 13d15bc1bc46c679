//! The error of author code.

use std::error::Error as StdError;
use std::fmt::{self, Display};

/// What a tool, a command or a parser answers when it cannot do its work: a text that a model or a person reads.
///
/// Every standard error becomes one by `?`, with its causes on one line. It deliberately is no
/// [`std::error::Error`] itself, which would forbid that conversion.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    message: String,
}

/// A result whose error is [`Error`] unless you say otherwise.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error with this text. Say what is wrong and what would help: a model acts on it.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// The same error with `what` and a colon before it.
    #[must_use]
    pub fn within(self, what: impl Display) -> Self {
        let mut message = what.to_string();
        message.push_str(": ");
        message.push_str(&self.message);
        Self { message }
    }

    /// The text.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn into_message(self) -> String {
        self.message
    }
}

impl<E: StdError> From<E> for Error {
    fn from(error: E) -> Self {
        with_causes(error.to_string(), error.source())
    }
}

/// Apart from the types, so that it is in a component once.
fn with_causes(mut message: String, mut cause: Option<&(dyn StdError + 'static)>) -> Error {
    while let Some(inner) = cause {
        let text = inner.to_string();
        // Many errors already repeat their cause. By hand: the search of the standard library is made for long texts, and large.
        let repeats =
            text.is_empty() || message.as_bytes().windows(text.len()).any(|window| window == text.as_bytes());
        if !repeats {
            message.push_str(": ");
            message.push_str(&text);
        }
        cause = inner.source();
    }
    Error { message }
}

impl Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Error({:?})", self.message)
    }
}

/// Says what was being done when something failed.
pub trait Explain<T> {
    /// Puts `what` and a colon before the error's text.
    ///
    /// # Errors
    ///
    /// The error of `self`, with more text.
    fn explain(self, what: impl Display) -> Result<T>;
}

impl<T, E: Into<Error>> Explain<T> for std::result::Result<T, E> {
    fn explain(self, what: impl Display) -> Result<T> {
        self.map_err(|error| error.into().within(what))
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
