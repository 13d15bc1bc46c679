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

/// Without what a language's projects are left out; Rust is what builds this.
pub(crate) fn missing(language: Language) -> Option<&'static str> {
    match language {
        Language::JavaScript if !has_node() => Some("Node.js 20 or later with npm"),
        Language::Python if !has_python() => Some("python3 (3.10 or later) with venv"),
        _ => None,
    }
}

fn has_node() -> bool {
    let is_new = "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)";
    goes_well("node", &["-e", is_new]) && goes_well("npm", &["--version"])
}

/// Whether there is a Python that can make a virtual environment; Debian's comes without.
fn has_python() -> bool {
    goes_well("python3", &["-c", "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))"])
}

fn goes_well(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn build_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for (project, language) in projects(from)? {
        if let Some(program) = missing(language) {
            eprintln!("    left out: {} needs {program}, which is not installed", project.display());
            continue;
        }
        build_project(&project, to)?;
    }
    Ok(())
}

/// Builds one project and says what came of it.
pub(crate) fn build_project(project: &Path, to: &Path) -> Result<()> {
    let cache = capstan_builder::default_cache();
    let built = capstan_builder::build(project, &cache, to, &|line| eprintln!("    {line}"))?;
    eprintln!(
        "    {}: {} bytes for {} in {:.1} s",
        built.wasm.display(),
        built.bytes,
        built.target,
        built.elapsed.as_secs_f64()
    );
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
