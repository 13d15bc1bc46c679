//! What a project's `package.json` says about the extension in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::BuilderError;

/// One extension's project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// The folder of the manifest, absolute.
    pub(crate) dir: PathBuf,
    pub(crate) manifest: PathBuf,
    /// The package's name without its scope.
    pub(crate) name: String,
    /// The engine inside of the component, in words for people.
    pub(crate) engine: String,
    /// Packages that are folders here, by name. npm copies them and does not notice when they change.
    pub(crate) folders: BTreeMap<String, PathBuf>,
    pub(crate) has_tests: bool,
}

/// The few fields that matter here. Everything else is npm's and the SDK's to judge.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    name: Option<String>,
    capstan: Option<Capstan>,
    #[serde(default)]
    scripts: BTreeMap<String, String>,
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
    #[serde(default)]
    dev_dependencies: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Capstan {
    #[serde(default = "default_engine")]
    engine: String,
}

fn default_engine() -> String {
    "quickjs".to_owned()
}

impl Project {
    /// Reads the project of a `package.json`.
    pub(crate) fn read(manifest: &Path) -> Result<Self, BuilderError> {
        let text = fs::read_to_string(manifest).map_err(BuilderError::io("read", manifest))?;
        Self::parse(manifest, &text)
    }

    pub(crate) fn parse(manifest: &Path, text: &str) -> Result<Self, BuilderError> {
        let parsed: Manifest = serde_json::from_str(text)
            .map_err(|source| BuilderError::PackageJson { path: manifest.to_path_buf(), source })?;
        let capstan = parsed.capstan.ok_or_else(|| BuilderError::NoEntry { path: manifest.to_path_buf() })?;
        let name = parsed.name.unwrap_or_default();
        let name = name.rsplit('/').next().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| BuilderError::NoPackage { path: manifest.to_path_buf() })?;
        let dir = manifest.parent().map(Path::to_path_buf).unwrap_or_default();
        let folders = parsed
            .dependencies
            .into_iter()
            .chain(parsed.dev_dependencies)
            .filter_map(|(name, wanted)| Some((name, dir.join(wanted.strip_prefix("file:")?))))
            .collect();
        Ok(Self {
            manifest: manifest.to_path_buf(),
            name: name.to_owned(),
            engine: capstan.engine,
            folders,
            has_tests: parsed.scripts.contains_key("test"),
            dir,
        })
    }

    /// The SDK as node finds it from the project: its own `node_modules`, or that of a folder around it.
    pub(crate) fn sdk(&self) -> Option<PathBuf> {
        let step = Path::new("node_modules/capstan-sdk/bin/capstan-sdk.js");
        self.dir.ancestors().map(|folder| folder.join(step)).find(|step| step.is_file())
    }

    /// The file's name in the output folder.
    pub(crate) fn wasm_name(&self) -> String {
        format!("{}.wasm", self.name.replace('_', "-"))
    }
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
