//! componentize-py, in a virtual environment of the cache that all projects share.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::BuilderError;
use crate::lock::take_lock;
use crate::process::CommandSpec;
use crate::python::interpreter::{self, Interpreter, Surroundings};

/// What makes a component of Python, pinned: another version may name the generated modules otherwise.
pub(crate) const TOOL: &str = "componentize-py==0.25.1";

/// Written last, so an environment without it is one that was never finished.
const READY: &str = "capstan-ready";

/// A virtual environment with the tools in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Environment {
    pub(crate) folder: PathBuf,
}

impl Environment {
    /// The environment of this interpreter, if an earlier run finished it and the interpreter is still there.
    pub(crate) fn existing(cache: &Path, interpreter: &Interpreter) -> Option<Self> {
        let environment = Self { folder: folder(cache, interpreter) };
        let is_whole = environment.folder.join(READY).is_file() && environment.python().is_file();
        is_whole.then_some(environment)
    }

    /// Finds or makes it.
    ///
    /// # Errors
    /// [`BuilderError::NotInstalled`] where it must be made and nothing may be fetched, or pip fails.
    pub(crate) fn find_or_make(
        cache: &Path,
        surroundings: &Surroundings,
        interpreter: &Interpreter,
        report: &dyn Fn(&str),
    ) -> Result<Self, BuilderError> {
        if let Some(ready) = Self::existing(cache, interpreter) {
            return Ok(ready);
        }
        let environment = Self { folder: folder(cache, interpreter) };
        if !surroundings.may_install {
            return Err(BuilderError::NotInstalled {
                what: TOOL.to_owned(),
                reason: "CAPSTAN_NO_INSTALL is set".to_owned(),
                remedy: "build once without it".to_owned(),
            });
        }
        let parent = environment.folder.parent().unwrap_or(cache);
        fs::create_dir_all(parent).map_err(BuilderError::io("create", parent))?;
        let lock = take_lock(&parent.join("capstan.lock"), || {
            report("waiting for another build to set up Python");
        })?;
        // Another process may have made it while this one waited.
        if let Some(ready) = Self::existing(cache, interpreter) {
            return Ok(ready);
        }
        report(&format!("installing {TOOL} for Python {} (about 40 MB)", interpreter.version()));
        let make = interpreter.command().args(["-m", "venv", "--clear"]).arg(&environment.folder);
        run(&make, "a virtual environment")?;
        run(&pip(&environment.python()).arg(TOOL), TOOL)?;
        let stamp = environment.folder.join(READY);
        fs::write(&stamp, TOOL).map_err(BuilderError::io("write", stamp))?;
        drop(lock);
        Ok(environment)
    }

    /// Its interpreter.
    pub(crate) fn python(&self) -> PathBuf {
        if cfg!(windows) {
            self.folder.join("Scripts").join("python.exe")
        } else {
            self.folder.join("bin").join("python")
        }
    }
}

/// The beginning of an installation that neither asks nor talks.
pub(crate) fn pip(python: &Path) -> CommandSpec {
    interpreter::command(python).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
    ])
}

/// Runs an installation with its messages shown.
pub(crate) fn run(command: &CommandSpec, what: &str) -> Result<(), BuilderError> {
    let status = command.run_on_stderr()?;
    if status.success() {
        return Ok(());
    }
    Err(BuilderError::NotInstalled {
        what: what.to_owned(),
        reason: format!("it ended with {status}, and the messages above say why"),
        remedy: format!("see whether this works by hand: {command}"),
    })
}

/// A virtual environment belongs to one interpreter and cannot be moved, so both are in its name.
fn folder(cache: &Path, interpreter: &Interpreter) -> PathBuf {
    cache.join("python").join(format!("{}-python-{}", TOOL.replace("==", "-"), interpreter.version()))
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
