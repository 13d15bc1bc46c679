//! `cargo xtask bench`: benchmarks of the release build, all figures of a run in one file.

use crate::extensions;
use crate::javascript;
use crate::mcp_peers;
use crate::run::{self, Workspace};
use anyhow::Result;

/// Builds for release and runs the benchmarks whose name contains `name`.
pub(crate) fn run(workspace: &Workspace, name: &str) -> Result<()> {
    let extensions = extensions::build_all(workspace)?;
    javascript::build_with_starlingmonkey(workspace);
    mcp_peers::typescript_sdk(workspace);
    run::step("building for release (the first time takes some minutes)");
    workspace.cargo([
        "build",
        "--release",
        "--package",
        "capstan-cli",
        "--package",
        "capstan-tests",
        "--bin",
        "capstan",
        "--bin",
        "capstan-bench",
        "--bin",
        "capstan-count",
    ])?;
    run::step("measuring");
    let release = workspace.target().join("release");
    let figures = workspace.target().join("bench.json");
    workspace.program(
        &release.join("capstan-bench"),
        [
            "--capstan".as_ref(),
            release.join("capstan").as_os_str(),
            "--extensions".as_ref(),
            extensions.as_os_str(),
            "--out".as_ref(),
            figures.as_os_str(),
            "--only".as_ref(),
            std::ffi::OsStr::new(name),
        ],
    )
}
