//! Everything that CI runs.

use crate::javascript::{self, Engine};
use crate::run::{self, Workspace};
use crate::{acceptance, extensions};
use anyhow::{Context, Result};
use std::ffi::OsStr;

/// Sets up, then lint, the host's tests, and the tests of SDK, extensions and an embedding program.
pub(crate) fn all(workspace: &Workspace) -> Result<()> {
    extensions::build_all(workspace)?;
    javascript::build(workspace, Engine::QuickJs);
    lint(workspace)?;
    run::step("capabilities that the tests show");
    acceptance::check(workspace)?;
    run::step("the SDK's bindings are those of the contract");
    bindings(workspace, Bindings::Check)?;
    run::step("tests of SDK, extensions and an embedding program, natively");
    for project in outside_packages(workspace)? {
        workspace.cargo_in(&project, ["test", "--quiet"])?;
    }
    run::step("new extensions, as `capstan ext new` makes them");
    new_extensions(workspace)?;
    run::step("documentation examples of the host");
    workspace.cargo(["test", "--workspace", "--doc", "--quiet"])?;
    run::step("tests of the host");
    // The last step, so that the runner's summary closes the output.
    if workspace.has_subcommand("nextest") {
        workspace.cargo(["nextest", "run", "--workspace", "--no-fail-fast"])
    } else {
        workspace.cargo(["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
    }
}

/// Makes one extension of each kind: it is formatted, its tests pass natively, it builds, and its cases pass in the sandbox.
fn new_extensions(workspace: &Workspace) -> Result<()> {
    // The whole workspace, for the features that the tests have (see `demo`).
    workspace.cargo(["build", "--workspace"])?;
    let capstan = workspace.target().join("debug/capstan");
    let folder = workspace.target().join("new-extensions");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("{} is in the way", folder.display()))?;
    }
    for kind in ["tool", "hook", "plan-parser", "compressor"] {
        let project = folder.join(format!("new-{kind}"));
        let name = format!("new-{kind}");
        let made = ["ext", "new", &name, "--kind", kind, "--dir"].map(OsStr::new);
        workspace.program(&capstan, made.into_iter().chain([project.as_os_str()]))?;
        // With the author's own style, which is cargo's.
        let style = project.join(".rustfmt.toml");
        std::fs::write(&style, "").with_context(|| format!("{} cannot be written", style.display()))?;
        workspace.cargo_in(&project, ["fmt", "--check"])?;
        // Its own tests as well.
        workspace.program(&capstan, ["ext".as_ref(), "test".as_ref(), project.as_os_str()])?;
    }
    Ok(())
}

/// Formatting and clippy, here and in the packages outside the workspace.
pub(crate) fn lint(workspace: &Workspace) -> Result<()> {
    run::step("formatting and clippy");
    workspace.cargo(["fmt", "--all", "--check"])?;
    workspace.cargo(["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])?;
    run::step("documentation of the libraries");
    let denied = ["--config", "build.rustdocflags=[\"--deny\", \"warnings\"]"];
    // Programs have nothing that another crate could link to.
    let libraries = ["--exclude", "capstan-cli", "--exclude", "capstan-tests", "--exclude", "xtask"];
    let doc = ["doc", "--workspace", "--no-deps", "--quiet"];
    workspace.cargo(denied.iter().chain(&doc).chain(&libraries))?;
    for project in outside_packages(workspace)? {
        workspace.cargo_in(&project, ["fmt", "--check"])?;
        workspace.cargo_in(&project, ["clippy", "--quiet", "--all-targets", "--", "--deny", "warnings"])?;
    }
    Ok(())
}

/// What to do about the bindings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bindings {
    /// Fail if they are not what the contract gives.
    Check,
    /// Write them.
    Write,
}

/// The SDK's generated bindings.
pub(crate) fn bindings(workspace: &Workspace, what: Bindings) -> Result<()> {
    let generator = workspace.path("sdk/rust/bindgen");
    match what {
        Bindings::Check => workspace.cargo_in(&generator, ["run", "--quiet", "--", "--check"]),
        Bindings::Write => workspace.cargo_in(&generator, ["run", "--quiet"]),
    }
}

/// Packages outside the host's cargo workspace whose tests run natively.
fn outside_packages(workspace: &Workspace) -> Result<Vec<std::path::PathBuf>> {
    let mut projects = vec![workspace.path("sdk/rust"), workspace.path("tests/embedder")];
    projects.extend(extensions::projects(&workspace.path("extensions"))?);
    Ok(projects)
}
