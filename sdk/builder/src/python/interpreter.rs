//! The Python of this machine: found on the path, asked for its version and for what it lacks.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::BuilderError;
use crate::process::CommandSpec;

/// The oldest that runs the SDK.
const OLDEST: (u32, u32) = (3, 10);

/// Starting an interpreter takes 20 ms; on a cold disk a second.
const QUERY_LIMIT: Duration = Duration::from_secs(30);

/// The names that distributions give it. The plain one first: it is the one that the user means.
const NAMES: [&str; 7] =
    ["python3", "python", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];

/// Answers version and what a virtual environment needs.
const QUESTION: &str = "import importlib.util as find, sys; \
    print(*sys.version_info[:3], all(map(find.find_spec, ('venv', 'ensurepip'))))";

/// Variables with which a user's own environment would reach into ours.
pub(crate) const LEAKS: [&str; 6] =
    ["PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "VIRTUAL_ENV", "PIP_TARGET", "PIP_USER"];

/// Where an interpreter is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    /// `$CAPSTAN_PYTHON`: this one and no other.
    pub(crate) chosen: Option<PathBuf>,
    pub(crate) path: Vec<PathBuf>,
    /// Whether packages may be fetched.
    pub(crate) may_install: bool,
    /// Whether the remedy is a Debian package.
    pub(crate) has_apt: bool,
}

/// A Python that can make an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interpreter {
    pub(crate) program: PathBuf,
    pub(crate) version: (u32, u32, u32),
}

impl Surroundings {
    /// Those of this process.
    pub(crate) fn detect() -> Self {
        let path: Vec<PathBuf> =
            env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        Self {
            chosen: set("CAPSTAN_PYTHON").map(PathBuf::from),
            may_install: set("CAPSTAN_NO_INSTALL").is_none(),
            has_apt: path.iter().any(|folder| folder.join("apt-get").is_file()),
            path,
        }
    }

    /// The first that is new enough and can make an environment.
    ///
    /// # Errors
    /// [`BuilderError::NoPython`] with what was found and why it does not do.
    pub(crate) fn interpreter(&self) -> Result<Interpreter, BuilderError> {
        let mut reasons = Vec::new();
        let mut lacks_venv = false;
        for program in self.candidates() {
            match ask(&program) {
                Ok((version, _)) if (version.0, version.1) < OLDEST => {
                    reasons.push(format!("{} is version {}.{}", program.display(), version.0, version.1));
                }
                Ok((version, false)) => {
                    lacks_venv = true;
                    reasons.push(format!(
                        "{} (version {}.{}) comes without venv and ensurepip",
                        program.display(),
                        version.0,
                        version.1
                    ));
                }
                Ok((version, true)) => return Ok(Interpreter { program, version }),
                Err(reason) => reasons.push(reason),
            }
        }
        if reasons.is_empty() {
            reasons.push("there is no python3 on PATH".to_owned());
        }
        let remedy = match (self.has_apt, lacks_venv) {
            (true, true) => "sudo apt-get install python3-venv",
            (true, false) => "sudo apt-get install python3 python3-venv",
            (false, _) => "install Python 3.10 or later from https://www.python.org/downloads/",
        };
        Err(BuilderError::NoPython { reasons, remedy: remedy.to_owned() })
    }

    fn candidates(&self) -> Vec<PathBuf> {
        if let Some(chosen) = &self.chosen {
            return vec![chosen.clone()];
        }
        let found =
            |name: &&str| self.path.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
        NAMES.iter().filter_map(found).collect()
    }
}

impl Interpreter {
    /// A call of it that nothing of the user's own environment reaches.
    pub(crate) fn command(&self) -> CommandSpec {
        command(&self.program)
    }

    /// `3.11.7`
    pub(crate) fn version(&self) -> String {
        let (major, minor, patch) = self.version;
        format!("{major}.{minor}.{patch}")
    }
}

/// A call of an interpreter that nothing of the user's own environment reaches, and that writes no caches beside sources.
pub(crate) fn command(program: &Path) -> CommandSpec {
    CommandSpec::new(program).without(LEAKS.map(OsString::from)).env("PYTHONDONTWRITEBYTECODE", "1")
}

/// Version, and whether it can make an environment; or why it cannot be asked.
fn ask(program: &Path) -> Result<((u32, u32, u32), bool), String> {
    let answered = command(program).args(["-c", QUESTION]).capture_ok(QUERY_LIMIT);
    let text = answered.map_err(|error| format!("{} does not answer: {error}", program.display()))?.stdout;
    parse(&text).ok_or_else(|| format!("{} does not answer as a Python 3 does", program.display()))
}

fn parse(text: &str) -> Option<((u32, u32, u32), bool)> {
    let mut words = text.split_whitespace();
    let mut number = || words.next()?.parse().ok();
    let version = (number()?, number()?, number()?);
    Some((version, words.next()? == "True"))
}

#[cfg(test)]
#[path = "interpreter_tests.rs"]
mod tests;
