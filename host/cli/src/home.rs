//! Where things live: the user's configuration, data and cache, and the project's folder.

use anyhow::{Context, Result};
use capstan_policy::Places;
use capstan_ports::extension::Digest;
use sha2::{Digest as _, Sha256};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The directories of this user and this project.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    /// `config.toml`, `grants.toml`, `secrets.toml`.
    pub(crate) config: PathBuf,
    /// `extensions/`, `sessions/`, `cache.key`, the history of the prompt.
    pub(crate) data: PathBuf,
    /// Compiled code, guest toolchains, full output of commands. Can be removed at any time.
    pub(crate) cache: PathBuf,
    /// The working directory, canonical.
    pub(crate) workspace: PathBuf,
    /// The user's home.
    pub(crate) user: Option<PathBuf>,
    /// Where sessions are kept instead of in the data folder.
    pub(crate) session_folder: Option<PathBuf>,
}

impl Home {
    /// From `CAPSTAN_HOME`, which moves everything, or else by the XDG base directory rules.
    pub(crate) fn find() -> Result<Self> {
        let workspace = std::env::current_dir().context("the working directory is not readable")?;
        let workspace = workspace.canonicalize().context("the working directory is not readable")?;
        let user = std::env::home_dir().filter(|home| home.is_absolute());
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        if let Some(home) = std::env::var_os("CAPSTAN_HOME").filter(|home| !home.is_empty()) {
            let home = std::path::absolute(home).context("CAPSTAN_HOME is not a usable path")?;
            let (cache, data, config) = (home.join("cache"), home.clone(), home);
            return Ok(Self { config, cache, data, workspace, user, session_folder: None });
        }
        let base = |variable: &str, below: &str| {
            absolute(variable)
                .or_else(|| user.as_ref().map(|home| home.join(below)))
                .map(|base| base.join("capstan"))
                .with_context(|| format!("neither CAPSTAN_HOME, {variable} nor HOME is set; set one of them"))
        };
        Ok(Self {
            config: base("XDG_CONFIG_HOME", ".config")?,
            data: base("XDG_DATA_HOME", ".local/share")?,
            cache: base("XDG_CACHE_HOME", ".cache")?,
            workspace,
            user,
            session_folder: None,
        })
    }

    /// All of it below one folder, for tests.
    #[cfg(test)]
    pub(crate) fn below(root: &Path) -> Self {
        let folder = |name: &str| root.join(name);
        Self {
            config: folder("c"),
            data: folder("d"),
            cache: folder("e"),
            workspace: folder("w"),
            user: None,
            session_folder: None,
        }
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    pub(crate) fn grants_file(&self) -> PathBuf {
        self.config.join("grants.toml")
    }

    /// What the host puts into requests of extensions.
    pub(crate) fn secrets_file(&self) -> PathBuf {
        self.config.join("secrets.toml")
    }

    /// The user's extension folder.
    pub(crate) fn extensions(&self) -> PathBuf {
        self.data.join("extensions")
    }

    /// Compiled code of extensions.
    pub(crate) fn compiled(&self) -> PathBuf {
        self.cache.join("code")
    }

    /// Full output of commands, in a folder for each workspace.
    pub(crate) fn all_outputs(&self) -> PathBuf {
        self.cache.join("outputs")
    }

    /// That of this workspace. Its sessions read there, and must not find what the commands of another project printed.
    pub(crate) fn outputs(&self) -> PathBuf {
        let digest = Digest(Sha256::digest(self.workspace.as_os_str().as_bytes()).into()).to_string();
        self.all_outputs().join(&digest[..16])
    }

    /// What extensions used.
    pub(crate) fn usage_file(&self) -> PathBuf {
        self.data.join("usage.json")
    }

    /// What was installed from where.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.data.join("extensions.lock")
    }

    /// What extensions keep of their own.
    pub(crate) fn storage(&self) -> PathBuf {
        self.data.join("storage")
    }

    /// What the user keeps for the agent.
    pub(crate) fn memory_file(&self) -> PathBuf {
        self.data.join("memory.sqlite")
    }

    /// Where sessions are kept.
    pub(crate) fn sessions(&self) -> PathBuf {
        self.session_folder.clone().unwrap_or_else(|| self.data.join("sessions"))
    }

    /// The project's own folder; untrusted until the user allows it.
    pub(crate) fn project(&self) -> PathBuf {
        self.workspace.join(".capstan")
    }

    /// The project's configuration.
    pub(crate) fn project_config(&self) -> PathBuf {
        self.project().join("config.toml")
    }

    /// What directory grants are relative to, and what no grant may reach.
    pub(crate) fn places(&self) -> Places {
        let own = [&self.config, &self.data, &self.cache].map(|path| canonical_or(path));
        Places {
            workspace: self.workspace.clone(),
            home: self.user.as_deref().map(canonical_or),
            protected: own.to_vec(),
        }
    }
}

/// A directory that does not exist yet has no canonical form of its own; its nearest existing ancestor has.
fn canonical_or(path: &Path) -> PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(canonical), _, _) => canonical,
        (Err(_), Some(parent), Some(name)) => canonical_or(parent).join(name),
        (Err(_), _, _) => path.to_owned(),
    }
}

/// Writes a file beside its place, flushes it and renames it there, so that a crash leaves the old one or the new one.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<()> {
    write_beside(path, text, std::fs::File::sync_all)
}

/// The same without waiting for the device: for what is worth less than the wait.
pub(crate) fn replace_private(path: &Path, text: &str) -> Result<()> {
    write_beside(path, text, |_file| Ok(()))
}

fn write_beside(path: &Path, text: &str, flush: fn(&std::fs::File) -> std::io::Result<()>) -> Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let folder = path.parent().context("the path has no folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = (|| {
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        flush(&file)?;
        std::fs::rename(&temporary, path)
    })();
    written.with_context(|| format!("{} cannot be written", path.display()))
}
