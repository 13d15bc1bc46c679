//! The extensions of this repository and the guests of its tests, built from source.

use crate::run::{self, Workspace};
use anyhow::{Context, Result};
use capstan_builder::Language;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds everything below `extensions/` into `target/extensions` and everything below `tests/guests/` into
/// `target/guests`. Answers the first folder.
pub(crate) fn build_all(workspace: &Workspace) -> Result<PathBuf> {
    run::step("extensions: guest toolchain, then one component each");
    let extensions = workspace.target().join("extensions");
    build_folder(&workspace.path("extensions"), &extensions)?;
    build_folder(&workspace.path("tests/guests"), &workspace.target().join("guests"))?;
    Ok(extensions)
}

/// The folders that hold an extension, each with its language.
pub(crate) fn projects(folder: &Path) -> Result<Vec<(PathBuf, Language)>> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut projects = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if let Ok((language, _manifest)) = Language::of(&path) {
            projects.push((path, language));
        }
    }
    projects.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(projects)
}

/// The programs without which a language's projects are left out; Rust is what builds this.
pub(crate) fn missing(language: Language) -> Option<&'static str> {
    let needed: &[&str] = match language {
        Language::JavaScript => &["node", "npm"],
        Language::Python if !has_python() => return Some("python3 (3.10 or later) with venv"),
        _ => &[],
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |program: &&str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    needed.iter().find(|program| !is_there(program)).copied()
}

/// Whether there is a Python that can make a virtual environment; Debian's comes without.
fn has_python() -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))"]);
    python.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn build_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    let cache = capstan_builder::default_cache();
    for (project, language) in projects(from)? {
        if let Some(program) = missing(language) {
            eprintln!("    left out: {} needs {program}, which is not installed", project.display());
            continue;
        }
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

/// Calls `visit` with each Rust source below a folder, build outputs left out.
pub(crate) fn each_source(folder: &Path, visit: &mut dyn FnMut(&Path, &str)) -> Result<()> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && name != "node_modules" && !name.starts_with('.') {
            each_source(&path, visit)?;
        } else if name.ends_with(".rs") && path.is_file() {
            let source = std::fs::read_to_string(&path)
                .with_context(|| format!("{} cannot be read", path.display()))?;
            visit(&path, &source);
        }
    }
    Ok(())
}
