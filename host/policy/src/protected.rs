//! Which files a grant to write does not cover: those that make a program run something later, without asking.
//!
//! Whoever grants a folder for writing means its contents. A hook in `.git`, a task in `.vscode`, a line in `.bashrc` or the
//! host's own `.capstan` would carry a guest's code out of the sandbox, so these can be read and not changed. A folder that
//! is itself granted by such a name is meant, so only what lies *beneath* a granted folder is looked at.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Folders, and files in the place of one: a `.git` may be either.
pub const DIRECTORIES: [&str; 5] = [".git", ".hg", ".capstan", ".vscode", ".idea"];

/// Files that shells and tools run or read when they start.
pub const START_FILES: [&str; 10] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".envrc",
    ".npmrc",
];

/// Whether a single name is protected. Some file systems take names for the same that differ in case, in invisible
/// characters or in dots at the end, so all of these are the same here.
pub fn is_protected_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    // Most names end here.
    if !name.chars().any(|c| c == '.') {
        return false;
    }
    let folded = folded(&name);
    DIRECTORIES.iter().chain(&START_FILES).any(|protected| *protected == folded)
}

/// Whether a path beneath a granted folder is protected: one of its names is.
pub fn is_protected(beneath: &Path) -> bool {
    beneath.components().any(|component| match component {
        Component::Normal(name) => is_protected_name(name),
        Component::CurDir | Component::ParentDir | Component::RootDir | Component::Prefix(_) => false,
    })
}

fn folded(name: &str) -> String {
    let folded: String = name
        .chars()
        .filter(|c| !is_ignored(*c))
        .map(|c| match c {
            // The two letters outside ASCII whose lower case is in it.
            'ſ' => 's',
            '\u{212a}' => 'k',
            c => c.to_ascii_lowercase(),
        })
        .collect();
    folded.trim_end_matches(['.', ' ']).to_owned()
}

/// Characters that HFS+ leaves out when it compares names.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
#[path = "protected_tests.rs"]
mod tests;
