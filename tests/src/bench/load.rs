//! What it costs to have extensions at all: the engine, then each file from the cache, then the first call.

use crate::Subject;
use crate::figure::{Figures, Unit};
use crate::sandbox::{Place, context, runtime, shell_call, variant};
use anyhow::{Context, Result};
use std::time::{Duration, Instant};

const GROUP: &str = "load";
const TIMES: usize = 50;

/// Extensions of a user who collects them.
const MANY: usize = 200;

/// Measures the group. A session does all of this once.
pub(crate) fn measure(subject: &Subject, figures: &mut Figures) -> Result<()> {
    many(subject, figures)?;
    big(subject, figures)?;
    let names = ["sandbox_new", "ready_2", "first_call"];
    let [new, ready, first] = names.map(|name| figures.wants(GROUP, name));
    if !(new || ready || first) {
        return Ok(());
    }
    let files = ["command-guard.wasm", "repo-map.wasm"].map(|name| subject.extensions.join(name));
    let place = Place::new()?;
    let runtime = runtime()?;
    let (mut news, mut readies, mut firsts) = (Vec::new(), Vec::new(), Vec::new());
    // The first time compiles, and is not counted.
    for turn in 0..=TIMES {
        let began = Instant::now();
        let sandbox = place.sandbox()?;
        let new = began.elapsed();
        let (ready, first) = runtime.block_on(async {
            let began = Instant::now();
            let mut extensions = Vec::new();
            for file in &files {
                let extension = place.extension(&sandbox, file).await?;
                extension.prepare().await?;
                extensions.push(extension);
            }
            let ready = began.elapsed();
            // Another handle of the same file, whose code is still on disk.
            let hook =
                place.extension(&sandbox, &files[0]).await?.hook().context("command-guard has a hook")?;
            let began = Instant::now();
            hook.before_tool_call(&context(), &shell_call()).await?;
            anyhow::Ok::<(Duration, Duration)>((ready, began.elapsed()))
        })?;
        if turn > 0 {
            news.push(new);
            readies.push(ready);
            firsts.push(first);
        }
    }
    for (wanted, name, times) in
        [(new, names[0], news), (ready, names[1], readies), (first, names[2], firsts)]
    {
        if wanted {
            figures.times(name, Unit::Milliseconds, None, &times);
        }
    }
    Ok(())
}

/// Many small extensions with a warm cache: each is read, recognised, and put into force. Nothing is instantiated.
fn many(subject: &Subject, figures: &mut Figures) -> Result<()> {
    let name = "ready_200";
    if !figures.wants(GROUP, name) {
        return Ok(());
    }
    let place = Place::new()?;
    let original = subject.guests.join("minimal-gate.wasm");
    let files = (0..MANY).map(|number| place.file(&format!("{number}.wasm"), &variant(&original, number)?));
    let files = files.collect::<Result<Vec<_>>>()?;
    let runtime = runtime()?;
    let mut times = Vec::new();
    // The first time compiles, and is not counted.
    for turn in 0..=20 {
        let sandbox = place.sandbox()?;
        let began = Instant::now();
        let extensions = runtime.block_on(async {
            let mut extensions = Vec::with_capacity(MANY);
            for file in &files {
                extensions.push(place.extension(&sandbox, file).await?);
            }
            anyhow::Ok(extensions)
        })?;
        if turn > 0 {
            times.push(began.elapsed());
        }
        anyhow::ensure!(
            extensions.iter().all(|extension| extension.usage().calls == 0),
            "nothing was to be called"
        );
    }
    figures.times(name, Unit::Milliseconds, Some(100.0), &times);
    Ok(())
}

/// A component of twelve megabytes from the cache: read, recognised, its code verified and loaded.
fn big(subject: &Subject, figures: &mut Figures) -> Result<()> {
    let name = "big_from_cache";
    if !figures.wants(GROUP, name) {
        return Ok(());
    }
    let file = subject.guests.join("javascript-gate-starlingmonkey.wasm");
    // Built only where npm is installed.
    if !file.is_file() {
        eprintln!("{name} is left out: {} is not there", file.display());
        return Ok(());
    }
    let place = Place::new()?;
    let runtime = runtime()?;
    let mut times = Vec::new();
    for turn in 0..=20 {
        let sandbox = place.sandbox()?;
        let began = Instant::now();
        runtime.block_on(async { anyhow::Ok(place.extension(&sandbox, &file).await?.prepare().await?) })?;
        if turn > 0 {
            times.push(began.elapsed());
        }
    }
    figures.times(name, Unit::Milliseconds, Some(40.0), &times);
    Ok(())
}
