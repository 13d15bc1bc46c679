//! Which files version control ignores, by `.gitignore`, `.ignore` and `.git/info/exclude`.
//!
//! The rules are those of ripgrep's `ignore` crate, read through open directories instead of by path, and they hold
//! whether or not there is a repository. What is left out: the user's own list for all repositories, because an answer
//! about a workspace should not depend on whose machine it is.

use crate::workspace::walk::Folder;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

/// Bytes read of one list. Real ones have a few kilobytes; a longer one is a mistake, and its rest is not read.
const MAX_LIST_BYTES: u64 = 1024 * 1024;

/// Where a repository keeps its own files. A walk does not go in there: nothing in it is meant to be read as text.
pub(super) const REPOSITORY: &str = ".git";

/// The lists of one directory.
pub(super) struct Layer {
    /// `.ignore`, which outranks every `.gitignore`.
    plain: Gitignore,
    git: Gitignore,
    /// Lists of directories further up belong to another repository.
    begins_repository: bool,
}

impl Layer {
    /// The lists in `folder`, whose absolute path is `absolute`.
    pub(super) fn of(folder: &impl Folder, absolute: &Path) -> Self {
        let repository = folder.folder(OsStr::new(REPOSITORY));
        // A work tree has a file of that name.
        let begins_repository = repository.is_ok() || folder.file(OsStr::new(REPOSITORY)).is_ok();
        let mut git = GitignoreBuilder::new(absolute);
        // First, because later lines win and the repository's own list is the weakest.
        if let Ok(information) = repository.and_then(|repository| repository.folder(OsStr::new("info"))) {
            add(&mut git, &information, "exclude");
        }
        add(&mut git, folder, ".gitignore");
        let mut plain = GitignoreBuilder::new(absolute);
        add(&mut plain, folder, ".ignore");
        Self { plain: built(&plain), git: built(&git), begins_repository }
    }
}

/// Whether the innermost list that says anything about `absolute` says that it is ignored. The last layer is the
/// innermost.
pub(super) fn is_ignored(layers: &[Layer], absolute: &Path, is_directory: bool) -> bool {
    for layer in layers.iter().rev() {
        if let Some(answer) = answer(&layer.plain, absolute, is_directory) {
            return answer;
        }
    }
    for layer in layers.iter().rev() {
        if let Some(answer) = answer(&layer.git, absolute, is_directory) {
            return answer;
        }
        if layer.begins_repository {
            break;
        }
    }
    false
}

fn answer(list: &Gitignore, absolute: &Path, is_directory: bool) -> Option<bool> {
    match list.matched(absolute, is_directory) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

/// A list that cannot be read, and a line that makes no sense, ignore nothing, as with git.
fn add(builder: &mut GitignoreBuilder, folder: &impl Folder, name: &str) {
    let mut bytes = Vec::new();
    let read = folder.file(OsStr::new(name)).and_then(|file| {
        let mut file = file.take(MAX_LIST_BYTES);
        file.read_to_end(&mut bytes)
    });
    if read.is_err() {
        return;
    }
    let text = String::from_utf8_lossy(&bytes);
    for line in text.trim_start_matches('\u{FEFF}').lines() {
        let _not_a_pattern = builder.add_line(None, line).err();
    }
}

fn built(builder: &GitignoreBuilder) -> Gitignore {
    // Fails only when all patterns together are too large to compile; then they ignore nothing.
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
