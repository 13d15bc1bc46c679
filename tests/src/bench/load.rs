//! What it costs to have extensions at all: the engine, then each file from the cache, then the first call.

use crate::Subject;
use crate::figure::{Figures, Unit};
use crate::sandbox::{Place, context, runtime, shell_call};
use anyhow::{Context, Result};
use std::time::{Duration, Instant};

const GROUP: &str = "load";
const TIMES: usize = 50;

/// Measures the group. A session does all of this once.
pub(crate) fn measure(subject: &Subject, figures: &mut Figures) -> Result<()> {
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
