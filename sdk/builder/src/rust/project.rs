//! What a project's `Cargo.toml` says about the extension in it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::BuilderError;
use crate::rust::target::GuestTarget;

/// One extension's project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// The folder of the manifest, absolute.
    pub(crate) dir: PathBuf,
    pub(crate) manifest: PathBuf,
    /// The manifest as it was read.
    pub(crate) text: String,
    pub(crate) name: String,
    /// The library's name, which cargo gives to the file.
    pub(crate) lib: String,
    pub(crate) target: GuestTarget,
    /// Whether this manifest states a release profile of its own.
    pub(crate) has_release_profile: bool,
}

impl Project {
    /// Reads the project in a folder, or the one that a path to a `Cargo.toml` means.
    pub(crate) fn read(path: &Path) -> Result<Self, BuilderError> {
        let path = fs::canonicalize(path).map_err(BuilderError::io("find", path))?;
        let manifest = if path.is_dir() { path.join("Cargo.toml") } else { path };
        let text = fs::read_to_string(&manifest).map_err(BuilderError::io("read", &manifest))?;
        Self::parse(manifest, text)
    }

    pub(crate) fn parse(manifest: PathBuf, text: String) -> Result<Self, BuilderError> {
        let parsed = Manifest::parse(&manifest, &text)?;
        let has_release_profile = parsed.has_release_profile();
        let package = parsed.package.ok_or_else(|| BuilderError::NoPackage { path: manifest.clone() })?;
        let lib = parsed.lib.unwrap_or_default();
        if !lib.crate_type.iter().any(|kind| kind == "cdylib") {
            return Err(BuilderError::NotCdylib { name: package.name, path: manifest });
        }
        let target = match package.metadata.capstan.target {
            None => GuestTarget::default(),
            Some(name) => name.parse().map_err(|source| BuilderError::ManifestTarget {
                path: manifest.clone(),
                source: Box::new(source),
            })?,
        };
        Ok(Self {
            dir: manifest.parent().map(Path::to_path_buf).unwrap_or_default(),
            lib: lib.name.unwrap_or_else(|| package.name.replace('-', "_")),
            name: package.name,
            target,
            has_release_profile,
            manifest,
            text,
        })
    }

    /// The file's name in the output folder: the package name with dashes, the way users type it.
    pub(crate) fn wasm_name(&self) -> String {
        format!("{}.wasm", self.name.replace('_', "-"))
    }
}

/// Whether the manifest of a workspace states a release profile; cargo then ignores those of its members.
pub(crate) fn states_release_profile(manifest: &Path) -> Result<bool, BuilderError> {
    let text = fs::read_to_string(manifest).map_err(BuilderError::io("read", manifest))?;
    Ok(Manifest::parse(manifest, &text)?.has_release_profile())
}

/// The few tables that matter here. Everything else is cargo's to judge.
#[derive(Debug, Deserialize)]
struct Manifest {
    package: Option<Package>,
    lib: Option<Lib>,
    #[serde(default)]
    profile: toml::Table,
}

impl Manifest {
    fn parse(path: &Path, text: &str) -> Result<Self, BuilderError> {
        toml::from_str(text)
            .map_err(|source| BuilderError::Manifest { path: path.to_path_buf(), source: Box::new(source) })
    }

    fn has_release_profile(&self) -> bool {
        self.profile.contains_key("release")
    }
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    capstan: CapstanMetadata,
}

#[derive(Debug, Default, Deserialize)]
struct CapstanMetadata {
    target: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Lib {
    name: Option<String>,
    // cargo still accepts the older spelling.
    #[serde(default, rename = "crate-type", alias = "crate_type")]
    crate_type: Vec<String>,
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
