//! `extensions.lock`: which bytes were installed, when and from where. It grants nothing and decides nothing; it lets the user
//! see when a file is not the one that they installed.

use crate::home::{Home, write_private};
use anyhow::{Context, Result, ensure};
use capstan_engine::Inspected;
use capstan_ports::extension::{Digest, ExtensionId};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The version of the file that this program writes.
const VERSION: u32 = 1;

/// Everything that was installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    version: u32,
    #[serde(default, rename = "extension", skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<Entry>,
}

/// One extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) id: ExtensionId,
    /// Its own version.
    pub(crate) version: String,
    pub(crate) digest: Digest,
    /// The file, or for one that was built here the folder, that it came from.
    pub(crate) source: PathBuf,
    /// When, in UTC.
    pub(crate) installed: String,
}

impl Default for Lock {
    fn default() -> Self {
        Self { version: VERSION, extensions: Vec::new() }
    }
}

impl Lock {
    /// Reads the file; empty where there is none.
    ///
    /// # Errors
    /// When it cannot be understood. It is not overwritten then.
    pub(crate) fn read(home: &Home) -> Result<Self> {
        let path = home.lock_file();
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(reason) => return Err(reason).with_context(|| format!("{} cannot be read", path.display())),
        };
        let lock: Self = toml::from_str(&text).with_context(|| {
            format!("{} cannot be used; mend it, or remove it and install again", path.display())
        })?;
        ensure!(
            lock.version <= VERSION,
            "{} was written by a newer version of capstan; use that one",
            path.display()
        );
        Ok(lock)
    }

    /// What was installed under an id.
    pub(crate) fn of(&self, id: &ExtensionId) -> Option<&Entry> {
        self.extensions.iter().find(|entry| entry.id == *id)
    }

    /// Forgets an id. Answers whether it was there.
    pub(crate) fn forget(&mut self, id: &ExtensionId) -> bool {
        let before = self.extensions.len();
        self.extensions.retain(|entry| entry.id != *id);
        self.extensions.len() < before
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written; the old one stays.
    pub(crate) fn write(&mut self, home: &Home) -> Result<()> {
        // In one order, so that a diff shows what changed.
        self.extensions.sort_by(|a, b| a.id.cmp(&b.id));
        let text = toml::to_string_pretty(self).context("the lock has no TOML form")?;
        write_private(&home.lock_file(), &text)
    }
}

/// Notes what was just installed.
///
/// # Errors
/// When the lock cannot be read or written.
pub(crate) fn record(home: &Home, file: &Inspected, source: &Path) -> Result<()> {
    let descriptor = &file.surface.descriptor;
    let mut lock = Lock::read(home)?;
    lock.forget(&descriptor.id);
    lock.extensions.push(Entry {
        id: descriptor.id.clone(),
        version: descriptor.version.clone(),
        digest: file.digest,
        source: source.canonicalize().unwrap_or_else(|_gone| source.to_owned()),
        installed: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
    });
    lock.write(home)
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
