//! From a cargo project to one component file, and its tests.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::component::{kind_of, publish};
use crate::error::{ArtifactKind, BuilderError};
use crate::lock::take_lock;
use crate::process::CommandSpec;
use crate::rust::machine::Machine;
use crate::rust::project::{Project, states_release_profile};
use crate::rust::toolchain::{Toolchain, resolve};
use crate::{BuiltExtension, Purpose, guest_target_folder};

/// Asking cargo which workspace a project belongs to; it reads a few files and goes nowhere.
const LOCATE_LIMIT: Duration = Duration::from_secs(30);

/// How guests are compiled unless the project says otherwise: small, because size is what a load and a fresh call
/// cost. Only debug information is stripped: function names stay, so that a trap names the function it happened in.
const GUEST_PROFILE: [(&str, &str); 5] =
    [("OPT_LEVEL", "s"), ("LTO", "true"), ("CODEGEN_UNITS", "1"), ("PANIC", "abort"), ("STRIP", "debuginfo")];

/// How guests are compiled to be debugged. As optimised as they are used, so that a trap that shows there shows here.
const DEBUGGING_PROFILE: [(&str, &str); 2] = [("DEBUG", "line-tables-only"), ("STRIP", "none")];

/// Builds the extension of a `Cargo.toml` and puts `<package-name>.wasm` into `out_dir`.
///
/// cargo's messages go to stderr. Intermediate results go to a folder of `cache` that all extensions share, so a
/// dependency compiles once. An existing file is replaced in one step and only by a component, so a host that watches
/// `out_dir` never sees half a file. `Cargo.lock` is binding (`--locked`) when the `CI` variable is set.
///
/// # Errors
/// Those of [`toolchain`](crate::rust::toolchain); [`BuilderError::NotCdylib`] and its neighbours for a manifest that
/// describes no extension; [`BuilderError::Build`] when cargo reported an error; [`BuilderError::NotComponent`] when
/// the project's own settings replaced the linker.
pub(crate) fn build(
    project: &Path,
    purpose: Purpose,
    cache: &Path,
    out_dir: &Path,
    report: &dyn Fn(&str),
) -> Result<BuiltExtension, BuilderError> {
    let project = Project::read(project)?;
    build_on(&Machine::detect(Some(&project.dir)), &project, purpose, cache, out_dir, report)
}

/// Runs `cargo test` for the extension of a `Cargo.toml`, natively; cargo's messages go to stderr.
///
/// # Errors
/// Those of reading the manifest; [`BuilderError::NoToolchain`] without a cargo; [`BuilderError::Tests`] when a test failed.
pub(crate) fn test(project: &Path) -> Result<(), BuilderError> {
    let project = Project::read(project)?;
    let machine = Machine::detect(Some(&project.dir));
    let cargo = machine.cargo.clone().unwrap_or_else(|| PathBuf::from("cargo"));
    let command = CommandSpec::new(cargo)
        .args(["test", "--quiet", "--manifest-path"])
        .arg(&project.manifest)
        .in_dir(Some(&project.dir))
        .without(machine.leaks.iter().cloned());
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
    purpose: Purpose,
    cache: &Path,
    out_dir: &Path,
    report: &dyn Fn(&str),
) -> Result<BuiltExtension, BuilderError> {
    let started = Instant::now();
    let cache = std::path::absolute(cache).map_err(BuilderError::io("resolve", cache))?;
    let toolchain = resolve(machine, project.target, &cache, report)?;
    let workspace = workspace_manifest(machine, &toolchain, project);
    let target_dir = guest_target_folder(&cache).join(&toolchain.key);
    fs::create_dir_all(&target_dir).map_err(BuilderError::io("create", &target_dir))?;
    // cargo has such a lock too, but releases it before the result is copied out.
    let lock = take_lock(&target_dir.join("capstan.lock"), || {
        report("waiting for another extension build to finish");
    })?;

    let own_profile = project.has_release_profile || states_release_profile(&workspace)?;
    let settings = Settings {
        target_dir: &target_dir,
        profile: if own_profile { Profile::Project } else { Profile::Guest },
        purpose,
        lock: if workspace.with_file_name("Cargo.lock").is_file() && env::var_os("CI").is_some() {
            LockFile::Binding
        } else {
            LockFile::Updatable
        },
        path: env::var_os("PATH").unwrap_or_default(),
    };
    let command = cargo_command(machine, &toolchain, project, &settings);
    let release = target_dir.join(project.target.as_str()).join("release");
    claim_output(&target_dir, &release, project, &settings)?;
    report(&format!("building {} for {}", project.name, project.target));
    let status = command.run_visibly()?;
    if !status.success() {
        return Err(BuilderError::Build { name: project.name.clone(), status: status.to_string() });
    }
    let artifact = release.join(format!("{}.wasm", project.lib));
    if !artifact.is_file() {
        return Err(BuilderError::NoArtifact { path: artifact });
    }
    match kind_of(&artifact)? {
        ArtifactKind::Component => {}
        kind => return Err(BuilderError::NotComponent { path: artifact, kind }),
    }
    let (wasm, bytes) = publish(&artifact, out_dir, &project.wasm_name())?;
    drop(lock);
    Ok(BuiltExtension {
        wasm,
        bytes,
        target: project.target.to_string(),
        elapsed: started.elapsed(),
        name: project.name.clone(),
    })
}

/// Whose release profile applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// [`GUEST_PROFILE`].
    Guest,
    /// The one in the project's or its workspace's manifest, untouched.
    Project,
}

/// What `Cargo.lock` means to this build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockFile {
    /// It must fit as it is: a build server builds what was committed.
    Binding,
    /// cargo may bring it up to date: an author has just added a dependency.
    Updatable,
}

/// What a guest build depends on beside project and toolchain.
#[derive(Debug, Clone)]
pub(crate) struct Settings<'a> {
    pub(crate) target_dir: &'a Path,
    pub(crate) profile: Profile,
    pub(crate) purpose: Purpose,
    pub(crate) lock: LockFile,
    /// The inherited `PATH`.
    pub(crate) path: OsString,
}

/// The cargo call for one extension. Pure, so that tests can read all of it.
pub(crate) fn cargo_command(
    machine: &Machine,
    toolchain: &Toolchain,
    project: &Project,
    settings: &Settings<'_>,
) -> CommandSpec {
    let mut command = CommandSpec::new(&toolchain.cargo)
        .args(["build", "--release", "--lib", "--target", toolchain.target.as_str()])
        .arg("--manifest-path")
        .arg(&project.manifest)
        .in_dir(Some(&project.dir))
        .without(machine.leaks.iter().cloned())
        .env("CARGO_TARGET_DIR", settings.target_dir);
    if settings.lock == LockFile::Binding {
        command = command.arg("--locked");
    }
    if let Some(rustc) = &toolchain.rustc {
        command = command.env("RUSTC", rustc);
    }
    if let Some(linker) = &toolchain.linker {
        command = command.env(format!("CARGO_TARGET_{}_LINKER", toolchain.target.env_part()), linker);
        if let Some(path) = linker.parent().and_then(|folder| path_with(folder, &settings.path)) {
            command = command.env("PATH", path);
        }
    }
    if settings.profile == Profile::Guest {
        for (name, value) in GUEST_PROFILE {
            command = command.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
        }
    }
    if settings.purpose == Purpose::Debugging {
        // Over the project's own profile too, which most often strips.
        for (name, value) in DEBUGGING_PROFILE {
            command = command.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
        }
    }
    command
}

/// The linker's folder goes last: what the user's `PATH` already finds keeps its precedence.
fn path_with(folder: &Path, path: &OsStr) -> Option<OsString> {
    env::join_paths(env::split_paths(path).chain([folder.to_path_buf()])).ok()
}

/// The manifest that rules profile and lock file. cargo knows (it honours `exclude` and `package.workspace`); when it
/// cannot say, the build will tell the user why.
fn workspace_manifest(machine: &Machine, toolchain: &Toolchain, project: &Project) -> PathBuf {
    CommandSpec::new(&toolchain.cargo)
        .args(["locate-project", "--workspace", "--message-format", "plain", "--manifest-path"])
        .arg(&project.manifest)
        .in_dir(Some(&project.dir))
        .without(machine.leaks.iter().cloned())
        .capture_ok(LOCATE_LIMIT)
        .map(|done| PathBuf::from(done.stdout.trim_end()))
        .ok()
        .filter(|manifest| manifest.is_file())
        .unwrap_or_else(|| project.manifest.clone())
}

/// Makes sure that what lies at the output path afterwards comes from this project.
///
/// cargo names a guest library by its crate alone. Two projects with the same crate name in the shared folder overwrite
/// each other's file, and cargo, which remembers both as built, would then hand out the wrong one. So the last owner is
/// written down, and its file removed when the next one is another project, or the same with another manifest.
fn claim_output(
    target_dir: &Path,
    release: &Path,
    project: &Project,
    settings: &Settings<'_>,
) -> Result<(), BuilderError> {
    let Settings { profile, purpose, .. } = settings;
    let owners = target_dir.join("owners");
    fs::create_dir_all(&owners).map_err(BuilderError::io("create", &owners))?;
    let record = owners.join(format!("{}-{}", project.target, project.lib));
    let claim = format!("{}\n{profile:?} {purpose:?}\n{}", project.manifest.display(), project.text);
    if fs::read_to_string(&record).is_ok_and(|owner| owner == claim) {
        return Ok(());
    }
    let file = format!("{}.wasm", project.lib);
    for stale in [release.join("deps").join(&file), release.join(&file)] {
        match fs::remove_file(&stale) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(BuilderError::io("remove", stale)(error));
            }
            _ => {}
        }
    }
    fs::write(&record, claim).map_err(BuilderError::io("write", record))
}

#[cfg(test)]
#[path = "extension_tests.rs"]
mod tests;
