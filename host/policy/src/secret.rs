//! Secrets: how they are named, what a value must be, and how a guest writes that it wants one.
//!
//! A guest never holds a value. It writes [`placeholder`] text into a request header, and the host puts the value in its place
//! on the way to the one endpoint that the grant names.

use crate::http::{EndpointPattern, InvalidPattern, Target};

/// The beginning of a placeholder.
pub const PLACEHOLDER_START: &str = "{{secret:";

/// Its end.
pub const PLACEHOLDER_END: &str = "}}";

const MAX_NAME_BYTES: usize = 64;

/// Shorter values could not be told from ordinary text when they come back in an answer, and hiding them would garble it.
pub const MIN_VALUE_BYTES: usize = 8;

/// The longest value; what servers accept in a header ends about here.
pub const MAX_VALUE_BYTES: usize = 4 << 10;

/// The text that stands for a secret.
pub fn placeholder(name: &str) -> String {
    format!("{PLACEHOLDER_START}{name}{PLACEHOLDER_END}")
}

/// Checks a name: `[A-Za-z0-9._-]{1,64}`.
///
/// # Errors
/// When it is of another form.
pub fn check_name(name: &str) -> Result<(), InvalidSecret> {
    let fits = (1..=MAX_NAME_BYTES).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    if fits { Ok(()) } else { Err(InvalidSecret::Name { found: name.chars().take(80).collect() }) }
}

/// Checks a value: something that can stand in a header and can be recognised. The error never holds the value.
///
/// # Errors
/// When it is too short, too long, or holds what a header cannot.
pub fn check_value(name: &str, value: &str) -> Result<(), InvalidSecret> {
    let refuse = |reason| InvalidSecret::Value { name: name.to_owned(), reason };
    if value.len() < MIN_VALUE_BYTES {
        return Err(refuse(
            "it has fewer than 8 characters, too few to be told from ordinary text in an answer",
        ));
    }
    if value.len() > MAX_VALUE_BYTES {
        return Err(refuse("it has more than 4,096 characters, more than a header takes"));
    }
    if !value.bytes().all(|b| (0x20..=0x7e).contains(&b)) {
        return Err(refuse("it holds line breaks or other characters that a header cannot hold"));
    }
    if value.starts_with(' ') || value.ends_with(' ') {
        return Err(refuse("it begins or ends with a space, which a header would lose"));
    }
    if value.contains(PLACEHOLDER_START) {
        return Err(refuse("it looks like a placeholder itself"));
    }
    Ok(())
}

/// A secret and the only endpoint that gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretBinding {
    /// The name under which the user stored it.
    pub name: String,
    endpoint: EndpointPattern,
}

impl SecretBinding {
    /// From what a grant or a request says.
    ///
    /// # Errors
    /// When the name is none, or no secret may go to that endpoint.
    pub fn new(name: &str, endpoint: &str) -> Result<Self, InvalidSecret> {
        check_name(name)?;
        let endpoint = EndpointPattern::parse(endpoint)?;
        endpoint.check_for_secret()?;
        Ok(Self { name: name.to_owned(), endpoint })
    }

    /// Whether the value may go there.
    pub fn is_bound_to(&self, target: &Target) -> bool {
        self.endpoint.matches(target)
    }

    /// The endpoint as it is shown.
    pub fn endpoint(&self) -> String {
        self.endpoint.to_string()
    }
}

/// Not a secret that could be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSecret {
    /// Its name.
    #[error("`{found}` is no name for a secret; use 1 to 64 of a-z, A-Z, 0-9, `.`, `_` and `-`")]
    Name {
        /// What was written.
        found: String,
    },
    /// Its value, which is not shown.
    #[error("the secret {name} cannot be used: {reason}")]
    Value {
        /// Its name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// Where it should go.
    #[error(transparent)]
    Endpoint(#[from] InvalidPattern),
}

/// A piece of a header value: text as it stands, or a name between the braces of a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// As it stands.
    Text(&'a str),
    /// To be replaced.
    Secret(&'a str),
}

/// Takes a text apart at its placeholders. `None` where one has no end or no name.
pub fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(PLACEHOLDER_START) {
        if at > 0 {
            pieces.push(Piece::Text(&rest[..at]));
        }
        let inner = &rest[at + PLACEHOLDER_START.len()..];
        let name = &inner[..inner.find(PLACEHOLDER_END)?];
        check_name(name).ok()?;
        pieces.push(Piece::Secret(name));
        rest = &inner[name.len() + PLACEHOLDER_END.len()..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Some(pieces)
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
