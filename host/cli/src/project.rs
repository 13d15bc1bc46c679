//! What a project says in its `.capstan` folder beside extensions: configuration, system prompt, prompt templates.
//!
//! All of it speaks for the user, so it counts only if the user trusts the project, and only with exactly the bytes that it had
//! when they said so: one digest covers all files. What is used are the very bytes that the digest was made of.

use crate::home::Home;
use crate::reading::{self, Links, MAX_FILE_BYTES};
use crate::screen;
use anyhow::{Result, anyhow};
use capstan_policy::Grants;
use capstan_ports::extension::Digest;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// In place of the first part of the system prompt.
pub(crate) const SYSTEM: &str = "SYSTEM.md";
/// Added to the system prompt.
pub(crate) const APPEND_SYSTEM: &str = "APPEND_SYSTEM.md";
/// The folder of prompt templates.
pub(crate) const PROMPTS: &str = "prompts";

const CONFIG: &str = "config.toml";

/// Far beyond any configuration that a person writes.
const MAX_CONFIG_BYTES: usize = 1 << 20;

/// The files of a project.
#[derive(Debug, Default)]
pub(crate) struct Project {
    /// By name below the folder.
    files: BTreeMap<String, Vec<u8>>,
    /// What cannot be used, and so is not covered by the digest either.
    pub(crate) notices: Vec<String>,
}

/// What a project's files count for.
#[derive(Debug)]
pub(crate) enum Standing {
    /// The user trusts these very files.
    Trusted(Project),
    /// They are not the ones that the user trusted and count for nothing, with the line that says so.
    Changed(String),
    /// The user does not trust the project, with the line that says so.
    Untrusted(String),
    /// There is nothing that could count.
    Nothing,
}

impl Project {
    /// Reads them, whether trusted or not.
    ///
    /// # Errors
    /// When there is a configuration that cannot be read. It may hold limits, so it is not passed over.
    pub(crate) fn read(home: &Home) -> Result<Self> {
        let mut project = Self::default();
        let folder = home.project();
        let path = home.project_config();
        let config = reading::whole(&path, Links::Anywhere, MAX_CONFIG_BYTES);
        let config = config.map_err(|reason| anyhow!("{}: {reason}", path.display()))?;
        project.files.extend(config.map(|bytes| (CONFIG.to_owned(), bytes)));
        let links = Links::Below(&home.workspace);
        for name in [SYSTEM, APPEND_SYSTEM] {
            match reading::whole(&folder.join(name), links, MAX_FILE_BYTES) {
                Ok(bytes) => project.files.extend(bytes.map(|bytes| (name.to_owned(), bytes))),
                Err(reason) => project.notices.push(reading::left_out(&folder.join(name), &reason)),
            }
        }
        let prompts = reading::folder(&folder.join(PROMPTS), links, &mut project.notices);
        project
            .files
            .extend(prompts.into_iter().map(|(name, bytes)| (format!("{PROMPTS}/{name}.md"), bytes)));
        Ok(project)
    }

    /// One digest of all files with their names; `None` where there are none.
    pub(crate) fn digest(&self) -> Option<Digest> {
        if self.files.is_empty() {
            return None;
        }
        let mut digest = Sha256::new_with_prefix(b"capstan project files 1\0");
        for (name, bytes) in &self.files {
            // Lengths first, so that no two sets of files read the same.
            for part in [name.as_bytes(), bytes] {
                digest.update((part.len() as u64).to_le_bytes());
                digest.update(part);
            }
        }
        Some(Digest(digest.finalize().into()))
    }

    /// The names of the files, for those who decide.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The bytes of a file.
    pub(crate) fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.get(name).map(Vec::as_slice)
    }

    /// The configuration.
    ///
    /// # Errors
    /// When it is no text.
    pub(crate) fn config(&self) -> Result<Option<&str>> {
        self.file(CONFIG).map(|bytes| Ok(std::str::from_utf8(bytes)?)).transpose()
    }

    /// The prompt templates, by name.
    pub(crate) fn templates(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().filter_map(|(file, bytes)| {
            let name = file.strip_prefix(PROMPTS)?.strip_prefix('/')?.strip_suffix(".md")?;
            Some((name, bytes.as_slice()))
        })
    }
}

impl Standing {
    /// Of the project in this working directory. What is in an untrusted project is not read.
    ///
    /// # Errors
    /// When a trusted project's configuration cannot be read.
    pub(crate) fn of(home: &Home, grants: &Grants) -> Result<Self> {
        if !grants.trusts_project(&home.workspace) {
            let there = paths(home).into_iter().find(|path| path.exists());
            return Ok(there.map_or(Self::Nothing, |path| {
                Self::Untrusted(format!(
                    "{} counts for nothing, because you have not trusted this project. To look and trust it: capstan ext allow --project",
                    screen::path(&path)
                ))
            }));
        }
        let project = Project::read(home)?;
        Ok(match project.digest() {
            None if project.notices.is_empty() => Self::Nothing,
            None => Self::Trusted(project),
            Some(now) if grants.trusts_config(&home.workspace, &now) => Self::Trusted(project),
            Some(_) => Self::Changed(format!(
                "{} is not the one that you trusted: its configuration and prompts do not count. To look and trust it: capstan ext allow --project",
                screen::path(&home.project())
            )),
        })
    }
}

/// The files that may matter, for those who look whether anything changed.
pub(crate) fn paths(home: &Home) -> Vec<PathBuf> {
    let folder = home.project();
    let prompts = std::fs::read_dir(folder.join(PROMPTS)).into_iter().flatten();
    let prompts = prompts.filter_map(|entry| Some(entry.ok()?.path()));
    let prompts = prompts.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    [CONFIG, SYSTEM, APPEND_SYSTEM].into_iter().map(|name| folder.join(name)).chain(prompts).collect()
}

#[cfg(test)]
#[path = "project_tests.rs"]
mod tests;
