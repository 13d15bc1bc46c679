//! How a sysroot was made, so that a later run can tell whether it still fits.

use std::fs;
use std::path::Path;
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::error::BuilderError;
use crate::rust::machine::Compiler;
use crate::rust::target::GuestTarget;

/// Raised whenever the steps that make a sysroot change, so that older ones are made again.
pub(crate) const RECIPE: u32 = 1;

/// The stamp's file name inside a sysroot.
pub(crate) const STAMP_FILE: &str = "capstan-stamp.toml";

/// The content of a stamp file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stamp {
    recipe: u32,
    target: String,
    /// The compiler, because a sysroot's `bin/rustc` starts it by this path.
    rustc: String,
    /// The whole `rustc -vV`: compiled libraries serve exactly one build of the compiler.
    rustc_version: String,
    /// Different for each making. cargo takes two sysroots of one compiler for the same and would then reuse guest
    /// libraries that refer to a standard library that has gone; a folder per `made` keeps them apart.
    made: String,
}

impl Stamp {
    /// The stamp for a sysroot that is being made now.
    pub(crate) fn now(compiler: &Compiler, target: GuestTarget) -> Self {
        let seconds =
            SystemTime::now().duration_since(UNIX_EPOCH).map(|age| age.as_secs()).unwrap_or_default();
        Self {
            recipe: RECIPE,
            target: target.as_str().to_owned(),
            rustc: compiler.rustc.display().to_string(),
            rustc_version: compiler.version.clone(),
            made: format!("{seconds:x}-{:x}", process::id()),
        }
    }

    /// Whether a sysroot with this stamp can serve `compiler` as it is today.
    pub(crate) fn fits(&self, compiler: &Compiler, target: GuestTarget) -> bool {
        let Self { recipe, target: made_for, rustc, rustc_version, made: _ } = self;
        *recipe == RECIPE
            && made_for == target.as_str()
            && *rustc == compiler.rustc.display().to_string()
            && *rustc_version == compiler.version
    }

    /// Tells one making from the next.
    pub(crate) fn made(&self) -> &str {
        &self.made
    }

    /// `None` for a sysroot without a readable stamp, which is then made again like any other that does not fit.
    pub(crate) fn read(sysroot: &Path) -> Option<Self> {
        toml::from_str(&fs::read_to_string(sysroot.join(STAMP_FILE)).ok()?).ok()
    }

    /// Writes the stamp; the last step of making a sysroot before it gets its name.
    pub(crate) fn write(&self, sysroot: &Path) -> Result<(), BuilderError> {
        let path = sysroot.join(STAMP_FILE);
        let text =
            toml::to_string(self).map_err(|source| BuilderError::Stamp { path: path.clone(), source })?;
        fs::write(&path, text).map_err(BuilderError::io("write", path))
    }
}

#[cfg(test)]
#[path = "stamp_tests.rs"]
mod tests;
