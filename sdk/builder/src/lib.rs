//! Builds extensions from their projects, whatever language they are written in.
//!
//! An extension is a WebAssembly component, and few machines have what makes one when its author first types
//! `capstan ext build`. This crate closes that gap with one module for each language. [`build`] turns a project folder into
//! one `.wasm` file and refuses to hand over anything that is not a component; [`test()`] runs the project's own tests
//! natively; [`diagnose`] says how things stand and changes nothing.
//!
//! Rust: [`rust`] uses a toolchain that is installed, else what an earlier run left in the cache, else asks rustup, else
//! builds the standard library from the sources that a distribution ships.
//!
//! JavaScript and TypeScript: `javascript` has npm install the SDK into the project and runs the SDK's build step in node.
//!
//! Python: `python` finds an interpreter and has pip install componentize-py, once, into the cache.
//!
//! Nothing here runs what it builds. A build can run an author's code natively all the same: build scripts in Rust, the module
//! itself in JavaScript and Python.

mod component;
mod contract;
mod error;
mod finding;
mod javascript;
mod language;
mod lock;
mod process;
mod python;
pub mod rust;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use error::{ArtifactKind, BuilderError};
pub use finding::{Finding, Status};
pub use language::Language;

/// The result of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltExtension {
    /// The component, in the output folder.
    pub wasm: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// What it was made for, in words for people: the target of a compiler, or the engine that is inside of it.
    pub target: String,
    /// From the call to the finished file, including a toolchain that had to be made.
    pub elapsed: Duration,
    /// The name in the project's manifest.
    pub name: String,
}

/// What a build is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To be used: small.
    #[default]
    Use,
    /// To be debugged: what traps in it names files and lines. Larger, and it holds paths of the machine that it was built on, so it
    /// is not for others.
    Debugging,
}

/// Builds the extension in `project` (a folder or the manifest in it) and puts its `.wasm` file into `out_dir`.
///
/// What the language's tools say goes to stderr, `report` hears of longer steps. Intermediate results and tools that had to be
/// fetched go to `cache`. An existing file is replaced in one step and only by a component, so a host that watches
/// `out_dir` never sees half a file.
///
/// # Errors
/// [`BuilderError::NoProject`] where no manifest is found, and those of the language: a missing tool, a manifest that describes no
/// extension, a build that failed, a result that is no component.
pub fn build(
    project: &Path,
    cache: &Path,
    out_dir: &Path,
    report: &dyn Fn(&str),
) -> Result<BuiltExtension, BuilderError> {
    build_for(Purpose::Use, project, cache, out_dir, report)
}

/// [`build`] for a purpose.
///
/// # Errors
/// As [`build`].
pub fn build_for(
    purpose: Purpose,
    project: &Path,
    cache: &Path,
    out_dir: &Path,
    report: &dyn Fn(&str),
) -> Result<BuiltExtension, BuilderError> {
    let (language, manifest) = Language::of(project)?;
    match language {
        Language::Rust => rust::build(&manifest, purpose, cache, out_dir, report),
        Language::JavaScript => {
            tell_of_lines(purpose, report);
            javascript::build(&manifest, cache, out_dir, report)
        }
        Language::Python => {
            tell_of_lines(purpose, report);
            python::build(&manifest, cache, out_dir, report)
        }
    }
}

/// What these languages keep of files and lines stands in their own errors, whatever a build is for.
fn tell_of_lines(purpose: Purpose, report: &dyn Fn(&str)) {
    if purpose == Purpose::Debugging {
        report(
            "a build to be debugged is the usual one in this language: an exception brings its own places",
        );
    }
}

/// Runs the project's own tests natively, without a sandbox: `cargo test` and its like. Their output goes to stderr.
///
/// # Errors
/// As [`build`], and [`BuilderError::Tests`] when one failed.
pub fn test(project: &Path, cache: &Path, report: &dyn Fn(&str)) -> Result<(), BuilderError> {
    let (language, manifest) = Language::of(project)?;
    match language {
        Language::Rust => rust::test(&manifest),
        Language::JavaScript => javascript::test(&manifest, cache, report),
        Language::Python => python::test(&manifest, cache, report),
    }
}

/// How things stand for the languages' tools, in one line each. Looks, and changes nothing.
pub fn diagnose(cache: &Path) -> Vec<Finding> {
    [rust::diagnose(cache), javascript::diagnose(), python::diagnose(cache)].concat()
}

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
