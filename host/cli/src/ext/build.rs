//! `capstan ext build`: an extension from its source, with the guest toolchain found or made on the way.

use crate::catalog;
use crate::home::Home;
use crate::lock;
use crate::screen::{self, DIM, GOOD};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Builds, checks what came out, and says where it is.
pub(super) async fn run(
    home: &Home,
    project: &Path,
    out: Option<PathBuf>,
    install: bool,
) -> Result<ExitCode> {
    let out = match (install, out) {
        (true, _) => home.extensions(),
        (false, Some(out)) => out,
        (false, None) => project.join("target").join("capstan"),
    };
    std::fs::create_dir_all(&out).with_context(|| format!("{} cannot be made", out.display()))?;
    let (source, cache, folder) = (project.to_owned(), home.cache.clone(), out.clone());
    let built = tokio::task::spawn_blocking(move || {
        capstan_builder::build(&source, &cache, &folder, &|line| screen::note(&format!("{DIM}{line}{DIM:#}")))
    })
    .await
    .context("the build was interrupted")??;
    // What was built must load; better to hear it now than at the next start.
    let inspected = catalog::sandbox(home)?.inspect(&built.wasm).await?;
    screen::note(&format!(
        "{GOOD}built{GOOD:#} {} {} for {}: {} bytes in {:.1} s",
        inspected.surface.descriptor.id,
        inspected.surface.descriptor.version,
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
