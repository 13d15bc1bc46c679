//! What a client of the HTTP server must show.

use sha2::{Digest, Sha256};
use std::fmt;

/// Fewest characters of a token that somebody chose. What is shorter can be tried out.
const MIN_CHARS: usize = 16;

/// A bearer token. Its text is in no debug output.
#[derive(Clone)]
pub struct Token(String);

/// A token that is no protection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token needs at least {MIN_CHARS} characters, of those that can stand in a header: letters, digits, punctuation"
)]
pub struct WeakToken;

impl Token {
    /// A new one that nobody can guess.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn random() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// One that the user chose.
    ///
    /// # Errors
    /// When it is short, or cannot stand in a header.
    pub fn chosen(text: &str) -> Result<Self, WeakToken> {
        let text = text.trim();
        let fits = text.len() >= MIN_CHARS && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self(text.to_owned())).ok_or(WeakToken)
    }

    /// The text, for whoever may know it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether this is the value of an `Authorization` header that shows the token. How long it takes does not depend on how
    /// much of it is right.
    pub(super) fn is_shown_by(&self, header: &[u8]) -> bool {
        let scheme = b"bearer ";
        let Some((word, shown)) = header.split_at_checked(scheme.len()) else { return false };
        // The scheme is no secret.
        word.eq_ignore_ascii_case(scheme) && same(shown.trim_ascii(), self.0.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Compares digests, all bytes of them: what differs where says nothing about the texts.
fn same(a: &[u8], b: &[u8]) -> bool {
    let (a, b) = (Sha256::digest(a), Sha256::digest(b));
    a.iter().zip(b.iter()).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
