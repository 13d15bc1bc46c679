//! What this machine offers for JavaScript. Looking only.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::BuilderError;
use crate::process::CommandSpec;

/// The oldest node that has what the SDK uses.
pub(crate) const OLDEST_NODE: u32 = 20;

/// A version query takes 20 ms.
const QUERY_LIMIT: Duration = Duration::from_secs(30);

/// The machine as the builder sees it. Tests put fake programs here.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) node: Option<PathBuf>,
    pub(crate) npm: Option<PathBuf>,
    /// Whether packages may be fetched.
    pub(crate) may_install: bool,
    /// Whether a lock file is binding: a build server builds what was committed.
    pub(crate) is_build_server: bool,
}

impl Machine {
    /// Reads the environment of this process.
    pub(crate) fn detect() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        let find = |program: &str| {
            env::split_paths(&path)
                .filter(|folder| folder.is_absolute())
                .map(|folder| folder.join(program))
                .find(|candidate| candidate.is_file())
        };
        Self {
            node: find("node"),
            npm: find("npm"),
            may_install: env::var_os("CAPSTAN_NO_INSTALL").is_none_or(|value| value.is_empty()),
            is_build_server: env::var_os("CI").is_some(),
        }
    }

    /// A node that is new enough.
    pub(crate) fn node(&self) -> Result<&Path, BuilderError> {
        let node = self.node.as_deref().ok_or(BuilderError::NoNode { program: "node" })?;
        let version = version(node)?;
        match major(&version) {
            Some(major) if major >= OLDEST_NODE => Ok(node),
            _ => Err(BuilderError::OldNode { path: node.to_path_buf(), version, oldest: OLDEST_NODE }),
        }
    }

    pub(crate) fn npm(&self) -> Result<&Path, BuilderError> {
        self.npm.as_deref().ok_or(BuilderError::NoNode { program: "npm" })
    }
}

/// What a program answers to `--version`.
pub(crate) fn version(program: &Path) -> Result<String, BuilderError> {
    let done = CommandSpec::new(program).arg("--version").capture_ok(QUERY_LIMIT)?;
    Ok(done.stdout.trim().to_owned())
}

/// The first number of a version such as `v20.11.0`.
pub(crate) fn major(version: &str) -> Option<u32> {
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}
