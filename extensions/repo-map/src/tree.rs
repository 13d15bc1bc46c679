//! Walks the workspace and reads what is worth an outline.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use capstan_sdk::prelude::*;

use crate::ignored::Patterns;
use crate::outline::{self, Language};

/// In this order: a later file overrules an earlier one of the same folder.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];

/// How far the walk goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Folders below the start.
    pub(crate) depth: usize,
    /// Larger files are generated or data; reading them would only cost time.
    pub(crate) file_bytes: u64,
    /// A workspace with more files needs `path`; the map says so.
    pub(crate) files: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 12, file_bytes: 512 * 1024, files: 20_000 }
    }
}

/// What the walk found, in the order of the paths.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
    /// Binary files that were left out.
    pub(crate) binary: usize,
    /// Large files that were left out.
    pub(crate) large: usize,
    /// Folders and files that could not be read.
    pub(crate) unreadable: usize,
    /// Folders that were too deep.
    pub(crate) deep: usize,
    /// Whether the walk stopped at the limit of files.
    pub(crate) cut: bool,
}

/// One file of the map.
#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the workspace, with `/`.
    pub(crate) path: String,
    pub(crate) bytes: u64,
    pub(crate) items: Vec<String>,
}

/// Reads the tree at `below`, a path inside the workspace.
pub(crate) fn read(workspace: &Path, below: &Path, limits: Limits, call: &Call) -> Result<Tree> {
    let start = workspace.join(below);
    let kind = fs::symlink_metadata(&start).explain(format!(
        "`{}` is not in the workspace; call repo_map without `path` to see what is",
        below.display()
    ))?;
    let mut walk = Walk { workspace, limits, call, tree: Tree::default(), ignores: Vec::new() };
    // The ignore files above the start count as well.
    let mut above = PathBuf::new();
    walk.enter(&above);
    let parent = if kind.is_dir() { below } else { below.parent().unwrap_or(Path::new("")) };
    for name in parent {
        above.push(name);
        walk.enter(&above);
    }
    if kind.is_dir() {
        walk.folder(below, 0)?;
    } else {
        walk.file(below)?;
    }
    Ok(walk.tree)
}

struct Walk<'a> {
    workspace: &'a Path,
    limits: Limits,
    call: &'a Call,
    tree: Tree,
    /// One for each folder from the workspace to the current one, whose depth is their number less one.
    ignores: Vec<Patterns>,
}

impl Walk<'_> {
    /// Takes the ignore files of a folder into account. One that is missing or cannot be read ignores nothing.
    fn enter(&mut self, folder: &Path) {
        let mut patterns = Patterns::default();
        for name in IGNORE_FILES {
            if let Ok(text) = fs::read_to_string(self.workspace.join(folder).join(name)) {
                patterns.add(&text);
            }
        }
        self.ignores.push(patterns);
    }

    /// The folder closest to a path decides.
    fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let closest = self.ignores.iter().enumerate().rev();
        closest
            .filter_map(|(depth, patterns)| patterns.says(names.get(depth..)?, is_folder))
            .next()
            .unwrap_or(false)
    }

    /// The ignore files of `folder` are already in place.
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<()> {
        if depth >= self.limits.depth {
            self.tree.deep += 1;
            return Ok(());
        }
        let entries = match fs::read_dir(self.workspace.join(folder)) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(folder, &error),
        };
        let mut names = Vec::new();
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?))) {
                Ok(found) => names.push(found),
                Err(error) => self.unreadable(folder, &error)?,
            }
        }
        names.sort_by(|left, right| left.0.cmp(&right.0));
        for (name, kind) in names {
            if self.tree.cut {
                return Ok(());
            }
            let path = folder.join(&name);
            if name == ".git" || self.is_ignored(&path, kind.is_dir()) {
                continue;
            }
            // Links are not followed: they lead to what is listed elsewhere, or out of the workspace.
            if kind.is_dir() {
                self.enter(&path);
                self.folder(&path, depth + 1)?;
                self.ignores.pop();
            } else if kind.is_file() {
                self.file(&path)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<()> {
        if self.call.is_cancelled() {
            return Err(Error::new("the map was cancelled"));
        }
        let full = self.workspace.join(path);
        let bytes = match fs::metadata(&full) {
            Ok(metadata) => metadata.len(),
            Err(error) => return self.unreadable(path, &error),
        };
        if bytes > self.limits.file_bytes {
            self.tree.large += 1;
            return Ok(());
        }
        let content = match fs::read(&full) {
            Ok(content) => content,
            Err(error) => return self.unreadable(path, &error),
        };
        // As git does it: text has no zero byte.
        if content.contains(&0) {
            self.tree.binary += 1;
            return Ok(());
        }
        let items = match Language::of(path) {
            Some(language) => outline::outline(language, &String::from_utf8_lossy(&content)),
            None => Vec::new(),
        };
        let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
        self.tree.files.push(File { path: names.join("/"), bytes, items });
        let count = self.tree.files.len();
        self.tree.cut = count >= self.limits.files;
        if count.is_multiple_of(200) {
            self.call.progress(format!("{count} files read, now at {}", names.join("/")));
        }
        Ok(())
    }

    /// Leaves something out; the map counts it.
    fn unreadable(&mut self, path: &Path, error: &io::Error) -> Result<()> {
        log::info!("{} cannot be read: {error}", path.display());
        self.tree.unreadable += 1;
        Ok(())
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
pub(crate) mod tests;
