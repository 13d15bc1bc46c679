//! From an npm project to one component file, and its tests.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::time::Instant;

use crate::BuiltExtension;
use crate::component::{kind_of, publish};
use crate::contract;
use crate::error::{ArtifactKind, BuilderError};
use crate::javascript::install;
use crate::javascript::machine::Machine;
use crate::javascript::project::Project;
use crate::lock::take_lock;
use crate::process::CommandSpec;

/// Builds the extension of a `package.json` and puts `<package-name>.wasm` into `out_dir`.
///
/// # Errors
/// [`BuilderError::NoNode`] and its neighbours for what is missing on the machine; [`BuilderError::Npm`] when the packages could
/// not be installed; [`BuilderError::Build`] when the SDK's step reported an error, [`BuilderError::NoComponent`] when it wrote something else.
pub(crate) fn build(
    manifest: &Path,
    cache: &Path,
    out_dir: &Path,
    report: &dyn Fn(&str),
) -> Result<BuiltExtension, BuilderError> {
    build_on(&Machine::detect(), &Project::read(manifest)?, cache, out_dir, report)
}

/// Runs `npm test` for the extension of a `package.json`, natively; what it says goes to stderr.
///
/// # Errors
/// As [`build`], and [`BuilderError::Tests`] when a test failed.
pub(crate) fn test(manifest: &Path, cache: &Path, report: &dyn Fn(&str)) -> Result<(), BuilderError> {
    let (machine, project) = (Machine::detect(), Project::read(manifest)?);
    if !project.has_tests {
        report(&format!("{} has no script `test` in its package.json", project.name));
        return Ok(());
    }
    machine.node()?;
    let lock = locked(&project, cache, report)?;
    install::ensure(&machine, &project, report)?;
    drop(lock);
    let command = CommandSpec::new(machine.npm()?).args(["test", "--silent"]).in_dir(Some(&project.dir));
    let status = command.run_on_stderr()?;
    if status.success() {
        return Ok(());
    }
    Err(BuilderError::Tests { name: project.name, status: status.to_string() })
}

/// [`build`] on a given machine.
pub(crate) fn build_on(
    machine: &Machine,
    project: &Project,
    cache: &Path,
    out_dir: &Path,
    report: &dyn Fn(&str),
) -> Result<BuiltExtension, BuilderError> {
    let started = Instant::now();
    let node = machine.node()?;
    let lock = locked(project, cache, report)?;
    install::ensure(machine, project, report)?;
    let step =
        project.sdk().ok_or_else(|| BuilderError::NoJavaScriptSdk { path: project.manifest.clone() })?;

    let work = tempfile::tempdir().map_err(|source| BuilderError::Io {
        action: "make a folder in",
        path: std::env::temp_dir(),
        source,
    })?;
    let (wit, artifact) = (work.path().join("wit"), work.path().join("built.wasm"));
    contract::write(&wit)?;
    report(&format!("building {} with {}", project.name, project.engine));
    let command = CommandSpec::new(node)
        .arg(step)
        .args(["build", "--wit"])
        .arg(&wit)
        .arg("--out")
        .arg(&artifact)
        .in_dir(Some(&project.dir));
    // What the author's module writes while it is loaded is talk as well.
    let status = command.run_on_stderr()?;
    if !status.success() {
        return Err(BuilderError::Build { name: project.name.clone(), status: status.to_string() });
    }
    let kind = if artifact.is_file() { kind_of(&artifact)? } else { ArtifactKind::Other };
    if kind != ArtifactKind::Component {
        return Err(BuilderError::NoComponent { tool: "the SDK's build step", kind });
    }
    let (wasm, bytes) = publish(&artifact, out_dir, &project.wasm_name())?;
    drop(lock);
    Ok(BuiltExtension {
        wasm,
        bytes,
        target: project.engine.clone(),
        elapsed: started.elapsed(),
        name: project.name.clone(),
    })
}

/// One installation and build at a time in a project; others go on beside it.
fn locked(project: &Project, cache: &Path, report: &dyn Fn(&str)) -> Result<fs::File, BuilderError> {
    let folder = cache.join("javascript");
    fs::create_dir_all(&folder).map_err(BuilderError::io("create", &folder))?;
    let mut name = DefaultHasher::new();
    project.dir.hash(&mut name);
    take_lock(&folder.join(format!("{:016x}.lock", name.finish())), || {
        report("waiting for another build of this project to finish");
    })
}

#[cfg(test)]
#[path = "extension_tests.rs"]
mod tests;
