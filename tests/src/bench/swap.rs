//! How long a session goes on with the old code after a file was replaced.

use crate::Subject;
use crate::figure::{Figures, Unit};
use crate::sandbox::variant;
use anyhow::{Context, Result};
use capstan_tests::product::Product;
use capstan_tests::terminal::{Key, Terminal};
use std::time::{Duration, Instant};

const GROUP: &str = "swap";
const TIMES: usize = 20;

/// Measures the group: from the moment a new file is in place until the session has compiled it, checked it, put it into force and
/// said so. The gate is the minimal one from the SDK; each time it has other bytes, so nothing comes from the cache.
pub(crate) fn measure(subject: &Subject, figures: &mut Figures) -> Result<()> {
    if !figures.wants(GROUP, "swap") {
        return Ok(());
    }
    let program = subject.capstan.to_str().context("the path of the product is text")?;
    let product = Product::new(program)?.with_script(&[])?;
    let original = subject.guests.join("minimal-gate.wasm");
    let place = product.extensions().join("gate.wasm");
    std::fs::write(&place, variant(&original, 0)?)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let times = runtime.block_on(async {
        let mut terminal = Terminal::start(&product, &[])?;
        terminal.wait_for("> ").await?;
        let mut times = Vec::with_capacity(TIMES);
        for number in 1..=TIMES {
            // The watcher has come to rest.
            tokio::time::sleep(Duration::from_millis(400)).await;
            let aside = product.home().join("aside.wasm");
            std::fs::write(&aside, variant(&original, number)?)?;
            let began = Instant::now();
            std::fs::rename(&aside, &place)?;
            terminal.wait_for("~ minimal-gate").await?;
            times.push(began.elapsed());
        }
        terminal.press(Key::End)?;
        anyhow::Ok(times)
    })?;
    figures.times("swap", Unit::Milliseconds, Some(300.0), &times);
    Ok(())
}
