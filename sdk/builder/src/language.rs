//! Which language a project is written in: its manifest tells.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::BuilderError;

/// The language of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// `Cargo.toml`.
    Rust,
    /// `package.json`; TypeScript too.
    JavaScript,
    /// `pyproject.toml`.
    Python,
}

impl Language {
    /// All of them, in the order in which a folder is looked through.
    pub const ALL: [Self; 3] = [Self::Rust, Self::JavaScript, Self::Python];

    /// The file that makes a folder a project of this language.
    #[must_use]
    pub fn manifest(self) -> &'static str {
        match self {
            Self::Rust => "Cargo.toml",
            Self::JavaScript => "package.json",
            Self::Python => "pyproject.toml",
        }
    }

    /// The language and the manifest of a project, which is a folder or the manifest itself.
    ///
    /// # Errors
    /// [`BuilderError::Io`] where there is no such path, [`BuilderError::NoProject`] where it is of no language.
    pub fn of(project: &Path) -> Result<(Self, PathBuf), BuilderError> {
        let path = fs::canonicalize(project).map_err(BuilderError::io("find", project))?;
        let named =
            Self::ALL.into_iter().find(|language| path.ends_with(language.manifest()) && path.is_file());
        if let Some(language) = named {
            return Ok((language, path));
        }
        let found = Self::ALL.into_iter().find(|language| path.join(language.manifest()).is_file());
        match found {
            Some(language) => Ok((language, path.join(language.manifest()))),
            None => Err(BuilderError::NoProject { path }),
        }
    }
}

#[cfg(test)]
#[path = "language_tests.rs"]
mod tests;
