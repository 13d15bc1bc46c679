//! Servers and clients of others that speak the Model Context Protocol, for the tests, for those who have Node and npm.

use crate::javascript::has;
use crate::run::{self, Workspace};
use anyhow::Result;
use std::process::Command;

/// Pinned: a peer that changes overnight would make a test fail that passed.
const PACKAGES: [&str; 3] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];

/// What says which packages are installed.
const NOTE: &str = "installed";

/// Installs them below `target/mcp-peers`, once. Where that cannot be done they are left out, which is said; the tests that need them
/// then say so, too.
pub(crate) fn install(workspace: &Workspace) {
    run::step("peers that speak the Model Context Protocol");
    let folder = workspace.target().join("mcp-peers");
    let wanted = PACKAGES.join("\n");
    if std::fs::read_to_string(folder.join(NOTE)).is_ok_and(|installed| installed == wanted) {
        return;
    }
    if !has("npm") || !has("node") {
        eprintln!("    left out: node and npm are not installed");
        return;
    }
    let installed = || -> Result<()> {
        std::fs::create_dir_all(&folder)?;
        let mut npm = Command::new("npm");
        npm.args([
            "install",
            "--no-audit",
            "--no-fund",
            "--no-package-lock",
            "--no-save",
            "--loglevel=error",
        ]);
        run::command(npm.arg("--prefix=.").args(PACKAGES).current_dir(&folder))?;
        Ok(std::fs::write(folder.join(NOTE), &wanted)?)
    };
    if let Err(reason) = installed() {
        eprintln!("    left out: {reason:#}");
    }
}
