//! Names of tools: `server__tool`, in the letters that every model's interface takes, and never one name for two tools.

use super::settings::ServerName;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// Longest name that every model's interface takes.
const MAX_CHARS: usize = 64;

/// Hexadecimal digits that stand for the end of a name that was cut off.
const MARK_CHARS: usize = 8;

/// Why a tool has no name here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameRefused {
    #[error("it has no name")]
    Empty,
    #[error(
        "its name has {0:?}, which models cannot call; letters, digits, _ - . / : and spaces can be used"
    )]
    Letter(char),
    #[error("the server lists this name more than once, so a call could mean either")]
    Listed,
    #[error("another tool of the server has the name {0} here, too")]
    Ambiguous(String),
}

/// The name of one tool. Dots and the like, of which many servers make use, become underscores; a name that is too long is cut,
/// with a mark made of the whole name in place of its end.
fn combined(server: &ServerName, tool: &str) -> Result<String, NameRefused> {
    if tool.is_empty() {
        return Err(NameRefused::Empty);
    }
    let mut name = format!("{server}__");
    for letter in tool.chars() {
        name.push(match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
            '.' | '/' | ':' | ' ' => '_',
            other => return Err(NameRefused::Letter(other)),
        });
    }
    if name.len() > MAX_CHARS {
        // All of it is ASCII by now.
        name.truncate(MAX_CHARS - MARK_CHARS - 1);
        let digest = Sha256::digest(tool);
        let mark = digest.iter().take(MARK_CHARS / 2).map(|byte| format!("{byte:02x}"));
        name = format!("{name}_{}", mark.collect::<String>());
    }
    Ok(name)
}

/// The names of all tools of a server, in their order. Of tools that would have one name, the one that is really called so keeps it;
/// the order in which a server lists them decides nothing.
pub(crate) fn assign(server: &ServerName, tools: &[&str]) -> Vec<Result<String, NameRefused>> {
    let mut listed: HashMap<&str, usize> = HashMap::new();
    for tool in tools {
        *listed.entry(tool).or_default() += 1;
    }
    let names: Vec<_> = tools.iter().map(|tool| combined(server, tool)).collect();
    let mut wanted: HashMap<&str, usize> = HashMap::new();
    for name in names.iter().flatten() {
        *wanted.entry(name).or_default() += 1;
    }
    let is_exact = |tool: &str, name: &str| name.strip_prefix(&format!("{server}__")) == Some(tool);
    let named = tools.iter().zip(&names).map(|(tool, name)| {
        let name = name.clone()?;
        match (listed.get(tool).copied(), wanted.get(name.as_str()).copied()) {
            (Some(2..), _) => Err(NameRefused::Listed),
            (_, Some(2..)) if !is_exact(tool, &name) => Err(NameRefused::Ambiguous(name)),
            _ => Ok(name),
        }
    });
    named.collect()
}

#[cfg(test)]
#[path = "naming_tests.rs"]
mod tests;
