//! From what a model writes as a path to a path. Purely lexical: nothing here decides what may be touched.

use crate::error::RuntimeError;
use std::path::{Component, Path, PathBuf};

/// Strips one leading `@` (models copy it from file mentions; a file really named so is `./@name`) and expands `~`.
pub(crate) fn expand(text: &str, home: Option<&Path>) -> Result<PathBuf, RuntimeError> {
    let text = text.strip_prefix('@').unwrap_or(text);
    if text.is_empty() {
        return Err(RuntimeError::EmptyPath);
    }
    Ok(match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_path_buf(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(text),
    })
}

/// `path` against `base`, with `.` and `..` worked out as if there were no links.
pub(crate) fn lexical(base: &Path, path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                // At the top there is no parent; `/..` is `/`.
                clean.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(component),
        }
    }
    clean
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
