//! Everything that CI runs.

use crate::javascript;
use crate::run::{self, Workspace};
use crate::{acceptance, extensions, mcp_peers, typescript};
use anyhow::{Context, Result};
use capstan_builder::Language;
use std::ffi::OsStr;
use std::process::Command;

/// Sets up, then lint, the host's tests, and the tests of SDK, extensions and an embedding program.
pub(crate) fn all(workspace: &Workspace) -> Result<()> {
    extensions::build_all(workspace)?;
    mcp_peers::install(workspace);
    lint(workspace)?;
    run::step("capabilities that the tests show");
    acceptance::check(workspace)?;
    run::step("the SDKs' bindings are those of the contract");
    bindings(workspace, Bindings::Check)?;
    run::step("tests of SDK, extensions and an embedding program, natively");
    for project in outside_packages(workspace)? {
        workspace.cargo_in(&project, ["test", "--quiet", "--all-features"])?;
    }
    javascript::test_sdk(workspace)?;
    python_sdk(workspace)?;
    for (project, language) in extensions::projects(&workspace.path("extensions"))? {
        if language != Language::Rust && extensions::missing(language).is_none() {
            capstan_builder::test(&project, &capstan_builder::default_cache(), &|line| {
                eprintln!("    {line}")
            })?;
        }
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

/// The kinds of new extensions.
const KINDS: [&str; 4] = ["tool", "hook", "plan-parser", "compressor"];

/// Makes one extension of each kind in each language: it is formatted, its tests pass natively, it builds, and its cases pass in the
/// sandbox.
fn new_extensions(workspace: &Workspace) -> Result<()> {
    // The whole workspace, for the features that the tests have (see `demo`).
    workspace.cargo(["build", "--workspace"])?;
    let capstan = workspace.target().join("debug/capstan");
    let folder = workspace.target().join("new-extensions");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("{} is in the way", folder.display()))?;
    }
    for kind in KINDS {
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
    for (language, names) in [(Language::JavaScript, &["js", "ts"][..]), (Language::Python, &["python"])] {
        if let Some(program) = extensions::missing(language) {
            eprintln!(
                "    left out: new extensions in {} need {program}, which is not installed",
                names.join(" and ")
            );
            continue;
        }
        for (lang, kind) in names.iter().flat_map(|lang| KINDS.map(|kind| (*lang, kind))) {
            let name = format!("new-{kind}-{lang}");
            let project = folder.join(&name);
            let made = ["ext", "new", &name, "--lang", lang, "--kind", kind, "--dir"].map(OsStr::new);
            workspace.program(&capstan, made.into_iter().chain([project.as_os_str()]))?;
            workspace.program(&capstan, ["ext".as_ref(), "test".as_ref(), project.as_os_str()])?;
        }
    }
    Ok(())
}

/// The tests of the SDK for Python, the examples in its documentation among them.
fn python_sdk(workspace: &Workspace) -> Result<()> {
    if let Some(program) = extensions::missing(Language::Python) {
        eprintln!("    left out: the SDK for Python needs {program}, which is not installed");
        return Ok(());
    }
    let sdk = workspace.path("sdk/python");
    run::command(Command::new("python3").args(["-B", "-m", "unittest", "--quiet"]).current_dir(&sdk))
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
        workspace.cargo_in(
            &project,
            ["clippy", "--quiet", "--all-targets", "--all-features", "--", "--deny", "warnings"],
        )?;
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

/// The SDKs' generated bindings.
pub(crate) fn bindings(workspace: &Workspace, what: Bindings) -> Result<()> {
    typescript::bindings(workspace, what)?;
    let generator = workspace.path("sdk/rust/bindgen");
    match what {
        Bindings::Check => workspace.cargo_in(&generator, ["run", "--quiet", "--", "--check"]),
        Bindings::Write => workspace.cargo_in(&generator, ["run", "--quiet"]),
    }
}

/// Packages outside the host's cargo workspace whose tests run natively.
fn outside_packages(workspace: &Workspace) -> Result<Vec<std::path::PathBuf>> {
    let mut projects = vec![workspace.path("sdk/rust"), workspace.path("tests/embedder")];
    let extensions = extensions::projects(&workspace.path("extensions"))?.into_iter();
    projects
        .extend(extensions.filter(|(_, language)| *language == Language::Rust).map(|(project, _)| project));
    Ok(projects)
}
