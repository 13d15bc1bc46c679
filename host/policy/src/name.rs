//! Which tool names are refused: the model and the user must be able to tell tools apart.

/// Names of the built-in tools, those of later versions included, so that an extension cannot take one early.
pub const BUILTIN_TOOLS: [&str; 7] = ["read", "write", "edit", "bash", "grep", "find", "ls"];

/// Why a tool name is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    /// Not of the accepted form.
    #[error("it must be 1 to 64 of a-z, A-Z, 0-9, _ and -")]
    Form,
    /// A built-in tool's name, or one that reads like it.
    #[error("it reads like the built-in tool `{0}`")]
    Builtin(&'static str),
    /// Another extension's tool has this name, or one that reads like it.
    #[error("it reads like the tool `{tool}` of the extension `{extension}`")]
    Taken {
        /// The other tool.
        tool: String,
        /// Whose it is.
        extension: String,
    },
}

/// Checks the form alone. Only ASCII is accepted, so letters of other scripts cannot stand in for Latin ones.
///
/// # Errors
/// When the name is not of the accepted form.
pub fn check_form(name: &str) -> Result<(), NameProblem> {
    let fits = (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if fits { Ok(()) } else { Err(NameProblem::Form) }
}

/// Checks form and likeness to the built-in tools.
///
/// # Errors
/// When the name is not of the accepted form, or reads like a built-in tool's.
pub fn check(name: &str) -> Result<(), NameProblem> {
    check_form(name)?;
    match BUILTIN_TOOLS.into_iter().find(|builtin| skeleton(builtin) == skeleton(name)) {
        Some(builtin) => Err(NameProblem::Builtin(builtin)),
        None => Ok(()),
    }
}

/// What remains of a name when everything that eyes pass over is taken away: case, `_`, `-`, and the digits that look
/// like letters. Two names with one skeleton are confusable.
pub fn skeleton(name: &str) -> String {
    name.bytes()
        .filter(|b| !matches!(b, b'_' | b'-'))
        .map(|b| match b.to_ascii_lowercase() {
            b'0' => 'o',
            b'1' | b'i' => 'l',
            b'5' => 's',
            other => char::from(other),
        })
        .collect()
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
