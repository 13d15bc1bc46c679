//! The extensions of this repository and the guests of its tests, built from source.

use crate::run::{self, Workspace};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Builds everything below `extensions/` into `target/extensions` and everything below `tests/guests/` into
/// `target/guests`. Answers the first folder.
pub(crate) fn build_all(workspace: &Workspace) -> Result<PathBuf> {
    run::step("extensions: guest toolchain, then one component each");
    let extensions = workspace.target().join("extensions");
    build_folder(&workspace.path("extensions"), &extensions)?;
    build_folder(&workspace.path("tests/guests"), &workspace.target().join("guests"))?;
    Ok(extensions)
}

/// The folders that hold an extension in Rust.
pub(crate) fn projects(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut projects = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.join("Cargo.toml").is_file() {
            projects.push(path);
        }
    }
    projects.sort();
    Ok(projects)
}

fn build_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    let cache = capstan_builder::default_cache();
    for project in projects(from)? {
        let built = capstan_builder::build(&project, &cache, to, &|line| eprintln!("    {line}"))?;
        eprintln!(
            "    {}: {} bytes for {} in {:.1} s",
            built.wasm.display(),
            built.bytes,
            built.target,
            built.elapsed.as_secs_f64()
        );
    }
    Ok(())
}
