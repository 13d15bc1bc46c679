//! `capstan ext build`: an extension from its source, with the guest toolchain found or made on the way.

use crate::catalog;
use crate::home::Home;
use crate::lock;
use crate::screen::{self, DIM, GOOD};
use anyhow::{Context, Result};
use capstan_builder::{BuiltExtension, Purpose};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Builds, checks what came out, and says where it is.
pub(super) async fn run(
    home: &Home,
    project: &Path,
    out: Option<PathBuf>,
    install: bool,
    purpose: Purpose,
) -> Result<ExitCode> {
    let out = match (install, out) {
        (true, _) => home.extensions(),
        (false, Some(out)) => out,
        (false, None) => default_out(project),
    };
    let built = component(home, project, purpose, &out).await?;
    // What was built must load; better to hear it now than at the next start.
    let inspected = catalog::sandbox(home)?.inspect(&built.wasm).await?;
    screen::note(&format!(
        "{GOOD}built{GOOD:#} {} {} for {}: {} bytes in {:.1} s",
        inspected.surface.descriptor.id,
        screen::visible(&inspected.surface.descriptor.version),
        built.target,
        built.bytes,
        built.elapsed.as_secs_f64(),
    ));
    if install {
        lock::record(home, &inspected, project)?;
    }
    if install && !inspected.surface.descriptor.requests.is_empty() {
        screen::note(&format!(
            "It asks for something; look and decide: capstan ext allow {}",
            inspected.surface.descriptor.id
        ));
    }
    screen::data(&format!("{}\n", built.wasm.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Where a project's component goes unless somebody says otherwise.
pub(super) fn default_out(project: &Path) -> PathBuf {
    let folder = if project.is_file() { project.parent() } else { None };
    folder.unwrap_or(project).join("target").join("capstan")
}

/// What a build with or without `--debug` is for.
pub(super) fn purpose(debug: bool) -> Purpose {
    if debug { Purpose::Debugging } else { Purpose::Use }
}

/// Shows a step of the builder.
pub(super) fn say(line: &str) {
    screen::note(&format!("{DIM}{}{DIM:#}", screen::visible(line)));
}

/// The component of a project, in a folder that is made if need be.
pub(super) async fn component(
    home: &Home,
    project: &Path,
    purpose: Purpose,
    out: &Path,
) -> Result<BuiltExtension> {
    std::fs::create_dir_all(out).with_context(|| format!("{} cannot be made", out.display()))?;
    let (project, cache, folder) = (project.to_owned(), home.cache.clone(), out.to_owned());
    let built = tokio::task::spawn_blocking(move || {
        capstan_builder::build_for(purpose, &project, &cache, &folder, &say)
    });
    Ok(built.await.context("the build was interrupted")??)
}
