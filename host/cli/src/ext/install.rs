//! `capstan ext install`: files from anywhere into the user's folder.

use super::{Place, confirm};
use crate::catalog::{About, Found, State};
use crate::home::Home;
use crate::screen::{self, BOLD, GOOD, WARN, visible};
use crate::{approve, catalog, lock};
use anyhow::{Context, Result, bail, ensure};
use capstan_engine::Inspected;
use capstan_policy::name;
use capstan_ports::extension::{Descriptor, Digest};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Installs one file after another. All are checked before the first is copied.
pub(super) async fn run(home: Home, files: &[PathBuf], yes: bool) -> Result<ExitCode> {
    let sandbox = catalog::sandbox(&home)?;
    let mut inspected = Vec::new();
    for path in files {
        inspected.push(sandbox.inspect(path).await?);
    }
    let mut declined = false;
    for file in &inspected {
        declined |= !install(&home, file, yes).await?;
    }
    Ok(if declined { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Answers false when the user said no.
async fn install(home: &Home, file: &Inspected, yes: bool) -> Result<bool> {
    let place = Place::open(home.clone()).await?;
    let descriptor = &file.surface.descriptor;
    let target = home.extensions().join(format!("{}.wasm", descriptor.id));
    let before = place.catalog.found.iter().find(|found| found.path == target);
    refuse_clashes(&place, &target, descriptor)?;
    if before.and_then(|found| found.about.as_ref()).is_some_and(|about| about.digest == file.digest) {
        lock::record(home, file, &file.path)?;
        screen::note(&format!(
            "{GOOD}there already{GOOD:#} {} {}",
            descriptor.id,
            visible(&descriptor.version)
        ));
        return Ok(true);
    }
    let shown = Found {
        path: file.path.clone(),
        state: State::Waiting { missing: Vec::new() },
        about: Some(About::of(file)),
    };
    if let Some(about) = &shown.about {
        screen::show(&approve::card(&shown, about))?;
    }
    if let Some(before) = before {
        screen::show(&difference(before, descriptor))?;
    }
    if !yes {
        ensure!(
            std::io::stdin().is_terminal(),
            "there is no terminal to ask at; to install without being asked: capstan ext install --yes {}",
            file.path.display()
        );
        if !confirm("Install this?")? {
            screen::note("capstan: nothing was changed");
            return Ok(false);
        }
    }
    copy(&file.path, &target, &file.digest)?;
    lock::record(home, file, &file.path)?;
    screen::note(&format!(
        "{GOOD}installed{GOOD:#} {} {} as {}",
        descriptor.id,
        visible(&descriptor.version),
        screen::path(&target)
    ));
    if !descriptor.requests.is_empty() {
        screen::note(&format!("It asks for something; look and decide: capstan ext allow {}", descriptor.id));
    }
    Ok(true)
}

/// One id, and one tool of a name: what the user could not tell apart, or what would put both out of force, is not installed.
fn refuse_clashes(place: &Place, target: &Path, wanted: &Descriptor) -> Result<()> {
    for found in place.catalog.found.iter().filter(|found| found.path != target) {
        let Some(About { descriptor, .. }) = &found.about else { continue };
        let path = screen::path(&found.path);
        if descriptor.id == wanted.id {
            bail!("there is an extension {} in {path} already; remove that file first", wanted.id);
        }
        let taken = |tool: &str| {
            let skeleton = name::skeleton(tool);
            descriptor.tools.iter().any(|other| name::skeleton(&other.name) == skeleton)
        };
        if let Some(tool) = wanted.tools.iter().find(|tool| taken(&tool.name)) {
            bail!(
                "its tool {} cannot be told from one of {} ({path}); remove that one first: capstan ext remove {}",
                tool.name,
                descriptor.id,
                descriptor.id
            );
        }
    }
    Ok(())
}

/// What is different from the file that is replaced.
fn difference(before: &Found, now: &Descriptor) -> String {
    let Some(About { descriptor: old, digest, .. }) = &before.about else {
        return format!("  {WARN}replaces{WARN:#} a file of this name that could not be used\n");
    };
    let mut text = String::new();
    // Writing to a string does not fail.
    let mut line = |mark: &str, words: String| {
        let _infallible = writeln!(text, "    {mark} {}", visible(&words));
    };
    let tools =
        |descriptor: &Descriptor| names(descriptor.tools.iter().map(|tool| format!("tool {}", tool.name)));
    let hooks = |descriptor: &Descriptor| {
        names(descriptor.hooks.iter().map(|hook| format!("hook {}", super::stage_name(&hook.stage))))
    };
    let requests = |descriptor: &Descriptor| {
        names(descriptor.requests.iter().map(|request| format!("asks to {}", request.capability)))
    };
    for (was, is) in [(tools(old), tools(now)), (hooks(old), hooks(now)), (requests(old), requests(now))] {
        is.difference(&was).for_each(|name| line("+", name.clone()));
        was.difference(&is).for_each(|name| line("-", name.clone()));
    }
    if !old.requests.is_empty() || !now.requests.is_empty() {
        line("!", "what you allowed the old one does not count for the new one".to_owned());
    }
    format!(
        "  {WARN}replaces{WARN:#} {BOLD}{}{BOLD:#} sha256:{}\n{text}",
        visible(&old.version),
        digest.short()
    )
}

fn names(names: impl Iterator<Item = String>) -> BTreeSet<String> {
    names.collect()
}

/// Copies these very bytes beside their place and renames them there, so that a session that watches sees all or nothing.
fn copy(source: &Path, target: &Path, digest: &Digest) -> Result<()> {
    let folder = target.parent().context("the extension folder has no path")?;
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let bytes = std::fs::read(source).with_context(|| format!("{} cannot be read", source.display()))?;
    ensure!(
        Digest(Sha256::digest(&bytes).into()) == *digest,
        "{} changed while you looked at it; nothing was installed",
        source.display()
    );
    let written = (|| {
        let mut temporary = tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(folder)?;
        temporary.write_all(&bytes)?;
        temporary.as_file().sync_all()?;
        temporary.persist(target)?;
        std::io::Result::Ok(())
    })();
    written.with_context(|| format!("{} cannot be written", target.display()))
}
