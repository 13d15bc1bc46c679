//! A project's own dependencies, each set in a folder of the cache that is made once.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::error::BuilderError;
use crate::lock::take_lock;
use crate::python::environment::{Environment, pip, run};
use crate::python::interpreter::Surroundings;
use crate::python::project::Project;

/// The Python inside of a component of this componentize-py.
const GUEST_PYTHON: &str = "3.14";

/// Where packages will run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a component: pure Python alone.
    Sandbox,
    /// In the tests on this machine.
    Here,
}

/// Packages to install, and the file that pins them, if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    requirements: Vec<String>,
    lock: Option<(PathBuf, String)>,
    place: Place,
}

impl Wanted {
    /// What the extension itself imports. A `requirements.lock` beside the manifest (`pip freeze`, `pip-compile`, `uv export`) takes
    /// the place of the dependencies' version ranges.
    pub(crate) fn by_extension(project: &Project) -> Result<Self, BuilderError> {
        let file = project.dir.join("requirements.lock");
        let is_locked = !project.dependencies.is_empty() && file.is_file();
        let lock = if is_locked {
            let text = fs::read_to_string(&file).map_err(BuilderError::io("read", &file))?;
            Some((file, text))
        } else {
            None
        };
        Ok(Self { requirements: project.dependencies.clone(), lock, place: Place::Sandbox })
    }

    /// What only its tests import.
    pub(crate) fn by_tests(project: &Project) -> Self {
        Self { requirements: project.test_dependencies.clone(), lock: None, place: Place::Here }
    }

    /// The folder with the packages, made if need be; `None` where nothing is wanted.
    pub(crate) fn install(
        &self,
        cache: &Path,
        surroundings: &Surroundings,
        environment: &Environment,
        report: &dyn Fn(&str),
    ) -> Result<Option<PathBuf>, BuilderError> {
        if self.requirements.is_empty() {
            return Ok(None);
        }
        let parent = cache.join("python").join("packages");
        let folder = parent.join(self.key(environment));
        if folder.is_dir() {
            return Ok(Some(folder));
        }
        let what = self.requirements.join(" ");
        if !surroundings.may_install {
            return Err(BuilderError::NotInstalled {
                what,
                reason: "CAPSTAN_NO_INSTALL is set".to_owned(),
                remedy: "build once without it".to_owned(),
            });
        }
        fs::create_dir_all(&parent).map_err(BuilderError::io("create", &parent))?;
        let lock = take_lock(&parent.join("capstan.lock"), || {
            report("waiting for another build to install packages");
        })?;
        if folder.is_dir() {
            return Ok(Some(folder));
        }
        report(&format!("installing {what}"));
        // Beside its place, so that a folder of that name is always whole.
        let made = tempfile::Builder::new()
            .prefix(".part-")
            .tempdir_in(&parent)
            .map_err(BuilderError::io("create a folder in", &parent))?;
        let mut command = pip(&environment.python()).arg("--target").arg(made.path());
        if self.place == Place::Sandbox {
            // A wheel for this machine would install, and fail to load in the sandbox.
            let pure = ["--only-binary=:all:", "--platform=any", "--implementation=py", "--abi=none"];
            command = command.args(pure).arg(format!("--python-version={GUEST_PYTHON}"));
        }
        command = match &self.lock {
            Some((file, _)) => command.arg("--requirement").arg(file),
            None => command.args(self.requirements.iter().cloned()),
        };
        let named = match self.place {
            // pip says of a package with native code that there is none at all.
            Place::Sandbox => format!("{what} (the sandbox runs pure Python alone)"),
            Place::Here => what,
        };
        run(&command, &named)?;
        let made = made.keep();
        fs::rename(&made, &folder).map_err(BuilderError::io("rename a new folder to", &folder))?;
        drop(lock);
        Ok(Some(folder))
    }

    /// Names what is in the folder: other requirements, another lock or another Python are another folder.
    fn key(&self, environment: &Environment) -> String {
        let mut hasher = DefaultHasher::new();
        self.requirements.hash(&mut hasher);
        self.lock.as_ref().map(|(_, text)| text).hash(&mut hasher);
        (self.place == Place::Sandbox).hash(&mut hasher);
        environment.folder.file_name().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

#[cfg(test)]
#[path = "packages_tests.rs"]
mod tests;
