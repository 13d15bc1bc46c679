//! A tool that gives a model the map of a repository: its source files, their sizes, and what each defines.

mod ignored;
mod outline;
mod render;
mod tree;

use std::path::{Component, Path, PathBuf};

use capstan_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where an instance sees the workspace.
const WORKSPACE: &str = "/workspace";

/// Outlines the source files of the workspace: for each its path, size, and top-level items (functions, types, headings).
/// Files that an ignore file names, binary files and large files are left out. Call this first to find where something
/// is; then read the file itself.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Only this folder or file, relative to the workspace. Default: all of it.
    path: Option<String>,
    /// How many folders deep to look. Default: 12.
    #[schemars(range(min = 1, max = 64))]
    depth: Option<usize>,
    /// How many bytes the map may have. A map that does not fit shows fewer items, then fewer files. Default: 16000.
    #[schemars(range(min = 500, max = 200_000))]
    max_bytes: Option<usize>,
}

/// What the map covers, for programs.
#[derive(Debug, Serialize)]
struct Details {
    files: usize,
    bytes: u64,
    shown: usize,
}

fn repo_map(arguments: Arguments, call: &Call) -> Result<Output> {
    map(Path::new(WORKSPACE), &arguments, call)
}

fn map(workspace: &Path, arguments: &Arguments, call: &Call) -> Result<Output> {
    let below = inside(arguments.path.as_deref().unwrap_or("."))?;
    std::fs::read_dir(workspace).explain(
        "repo-map may not read the workspace. The user can allow it with `capstan ext allow repo-map`",
    )?;
    let limits = tree::Limits { depth: arguments.depth.unwrap_or(12), ..tree::Limits::default() };
    let tree = tree::read(workspace, &below, limits, call)?;
    let map = render::render(&tree, &below, arguments.max_bytes.unwrap_or(16_000));
    let details = Details {
        files: tree.files.len(),
        bytes: tree.files.iter().map(|file| file.bytes).sum(),
        shown: map.shown,
    };
    Output::text(map.text).with_details(&details)
}

/// A path of the model's, without what would lead out of the workspace. The sandbox would refuse it as well, but this
/// error tells the model what to write instead.
fn inside(path: &str) -> Result<PathBuf> {
    let path = path.strip_prefix(WORKSPACE).map_or(path, |below| below.trim_start_matches('/'));
    let mut clean = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => clean.push(name),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Error::new(format!(
                    "`path` is `{path}`, which lies outside the workspace: give a path relative to it, such as `src`"
                )));
            }
        }
    }
    Ok(clean)
}

capstan_sdk::extension! {
    summary: "Outlines the source files of the workspace.",
    requests: [Request::read_directory(".", "It reads the source files that it outlines.")],
    tools: [tool("repo_map", repo_map).label("Repository map")],
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
