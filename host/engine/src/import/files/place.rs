//! A name in a directory that is open: what a change acts on.

use crate::reach::{Reach, real_path};
use cap_std::fs::Dir as Beneath;
use capstan_policy::protected::is_protected;
use std::path::{Path, PathBuf};
use wasmtime_wasi::filesystem::Dir;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

/// Why something is not done.
#[derive(Debug)]
pub(super) enum Refusal {
    /// In WASI's words.
    Code(ErrorCode),
    /// It is protected, or the system does not say where it lies.
    Protected(PathBuf),
}

impl From<ErrorCode> for Refusal {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Self::Code(error.into())
    }
}

impl From<rustix::io::Errno> for Refusal {
    fn from(errno: rustix::io::Errno) -> Self {
        std::io::Error::from(errno).into()
    }
}

/// A name in an open directory, which need not exist. Nothing can come between a check of where that directory lies and the
/// act, for the act follows no path.
pub(super) struct Place {
    pub(super) parent: Beneath,
    pub(super) name: String,
    /// Whether a slash follows the name: then it means a directory.
    pub(super) slash: bool,
}

impl Place {
    /// Opens the directory that a path ends in. Links on the way are followed as far as they stay in the granted directory.
    pub(super) fn of(at: &Dir, path: &str) -> Result<Self, Refusal> {
        let trimmed = path.trim_end_matches('/');
        let (parent, name) = match trimmed.rfind('/') {
            Some(slash) => (&trimmed[..=slash], &trimmed[slash + 1..]),
            None => ("", trimmed),
        };
        match name {
            "" if path.is_empty() => return Err(ErrorCode::NoEntry.into()),
            // The root of the host.
            "" => return Err(ErrorCode::NotPermitted.into()),
            // Not a name in a directory but the directory, which has its name elsewhere.
            "." | ".." => return Err(ErrorCode::Invalid.into()),
            _ => {}
        }
        let at = beneath(at)?;
        let parent = if parent.is_empty() { at } else { at.open_dir(parent)? };
        Ok(Self { parent, name: name.to_owned(), slash: trimmed.len() < path.len() })
    }

    /// The same for a change; refused if the place may not be changed.
    pub(super) fn to_change(at: &Dir, path: &str, reach: &Reach) -> Result<Self, Refusal> {
        check_words(path)?;
        let place = Self::of(at, path)?;
        place.check(reach)?;
        Ok(place)
    }

    /// Refuses what may not be changed.
    pub(super) fn check(&self, reach: &Reach) -> Result<(), Refusal> {
        match real_path(&self.parent).map(|parent| parent.join(&self.name)) {
            Some(real) if reach.may_change(&real) => Ok(()),
            Some(real) => Err(Refusal::Protected(real)),
            None => Err(Refusal::Protected(self.name.clone().into())),
        }
    }

    /// Whether the name is that of a directory; a link to one is none.
    pub(super) fn is_directory(&self) -> Result<bool, Refusal> {
        Ok(self.parent.symlink_metadata(&self.name)?.is_dir())
    }
}

/// Refuses a path that itself names something protected. Where it leads is looked at as well; this is for a `.git` that is a
/// link to a folder of another name.
pub(super) fn check_words(path: &str) -> Result<(), Refusal> {
    if is_protected(Path::new(path)) { Err(Refusal::Protected(path.into())) } else { Ok(()) }
}

/// A directory from which no path leads out.
pub(super) fn beneath(at: &Dir) -> Result<Beneath, Refusal> {
    Ok(Beneath::from_std_file(at.dir.try_clone()?))
}
