//! From a Python project to one component file, and its tests.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::component::{kind_of, publish};
use crate::error::{ArtifactKind, BuilderError};
use crate::python::environment::{Environment, TOOL};
use crate::python::interpreter::{Surroundings, command};
use crate::python::kept::Kept;
use crate::python::packages::Wanted;
use crate::python::project::Project;
use crate::{BuiltExtension, contract};

/// Builds the extension of a `pyproject.toml` and puts `<project-name>.wasm` into `out_dir`.
///
/// # Errors
/// [`BuilderError::NoPython`] and [`BuilderError::NotInstalled`] for tools that are missing, [`BuilderError::PythonProject`] for a
/// manifest that describes no extension, [`BuilderError::Build`] when the SDK's build step reported an error.
pub(crate) fn build(
    manifest: &Path,
    cache: &Path,
    out_dir: &Path,
    report: &dyn Fn(&str),
) -> Result<BuiltExtension, BuilderError> {
    let started = Instant::now();
    let project = Project::read(manifest)?;
    let cache = std::path::absolute(cache).map_err(BuilderError::io("resolve", cache))?;
    let surroundings = Surroundings::detect();
    let interpreter = surroundings.interpreter()?;
    let environment = Environment::find_or_make(&cache, &surroundings, &interpreter, report)?;
    let wanted = Wanted::by_extension(&project)?;
    let packages = wanted.install(&cache, &surroundings, &environment, report)?;
    let scratch = tempfile::tempdir().map_err(BuilderError::io("create a folder in", env::temp_dir()))?;
    let wit = scratch.path().join("wit");
    contract::write(&wit)?;
    let kept = Kept::of(&project, packages.as_deref(), &wit, &cache, report)?;
    let artifact = match kept.component() {
        Some(component) => component,
        None => {
            let place = kept.place()?;
            let python = environment.python();
            report(&format!("building {} with {TOOL}", project.name));
            make(&project, &python, packages.as_deref(), &wit, &place)?;
            kept.keep()?;
            place
        }
    };
    let (wasm, bytes) = publish(&artifact, out_dir, &project.wasm_name())?;
    let target = format!("Python ({})", TOOL.replace("==", " "));
    Ok(BuiltExtension { wasm, bytes, target, elapsed: started.elapsed(), name: project.name })
}

/// Has the SDK make the component.
fn make(
    project: &Project,
    python: &Path,
    packages: Option<&Path>,
    wit: &Path,
    artifact: &Path,
) -> Result<(), BuilderError> {
    let search = python_path([project.sdk.clone(), packages.map(Path::to_path_buf)])?;
    let mut step = command(python)
        .env("PYTHONPATH", search)
        .args(["-m", "capstan_sdk.build"])
        .arg(&project.dir)
        .args(["--module", &project.module, "--id", &project.name, "--version", &project.version])
        .arg("--wit")
        .arg(wit)
        .arg("--out")
        .arg(artifact)
        // Not the project's: with `-m` modules of the working folder would go before all others.
        .in_dir(wit.parent());
    if let Some(packages) = packages {
        step = step.arg("--dependencies").arg(packages);
    }
    let status = step.run_on_stderr()?;
    if !status.success() {
        return Err(BuilderError::Build { name: project.name.clone(), status: status.to_string() });
    }
    match kind_of(artifact)? {
        ArtifactKind::Component => Ok(()),
        kind => Err(BuilderError::NoComponent { tool: TOOL, kind }),
    }
}

/// Runs the project's tests natively: those in `tests/`, with pytest where the project names it and else with unittest.
///
/// # Errors
/// As [`build`], and [`BuilderError::Tests`] when one failed.
pub(crate) fn test(manifest: &Path, cache: &Path, report: &dyn Fn(&str)) -> Result<(), BuilderError> {
    let project = Project::read(manifest)?;
    let tests = project.dir.join("tests");
    if !tests.is_dir() {
        report(&format!("{} has no folder `tests`, so there are no unit tests to run", project.name));
        return Ok(());
    }
    let cache = std::path::absolute(cache).map_err(BuilderError::io("resolve", cache))?;
    let surroundings = Surroundings::detect();
    let interpreter = surroundings.interpreter()?;
    let (extension, only_tests) = (Wanted::by_extension(&project)?, Wanted::by_tests(&project));
    let mut folders = vec![Some(project.source()), project.sdk.clone()];
    let is_bare = project.dependencies.is_empty() && project.test_dependencies.is_empty();
    if !is_bare {
        let environment = Environment::find_or_make(&cache, &surroundings, &interpreter, report)?;
        folders.push(extension.install(&cache, &surroundings, &environment, report)?);
        folders.push(only_tests.install(&cache, &surroundings, &environment, report)?);
    }
    let runner: &[&str] = if project.has_pytest() {
        &["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    } else {
        &["-m", "unittest", "discover", "-s", "tests"]
    };
    let status = interpreter
        .command()
        .env("PYTHONPATH", python_path(folders)?)
        .args(runner.iter().copied())
        .in_dir(Some(&project.dir))
        .run_on_stderr()?;
    if status.success() {
        return Ok(());
    }
    Err(BuilderError::Tests { name: project.name, status: status.to_string() })
}

/// Folders to import from, the ones that are there.
fn python_path(folders: impl IntoIterator<Item = Option<PathBuf>>) -> Result<OsString, BuilderError> {
    let folders: Vec<PathBuf> = folders.into_iter().flatten().collect();
    env::join_paths(&folders).map_err(|source| BuilderError::Separator {
        folders: folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", "),
        source,
    })
}
