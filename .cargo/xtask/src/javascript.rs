//! The SDK for JavaScript, for those who have Node and npm.

use crate::extensions;
use crate::run::{self, Workspace};
use anyhow::{Context, Result};
use capstan_builder::Language;
use std::path::Path;
use std::process::Command;

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

/// Builds the gate of the tests with StarlingMonkey as well, for the benchmarks: it takes half a minute to install and another to
/// build. Where that cannot be done it is left out, which is said; the figures that need it then say so, too.
pub(crate) fn build_with_starlingmonkey(workspace: &Workspace) {
    run::step("test guest in JavaScript, with StarlingMonkey");
    if let Some(program) = extensions::missing(Language::JavaScript) {
        eprintln!("    left out: {program} is not installed");
    } else if let Err(reason) = starlingmonkey(workspace) {
        eprintln!("    left out: {reason:#}");
    }
}

fn starlingmonkey(workspace: &Workspace) -> Result<()> {
    let source = workspace.path("tests/guests/javascript-gate");
    let project = workspace.target().join("javascript/starlingmonkey");
    std::fs::create_dir_all(&project)?;
    for file in ["gate.js", ".npmrc"] {
        let path = source.join(file);
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        write_new(&project.join(file), &text)?;
    }
    let manifest = format!(
        r#"{{ "name": "javascript-gate-starlingmonkey", "version": "0.1.0", "private": true, "type": "module",
  "capstan": {{ "entry": "gate.js", "engine": "starlingmonkey" }},
  "dependencies": {{ "capstan-sdk": "file:{}" }},
  "devDependencies": {{ "@bytecodealliance/componentize-js": "0.23.0", "@bytecodealliance/preview2-shim": "0.26.1" }} }}
"#,
        workspace.path("sdk/javascript").display()
    );
    write_new(&project.join("package.json"), &manifest)?;
    extensions::build_project(&project, &workspace.target().join("guests"))
}

/// Writes a file unless it is there already: a new time would have npm look at everything again.
fn write_new(path: &Path, text: &str) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|there| there == text) {
        return Ok(());
    }
    std::fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}
