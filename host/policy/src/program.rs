//! Which programs an extension may run, with which arguments and variables.
//!
//! A rule is one line, as the user reads it when granting: a pattern for the program, then patterns for the arguments.
//!
//! - `git` allows the program of that name, as the host finds it on its path, with any arguments.
//! - `/usr/bin/git` allows the program at that place.
//! - `git log *` allows exactly the arguments `log` and one more; `git log **` allows `log` and any further ones.
//!
//! In a pattern `*` stands for any characters and `?` for one; in a path neither stands for `/`.

use crate::error::PolicyError;
use globset::{GlobBuilder, GlobMatcher};
use std::path::Path;

/// Words of one rule. More would be no rule that a person can judge.
const MAX_WORDS: usize = 32;

/// A rule for programs.
#[derive(Debug, Clone)]
pub struct ProgramRule {
    program: GlobMatcher,
    /// Whether the pattern is about the place of the program rather than its name.
    by_path: bool,
    /// `None`: any arguments.
    arguments: Option<Vec<GlobMatcher>>,
    /// Whether more arguments may follow.
    open_end: bool,
}

impl ProgramRule {
    /// Reads a rule.
    ///
    /// # Errors
    /// When it is not of the form above.
    pub fn parse(rule: &str) -> Result<Self, PolicyError> {
        let refuse = |reason: &str| PolicyError::Program { rule: rule.to_owned(), reason: reason.to_owned() };
        let mut words: Vec<&str> = rule.split_whitespace().collect();
        if words.len() > MAX_WORDS {
            return Err(refuse("it has too many words"));
        }
        let open_end = words.len() > 1 && words.last() == Some(&"**");
        if open_end {
            words.pop();
        }
        let Some((program, arguments)) = words.split_first() else {
            return Err(refuse("it names no program"));
        };
        let by_path = program.contains('/');
        if by_path && !program.starts_with('/') {
            return Err(refuse("write a file name, or an absolute path"));
        }
        if program.split('/').any(|part| part == ".." || part == ".") {
            return Err(refuse("`.` and `..` have no place in it"));
        }
        if program.chars().all(|c| matches!(c, '*' | '?' | '/')) {
            return Err(refuse("it would allow every program"));
        }
        let glob = |pattern: &str, separator: bool| {
            // Only `*` and `?` mean something; the rest is taken word for word.
            let literal: String = pattern
                .chars()
                .flat_map(|c| if matches!(c, '[' | ']' | '{' | '}' | '\\') { vec!['\\', c] } else { vec![c] })
                .collect();
            let glob = GlobBuilder::new(&literal).literal_separator(separator).backslash_escape(true).build();
            glob.map(|glob| glob.compile_matcher()).map_err(|reason| refuse(&reason.to_string()))
        };
        let only_program = arguments.is_empty() && !open_end;
        Ok(Self {
            program: glob(program, true)?,
            by_path,
            arguments: match only_program {
                true => None,
                false => Some(arguments.iter().map(|word| glob(word, false)).collect::<Result<_, _>>()?),
            },
            open_end,
        })
    }

    /// Whether the program at `place`, which the extension called `name`, may run with these arguments.
    pub fn allows(&self, name: &str, place: &Path, arguments: &[String]) -> bool {
        let program = match self.by_path {
            true => self.program.is_match(place),
            false => !name.contains('/') && self.program.is_match(name),
        };
        program && self.allows_arguments(arguments)
    }

    fn allows_arguments(&self, arguments: &[String]) -> bool {
        let Some(patterns) = &self.arguments else { return true };
        let enough = match self.open_end {
            true => arguments.len() >= patterns.len(),
            false => arguments.len() == patterns.len(),
        };
        enough && patterns.iter().zip(arguments).all(|(pattern, argument)| pattern.is_match(argument))
    }
}

/// Whether a variable only shapes a program's output. Any other may decide which code it runs (`LD_PRELOAD`, `GIT_SSH_COMMAND`,
/// a `HOME` with settings in it), so an extension may hand over only these, and those that it was granted by name.
pub fn is_harmless_variable(name: &str) -> bool {
    const NAMES: [&str; 9] =
        ["LANG", "LANGUAGE", "TZ", "TERM", "NO_COLOR", "CLICOLOR", "FORCE_COLOR", "COLUMNS", "LINES"];
    NAMES.contains(&name) || name.starts_with("LC_")
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
