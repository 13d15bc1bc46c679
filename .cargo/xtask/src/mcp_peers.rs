//! Programs of others that speak the Model Context Protocol, for tests and figures. Everything goes below `target/mcp-peers` and is
//! pinned: a peer that changes overnight would make a test fail that passed. What cannot be installed is left out, which is
//! said; the tests that need it then say so, too.

use crate::run::{self, Workspace};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Servers whose tools Capstan calls.
const SERVERS: [&str; 3] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];

/// The protocol's SDK for Python, whose client calls tools of `capstan mcp serve`.
const PYTHON_SDK: &str = "mcp==2.3.0";

/// The protocol's inspector, whose command line does.
const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";

/// The protocol's SDK for TypeScript, of which a server in the benchmarks is made.
const TYPESCRIPT_SDK: &str = "@modelcontextprotocol/sdk@1.32.2";

/// What says which packages are installed in a folder.
const NOTE: &str = "installed";

/// Installs the servers and the clients, each once.
pub(crate) fn install(workspace: &Workspace) {
    try_to("MCP servers of others", || npm(workspace, "", &SERVERS));
    try_to("the MCP SDK for Python", || python(workspace, "python", PYTHON_SDK));
    try_to("the MCP inspector", || npm(workspace, "inspector", &[INSPECTOR]));
}

/// Installs what the server of the benchmarks is made of.
pub(crate) fn typescript_sdk(workspace: &Workspace) {
    try_to("the MCP SDK for TypeScript", || npm(workspace, "typescript", &[TYPESCRIPT_SDK]));
}

fn try_to(what: &str, install: impl FnOnce() -> Result<()>) {
    run::step(what);
    if let Err(reason) = install() {
        eprintln!("    left out: {reason:#}");
    }
}

/// A folder of packages from npm.
fn npm(workspace: &Workspace, name: &str, packages: &[&str]) -> Result<()> {
    let folder = folder(workspace, name)?;
    if is_there(&folder, packages) {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--no-save", "--loglevel=error"]);
    run::command(npm.arg("--prefix=.").args(packages).current_dir(&folder))?;
    note(&folder, packages)
}

/// A virtual environment with one package.
fn python(workspace: &Workspace, name: &str, package: &str) -> Result<()> {
    let folder = folder(workspace, name)?;
    if is_there(&folder, &[package]) {
        return Ok(());
    }
    run::command(Command::new("python3").args(["-m", "venv", "."]).current_dir(&folder))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package];
    run::command(Command::new(folder.join("bin/python")).args(install).current_dir(&folder))?;
    note(&folder, &[package])
}

fn folder(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    let folder = workspace.target().join("mcp-peers").join(name);
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    Ok(folder)
}

/// Whether exactly these were installed here before.
fn is_there(folder: &Path, packages: &[&str]) -> bool {
    std::fs::read_to_string(folder.join(NOTE)).is_ok_and(|installed| installed == packages.join("\n"))
}

fn note(folder: &Path, packages: &[&str]) -> Result<()> {
    Ok(std::fs::write(folder.join(NOTE), packages.join("\n"))?)
}
