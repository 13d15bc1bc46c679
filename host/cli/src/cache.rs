//! `capstan cache …`: what is kept of compiled extensions.

use crate::args::CacheCommand;
use crate::catalog;
use crate::home::Home;
use crate::screen::{self, BOLD, DIM, visible};
use anyhow::{Context, Result};
use capstan_engine::Surface;
use capstan_engine::cache::{self, Entry};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// Runs one of the commands.
pub(crate) fn run(command: CacheCommand) -> Result<ExitCode> {
    let home = Home::find()?;
    match command {
        CacheCommand::List { json } => list(&home, json)?,
        CacheCommand::Clear => {
            let removed = cache::clear(&home.compiled())
                .with_context(|| format!("{} cannot be emptied", home.compiled().display()))?;
            screen::note(&format!(
                "capstan: {} entries removed, {}; extensions are compiled again when they are next used",
                removed.entries,
                screen::size(removed.bytes)
            ));
        }
        CacheCommand::Path => {
            screen::data(&format!("{}\n", home.compiled().display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(home: &Home, as_json: bool) -> Result<()> {
    let entries = cache::entries(&home.compiled())
        .with_context(|| format!("{} cannot be read", home.compiled().display()))?;
    let sandbox = catalog::sandbox(home)?;
    let known: Vec<(Entry, Option<Surface>)> = entries
        .into_iter()
        .map(|entry| {
            let about = sandbox.about(&entry);
            (entry, about)
        })
        .collect();
    if as_json {
        let entries: Vec<_> = known.iter().map(as_value).collect();
        screen::json(&serde_json::to_string_pretty(&entries)?)?;
        return Ok(());
    }
    if known.is_empty() {
        screen::note(&format!("The cache in {} is empty.", screen::path(&home.compiled())));
        return Ok(());
    }
    let now = SystemTime::now();
    let mut out = String::new();
    for (entry, about) in &known {
        let (id, version) = match about {
            Some(about) => (about.descriptor.id.as_str(), about.descriptor.version.as_str()),
            None => ("(unknown)", "-"),
        };
        writeln!(
            out,
            "{BOLD}{id:24}{BOLD:#}  {:8}  {}  {:>10}  {DIM}used {}{DIM:#}",
            visible(version),
            entry.digest.short(),
            screen::size(entry.bytes),
            ago(now.duration_since(entry.last_used).unwrap_or_default())
        )?;
    }
    let bytes = known.iter().map(|(entry, _)| entry.bytes).sum();
    writeln!(out, "{} entries, {}", known.len(), screen::size(bytes))?;
    screen::show(&out)?;
    Ok(())
}

fn as_value((entry, about): &(Entry, Option<Surface>)) -> serde_json::Value {
    let since_epoch = entry.last_used.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    json!({
        "id": about.as_ref().map(|about| &about.descriptor.id),
        "version": about.as_ref().map(|about| &about.descriptor.version),
        "digest": entry.digest,
        "bytes": entry.bytes,
        "lastUsed": since_epoch.as_secs(),
    })
}

/// To the hour, which is how exactly uses are noted.
fn ago(age: Duration) -> String {
    match age.as_secs() / 3600 {
        0 => "within the hour".to_owned(),
        hours @ 1..48 => format!("{hours} h ago"),
        hours => format!("{} days ago", hours / 24),
    }
}
