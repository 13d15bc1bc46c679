//! npm packages of a project, installed when they are not there or older than what names them.

use std::fs::{self, File};
use std::path::Path;
use std::time::SystemTime;

use crate::error::BuilderError;
use crate::javascript::machine::Machine;
use crate::javascript::project::Project;
use crate::process::CommandSpec;

/// Written after each installation of ours, because npm does not touch its own record when nothing had to be done.
const STAMP: &str = "node_modules/.capstan-installed";

/// What npm writes down about an installation.
const RECORD: &str = "node_modules/.package-lock.json";

/// How things stand with the packages of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packages {
    Current,
    /// Something that names them changed after they were installed.
    Outdated,
    Missing,
}

/// Installs what is missing. With `CAPSTAN_NO_INSTALL` it only says what should be done, and fails where nothing is there.
pub(crate) fn ensure(
    machine: &Machine,
    project: &Project,
    report: &dyn Fn(&str),
) -> Result<(), BuilderError> {
    let packages = state(project)?;
    if packages == Packages::Current {
        return Ok(());
    }
    if !machine.may_install {
        if packages == Packages::Missing {
            return Err(BuilderError::NoPackages { path: project.dir.clone() });
        }
        report("the npm packages may be out of date; they stay, because CAPSTAN_NO_INSTALL is set");
        return Ok(());
    }
    // npm does not look whether a folder that it copied has changed.
    for (name, _) in project.folders.iter().filter(|(_, folder)| folder.is_dir()) {
        let copy = project.dir.join("node_modules").join(name);
        if fs::symlink_metadata(&copy).is_ok_and(|found| found.is_dir()) {
            fs::remove_dir_all(&copy).map_err(BuilderError::io("remove", &copy))?;
        }
    }
    report(&format!("installing the npm packages of {}", project.name));
    let status = command(machine, project)?.run_visibly()?;
    if !status.success() {
        return Err(BuilderError::Npm { path: project.dir.clone(), status: status.to_string() });
    }
    // Without any dependency npm makes no folder.
    fs::create_dir_all(project.dir.join("node_modules"))
        .and_then(|()| File::create(project.dir.join(STAMP)))
        .map_err(BuilderError::io("write", project.dir.join(STAMP)))?;
    Ok(())
}

/// The npm call. Pure, so that tests can read all of it.
pub(crate) fn command(machine: &Machine, project: &Project) -> Result<CommandSpec, BuilderError> {
    let is_locked = machine.is_build_server && project.dir.join("package-lock.json").is_file();
    Ok(CommandSpec::new(machine.npm()?)
        .arg(if is_locked { "ci" } else { "install" })
        // What npm has in its cache is not asked for again.
        .args(["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"])
        .in_dir(Some(&project.dir)))
}

/// Looks at times alone; npm is not started.
pub(crate) fn state(project: &Project) -> Result<Packages, BuilderError> {
    let installed = [STAMP, RECORD].iter().filter_map(|name| changed(&project.dir.join(name))).max();
    let Some(installed) = installed else {
        // The packages may also be those of a folder around the project.
        let is_elsewhere = project.sdk().is_some() && !project.dir.join("node_modules").exists();
        return Ok(if is_elsewhere { Packages::Current } else { Packages::Missing });
    };
    let mut latest = ["package.json", "package-lock.json", ".npmrc"]
        .iter()
        .filter_map(|name| changed(&project.dir.join(name)))
        .max();
    for folder in project.folders.values().filter(|folder| folder.is_dir()) {
        latest = latest.max(Some(newest(folder)?));
    }
    Ok(if latest.is_some_and(|latest| latest > installed) { Packages::Outdated } else { Packages::Current })
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// When anything in a package's folder changed last, without what was installed into it.
fn newest(folder: &Path) -> Result<SystemTime, BuilderError> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(folder).map_err(BuilderError::io("read", folder))? {
        let entry = entry.map_err(BuilderError::io("read", folder))?;
        let found = entry.metadata().map_err(BuilderError::io("read", entry.path()))?;
        if entry.file_name() == "node_modules" || entry.file_name() == "target" {
            continue;
        }
        let own = found.modified().map_err(BuilderError::io("read", entry.path()))?;
        newest = newest.max(if found.is_dir() { newest_of(&entry.path(), own)? } else { own });
    }
    Ok(newest)
}

/// A folder's own time counts too: it tells of a file that was taken away.
fn newest_of(folder: &Path, own: SystemTime) -> Result<SystemTime, BuilderError> {
    Ok(newest(folder)?.max(own))
}

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
