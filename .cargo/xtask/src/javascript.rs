//! The SDK for JavaScript and a test guest, for those who have Node and npm.

use crate::extensions;
use crate::run::{self, Workspace};
use anyhow::{Context, Result};
use capstan_builder::Language;
use std::path::PathBuf;
use std::process::Command;

/// The engine inside of the component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// One megabyte.
    QuickJs,
    /// Twelve megabytes; takes half a minute to install and to build.
    StarlingMonkey,
}

impl Engine {
    fn name(self) -> &'static str {
        match self {
            Self::QuickJs => "quickjs",
            Self::StarlingMonkey => "starlingmonkey",
        }
    }

    /// What makes a component of JavaScript with it, pinned.
    fn package(self) -> &'static str {
        match self {
            Self::QuickJs => "componentize-qjs@0.4.5",
            Self::StarlingMonkey => "@bytecodealliance/componentize-js@0.23.0",
        }
    }
}

/// Builds the gate in JavaScript into `target/guests`. Where that cannot be done it is left out, which is said; the test and the
/// figures that need it then say so, too.
pub(crate) fn build(workspace: &Workspace, engine: Engine) {
    run::step(&format!("test guest in JavaScript ({})", engine.name()));
    if let Some(program) = extensions::missing(Language::JavaScript) {
        eprintln!("    left out: {program} is not installed");
    } else if let Err(reason) = install_and_build(workspace, engine) {
        eprintln!("    left out: {reason:#}");
    }
}

/// The tests of the SDK, its types with those of its examples among them.
pub(crate) fn test_sdk(workspace: &Workspace) -> Result<()> {
    if let Some(program) = extensions::missing(Language::JavaScript) {
        eprintln!("    left out: the SDK for JavaScript needs {program}, which is not installed");
        return Ok(());
    }
    let sdk = workspace.path("sdk/javascript");
    let npm = |arguments: &[&str]| run::command(Command::new("npm").args(arguments).current_dir(&sdk));
    npm(&["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"])?;
    npm(&["test", "--silent"])
}

fn install_and_build(workspace: &Workspace, engine: Engine) -> Result<()> {
    let source = workspace.path("tests/guests/javascript-gate");
    let packages = workspace.target().join("javascript").join(engine.name());
    std::fs::create_dir_all(&packages)?;
    for file in ["package.json", "build.mjs", "gate.js"] {
        let copied = std::fs::copy(source.join(file), packages.join(file));
        copied.with_context(|| format!("{file} cannot be copied to {}", packages.display()))?;
    }
    let mut install = Command::new("npm");
    install.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--no-package-lock",
        "--no-save",
        "--loglevel=error",
    ]);
    install.arg(engine.package());
    run::command(install.current_dir(&packages))?;
    let out = component(workspace, engine);
    let wit = workspace.path("wit/v0.1");
    let mut build = Command::new("node");
    build.arg("build.mjs").arg(engine.name()).arg(wit).arg(&out);
    run::command(build.current_dir(&packages))
}

/// Where the component goes.
fn component(workspace: &Workspace, engine: Engine) -> PathBuf {
    workspace.target().join("guests").join(format!("javascript-gate-{}.wasm", engine.name()))
}
