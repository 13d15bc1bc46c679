//! What a project's `pyproject.toml` says about the extension in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::BuilderError;

/// One extension's project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// The folder of the manifest.
    pub(crate) dir: PathBuf,
    pub(crate) manifest: PathBuf,
    pub(crate) name: String,
    pub(crate) version: String,
    /// The module that declares the extension.
    pub(crate) module: String,
    /// The SDK's folder; without it the SDK is one of the dependencies.
    pub(crate) sdk: Option<PathBuf>,
    /// What the extension imports, as pip reads it.
    pub(crate) dependencies: Vec<String>,
    /// What only its tests import.
    pub(crate) test_dependencies: Vec<String>,
}

impl Project {
    /// Reads a manifest.
    pub(crate) fn read(manifest: &Path) -> Result<Self, BuilderError> {
        let text = fs::read_to_string(manifest).map_err(BuilderError::io("read", manifest))?;
        Self::parse(manifest, &text)
    }

    pub(crate) fn parse(manifest: &Path, text: &str) -> Result<Self, BuilderError> {
        let parsed: Manifest = toml::from_str(text).map_err(|source| BuilderError::Manifest {
            path: manifest.to_path_buf(),
            source: Box::new(source),
        })?;
        let unfit = |problem: String| BuilderError::PythonProject { path: manifest.to_path_buf(), problem };
        let dir = manifest.parent().map(Path::to_path_buf).unwrap_or_default();
        let Some(project) = parsed.project else {
            return Err(unfit("it has no table [project] with `name` and `version`".to_owned()));
        };
        let Some(own) = parsed.tool.capstan else {
            return Err(unfit(
                "it is no extension's; add a table [tool.capstan] with `module`, the module that declares it"
                    .to_owned(),
            ));
        };
        let module = own.module.unwrap_or_else(|| project.name.replace('-', "_"));
        let is_name = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if !module.split('.').all(is_name) {
            return Err(unfit(format!("`{module}` cannot name a module")));
        }
        let (of_sdk, dependencies): (Vec<_>, Vec<_>) =
            project.dependencies.into_iter().partition(|one| requirement_name(one) == "capstan-sdk");
        let sdk = own.sdk.map(|path| dir.join(path));
        if let Some(folder) = sdk.as_ref().filter(|folder| !folder.join("capstan_sdk").is_dir()) {
            return Err(unfit(format!("`sdk` names {}, which holds no capstan_sdk", folder.display())));
        }
        if sdk.is_none() && of_sdk.is_empty() {
            return Err(unfit(
                "it names no SDK; add `sdk`, its folder, to [tool.capstan], or \"capstan-sdk\" to the dependencies"
                    .to_owned(),
            ));
        }
        let dependencies = if sdk.is_none() { [of_sdk, dependencies].concat() } else { dependencies };
        let for_tests = |name: &String| name == "test" || name == "dev";
        let extras = project.optional_dependencies.into_iter().filter(|(name, _)| for_tests(name));
        let groups = parsed.dependency_groups.into_iter().filter(|(name, _)| for_tests(name));
        let grouped = groups.flat_map(|(_, list)| list).filter_map(|one| match one {
            toml::Value::String(requirement) => Some(requirement),
            // A group within a group; pip reads those from version 25.1 on.
            _ => None,
        });
        Ok(Self {
            manifest: manifest.to_path_buf(),
            version: project.version.unwrap_or_else(|| "0.0.0".to_owned()),
            module,
            sdk,
            dependencies,
            test_dependencies: extras.flat_map(|(_, list)| list).chain(grouped).collect(),
            name: project.name,
            dir,
        })
    }

    /// The folder that is imported from.
    pub(crate) fn source(&self) -> PathBuf {
        let source = self.dir.join("src");
        if source.is_dir() { source } else { self.dir.clone() }
    }

    /// The file's name in the output folder: the project's name with dashes, the way users type it.
    pub(crate) fn wasm_name(&self) -> String {
        format!("{}.wasm", self.name.replace(['_', '.'], "-").to_ascii_lowercase())
    }

    /// Whether its tests are pytest's.
    pub(crate) fn has_pytest(&self) -> bool {
        self.test_dependencies.iter().any(|one| requirement_name(one) == "pytest")
    }
}

/// The name in a requirement such as `Foo_bar[extra] >= 1`, as package indexes compare it.
fn requirement_name(requirement: &str) -> String {
    let end = requirement
        .find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c))
        .unwrap_or(requirement.len());
    requirement[..end].to_ascii_lowercase().replace(['_', '.'], "-")
}

/// The few tables that matter here.
#[derive(Debug, Deserialize)]
struct Manifest {
    project: Option<Package>,
    #[serde(default)]
    tool: Tools,
    #[serde(default, rename = "dependency-groups")]
    dependency_groups: BTreeMap<String, Vec<toml::Value>>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
    #[serde(default, rename = "optional-dependencies")]
    optional_dependencies: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
struct Tools {
    capstan: Option<Capstan>,
}

/// Unknown keys are refused: a misspelt one would be passed over in silence.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Capstan {
    module: Option<String>,
    sdk: Option<PathBuf>,
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
