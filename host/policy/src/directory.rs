//! Which host directory a request means, and which directories no grant can reach.
//!
//! Requests are written by strangers, so a path is refused rather than guessed at: no `..`, no relative path but the
//! workspace's, no environment variables. Symbolic links are not followed here; the caller hands in canonical
//! [`Places`], canonicalises the resolved path and comes back with [`check_reach`].

use crate::error::PolicyError;
use capstan_ports::extension::Access;
use std::path::{Component, Path, PathBuf};

/// The directories that requests are relative to. All paths are canonical.
#[derive(Debug, Clone)]
pub struct Places {
    /// The directory that the agent works in.
    pub workspace: PathBuf,
    /// The user's home, where known.
    pub home: Option<PathBuf>,
    /// The host's own configuration, grants, cache and sessions.
    pub protected: Vec<PathBuf>,
}

/// Where guests see the workspace.
pub const GUEST_WORKSPACE: &str = "/workspace";

/// A directory as the host opens it and as the guest sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedDirectory {
    /// On the host.
    pub host: PathBuf,
    /// In the guest, always with `/`.
    pub guest: String,
    /// How far it goes.
    pub access: Access,
}

/// Finds the directory that `path` means.
///
/// # Errors
/// When the path is not of an accepted form, or is `~` where the home is unknown.
pub fn resolve(path: &str, access: Access, places: &Places) -> Result<ResolvedDirectory, PolicyError> {
    let refuse = |reason: &str| PolicyError::Directory { path: path.to_owned(), reason: reason.to_owned() };
    if path.is_empty() || path.contains('\0') {
        return Err(refuse("it is empty or holds a NUL byte"));
    }
    let as_path = Path::new(path);
    if as_path.components().any(|part| part == Component::ParentDir) {
        return Err(refuse("it contains `..`; write the directory that is meant"));
    }
    if let Some(below) = path.strip_prefix('~') {
        let below = below.strip_prefix('/').unwrap_or(below);
        if path.len() > 1 && !path.starts_with("~/") {
            return Err(refuse("another user's home cannot be granted"));
        }
        let home = places.home.as_ref().ok_or_else(|| refuse("the home directory is not known; set HOME"))?;
        let host = home.join(below);
        return Ok(ResolvedDirectory { guest: guest_path(&host), host, access });
    }
    if as_path.is_absolute() {
        let host: PathBuf = as_path.components().collect();
        return Ok(ResolvedDirectory { guest: guest_path(&host), host, access });
    }
    if path == "." || path.starts_with("./") {
        let below: PathBuf = as_path.components().filter(|part| *part != Component::CurDir).collect();
        let host = if below.as_os_str().is_empty() {
            places.workspace.clone()
        } else {
            places.workspace.join(&below)
        };
        let guest = match below.to_string_lossy().as_ref() {
            "" => GUEST_WORKSPACE.to_owned(),
            below => format!("{GUEST_WORKSPACE}/{below}"),
        };
        return Ok(ResolvedDirectory { host, guest, access });
    }
    Err(refuse("write an absolute path, `~/…`, or `./…` for a directory of the workspace"))
}

/// Refuses a directory that reaches the host's own files. `canonical` is the resolved directory with all symbolic links
/// followed, `asked` how the extension wrote it.
///
/// Reading is refused like writing: sessions and configuration hold what the user said and where the keys are. The
/// workspace itself may contain a protected directory only below a dot-folder that is not granted with it, so a grant
/// *above* a protected directory is refused too.
///
/// # Errors
/// When a protected directory lies in the granted one, or the reverse.
pub fn check_reach(asked: &str, canonical: &Path, places: &Places) -> Result<(), PolicyError> {
    let reached = |protected: &&PathBuf| canonical.starts_with(protected) || protected.starts_with(canonical);
    match places.protected.iter().find(reached) {
        Some(protected) => {
            Err(PolicyError::Protected { path: asked.to_owned(), protected: protected.clone() })
        }
        None => Ok(()),
    }
}

fn guest_path(host: &Path) -> String {
    host.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
