//! What the user allowed an extension, bound to the digest of its bytes, and the state that follows.

use crate::error::PolicyError;
use capstan_ports::extension::{Capability, CapabilityRequest, Digest, ExtensionId, Power};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The version of the grants file that this program writes.
const VERSION: u32 = 1;

/// Everything the user granted. Lives in the user's configuration, never in a project's.
///
/// Unknown keys are refused: a policy that was only half understood would be a policy that nobody wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grants {
    version: u32,
    /// One record for each extension's bytes.
    #[serde(default, rename = "extension", skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<ExtensionGrant>,
    /// Project folders whose extensions the user allowed to be considered.
    #[serde(default, rename = "project", skip_serializing_if = "Vec::is_empty")]
    projects: Vec<TrustedProject>,
}

impl Default for Grants {
    fn default() -> Self {
        Self { version: VERSION, extensions: Vec::new(), projects: Vec::new() }
    }
}

/// What one extension, as these exact bytes, was granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtensionGrant {
    /// The extension's id at the time.
    pub id: ExtensionId,
    /// The bytes that the grant is for.
    pub digest: Digest,
    /// What was granted, a subset of what was asked for.
    #[serde(default)]
    pub granted: BTreeSet<Capability>,
    /// The user switched it off; it is not loaded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}

/// A project folder that the user trusts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustedProject {
    path: PathBuf,
    /// The configuration that the project had when the user trusted it. Another one needs another look: it can name a
    /// provider, and so where the user's key is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    config: Option<Digest>,
}

/// Where an extension's file was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// In the user's own extension folder, or named on the command line.
    User,
    /// In the extension folder of a project that the user trusts.
    TrustedProject,
    /// In the extension folder of a project that the user has not yet allowed.
    UntrustedProject,
}

/// What follows from the grants for one extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// It may be loaded, with this and no more.
    Ready(Effective),
    /// It asks for something that the user has not answered yet.
    Waiting {
        /// What it asks for and has not got.
        missing: Vec<CapabilityRequest>,
    },
    /// Its bytes changed since the user granted something to an extension of this id; old grants are void.
    Modified {
        /// The bytes that were granted something.
        before: Digest,
        /// Asked for now and not granted before.
        added: Vec<CapabilityRequest>,
        /// Granted before and no longer asked for.
        removed: Vec<Capability>,
    },
    /// The user switched it off.
    Disabled,
    /// It comes with a project that the user has not allowed.
    UntrustedProject,
}

/// Requested ∩ granted: all that a guest can be given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effective {
    capabilities: BTreeSet<Capability>,
}

impl Effective {
    /// Nothing at all.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// The intersection of wishes and grants.
    pub fn of(requests: &[CapabilityRequest], granted: &BTreeSet<Capability>) -> Self {
        let asked = requests.iter().map(|request| &request.capability);
        Self { capabilities: asked.filter(|wish| granted.contains(*wish)).cloned().collect() }
    }

    /// What is in force.
    pub fn iter(&self) -> impl Iterator<Item = &Capability> {
        self.capabilities.iter()
    }

    /// Whether a right over the conversation is in force.
    pub fn has_power(&self, power: Power) -> bool {
        self.capabilities.contains(&Capability::Power { power })
    }
}

impl Grants {
    /// Reads the grants file.
    ///
    /// # Errors
    /// When it is not valid TOML, has unknown keys, or was written by a newer version.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let grants: Self = toml::from_str(text).map_err(|source| PolicyError::Grants { source })?;
        if grants.version > VERSION {
            return Err(PolicyError::Version { found: grants.version, known: VERSION });
        }
        Ok(grants)
    }

    /// Writes the grants file.
    ///
    /// # Errors
    /// When a value has no TOML form.
    pub fn to_toml(&self) -> Result<String, PolicyError> {
        toml::to_string_pretty(self).map_err(|source| PolicyError::Serialize { source })
    }

    /// What follows for an extension with these bytes, id and wishes.
    pub fn trust(
        &self,
        source: Source,
        id: &ExtensionId,
        digest: &Digest,
        requests: &[CapabilityRequest],
    ) -> Trust {
        if source == Source::UntrustedProject {
            return Trust::UntrustedProject;
        }
        if let Some(grant) = self.of(digest) {
            return if grant.disabled { Trust::Disabled } else { ready_or_waiting(requests, &grant.granted) };
        }
        match self.extensions.iter().rev().find(|grant| grant.id == *id) {
            Some(grant) if grant.disabled => Trust::Disabled,
            // Void grants matter only to an extension that had some or wants some.
            Some(grant) if !(grant.granted.is_empty() && requests.is_empty()) => Trust::Modified {
                before: grant.digest,
                added: requests.iter().filter(|r| !grant.granted.contains(&r.capability)).cloned().collect(),
                removed: grant
                    .granted
                    .iter()
                    .filter(|held| !requests.iter().any(|request| request.capability == **held))
                    .cloned()
                    .collect(),
            },
            Some(_) | None => ready_or_waiting(requests, &BTreeSet::new()),
        }
    }

    /// The record for these bytes.
    pub fn of(&self, digest: &Digest) -> Option<&ExtensionGrant> {
        self.extensions.iter().find(|grant| grant.digest == *digest)
    }

    /// Records what a person granted these bytes, in place of all earlier grants to this id: there is one extension of a
    /// name.
    pub fn allow(&mut self, id: &ExtensionId, digest: Digest, granted: BTreeSet<Capability>) {
        self.extensions.retain(|grant| grant.digest != digest && grant.id != *id);
        self.extensions.push(ExtensionGrant { id: id.clone(), digest, granted, disabled: false });
    }

    /// Takes back everything from an id and switches it off. Answers whether there was anything to change.
    pub fn revoke(&mut self, id: &ExtensionId, digest: Digest) -> bool {
        let known = self.of(&digest).is_some_and(|grant| grant.disabled && grant.id == *id);
        self.extensions.retain(|grant| grant.digest != digest && grant.id != *id);
        self.extensions.push(ExtensionGrant {
            id: id.clone(),
            digest,
            granted: BTreeSet::new(),
            disabled: true,
        });
        !known
    }

    /// Forgets everything about an id, as if the user had never been asked. Answers whether there was anything.
    pub fn forget(&mut self, id: &ExtensionId) -> bool {
        let before = self.extensions.len();
        self.extensions.retain(|grant| grant.id != *id);
        self.extensions.len() < before
    }

    /// Whether the user allowed this project's extensions. `project` is the canonical path.
    pub fn trusts_project(&self, project: &Path) -> bool {
        self.projects.iter().any(|trusted| trusted.path == project)
    }

    /// Whether the user trusted this project with a configuration of exactly these bytes.
    pub fn trusts_config(&self, project: &Path, config: &Digest) -> bool {
        self.projects.iter().any(|trusted| trusted.path == project && trusted.config.as_ref() == Some(config))
    }

    /// Allows a project's extensions to be considered, each with its own grants, and its configuration as it is now.
    pub fn trust_project(&mut self, project: &Path, config: Option<Digest>) {
        self.projects.retain(|trusted| trusted.path != project);
        self.projects.push(TrustedProject { path: project.to_owned(), config });
    }
}

fn ready_or_waiting(requests: &[CapabilityRequest], granted: &BTreeSet<Capability>) -> Trust {
    let missing: Vec<_> =
        requests.iter().filter(|request| !granted.contains(&request.capability)).cloned().collect();
    // Optional wishes hold nothing up once the user has answered; with no answer at all, the user has not been asked.
    let unanswered = granted.is_empty() && !missing.is_empty();
    if unanswered || missing.iter().any(|request| request.required) {
        Trust::Waiting { missing }
    } else {
        Trust::Ready(Effective::of(requests, granted))
    }
}

#[cfg(test)]
#[path = "grant_tests.rs"]
mod tests;
