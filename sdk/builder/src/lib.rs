//! Finds or makes a Rust guest toolchain and builds extensions with it.
//!
//! An extension is a WebAssembly component, and few machines have a Rust standard library for WebAssembly when its
//! author first types `capstan ext build`. This crate closes that gap: [`toolchain`] uses what is installed, else
//! what an earlier run left in the cache, else asks rustup, else builds the standard library from the sources that
//! a distribution ships. [`build`] then turns a project folder into one `.wasm` file and refuses to hand over
//! anything that is not a component. [`diagnose`] says how things stand and changes nothing.
//!
//! It knows Rust guests only; JavaScript and Python have their own tools. It never runs what it builds.

mod diagnosis;
mod error;
mod extension;
#[cfg(test)]
mod fakes;
mod lock;
mod machine;
mod packages;
mod process;
mod project;
mod stamp;
mod sysroot;
mod target;
mod toolchain;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use diagnosis::{Finding, Status, diagnose};
pub use error::{ArtifactKind, BuilderError};
pub use extension::{BuiltExtension, build};
pub use target::GuestTarget;
pub use toolchain::{Origin, Toolchain, toolchain};

/// The folder in which toolchains and intermediate build results are kept between runs.
///
/// `$CAPSTAN_HOME/cache`, else `$XDG_CACHE_HOME/capstan`, else `~/.cache/capstan`. Everything below it can be made
/// again, so deleting it costs time and nothing else. Sysroots go to its `toolchain/`, cargo's output to its
/// `guest-target/`.
pub fn default_cache() -> PathBuf {
    cache_from(|name| env::var_os(name), env::temp_dir())
}

/// `fallback` serves accounts without a home, such as those of build daemons.
fn cache_from(var: impl Fn(&str) -> Option<OsString>, fallback: PathBuf) -> PathBuf {
    // The XDG rules call a relative path invalid; it would also mean another cache in every working folder.
    let absolute = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(home) = absolute("CAPSTAN_HOME") {
        return home.join("cache");
    }
    if let Some(caches) = absolute("XDG_CACHE_HOME") {
        return caches.join("capstan");
    }
    absolute("HOME").map(|home| home.join(".cache")).unwrap_or(fallback).join("capstan")
}

/// Where sysroots live inside the cache.
fn toolchain_folder(cache: &Path) -> PathBuf {
    cache.join("toolchain")
}

/// Where cargo's output for guests lives inside the cache.
fn guest_target_folder(cache: &Path) -> PathBuf {
    cache.join("guest-target")
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
