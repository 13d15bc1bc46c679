//! Extensions for people and for programs.

use crate::catalog::{Catalog, Found, State};
use crate::home::Home;
use crate::lock::{Entry, Lock};
use crate::screen::{self, BAD, BOLD, DIM, GOOD, WARN, visible};
use crate::usage::Ledger;
use anyhow::Result;
use capstan_engine::{Inspected, Interface};
use capstan_policy::Grants;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;

/// One line an extension, and what to do about those that do not run.
pub(super) fn list(catalog: &Catalog, home: &Home) -> Result<ExitCode> {
    if catalog.found.is_empty() {
        screen::note(&format!(
            "There are no extensions. Put a .wasm file into {}, or build one: capstan ext build DIR --install",
            screen::path(&home.extensions())
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let lock = Lock::read(home)?;
    let width = catalog.found.iter().map(|found| found.name().len()).max().unwrap_or(0);
    let mut out = String::new();
    for found in &catalog.found {
        let style = match found.state {
            State::Active => GOOD,
            State::Waiting { .. } | State::Modified { .. } | State::UntrustedProject => WARN,
            State::Broken(_) => BAD,
            State::Disabled | State::Compiling(_) => DIM,
        };
        let (version, does) = match &found.about {
            Some(about) => (about.descriptor.version.as_str(), does(found)),
            None => ("-", String::new()),
        };
        writeln!(
            out,
            "{BOLD}{:width$}{BOLD:#}  {:8}  {style}{:9}{style:#}  {does}",
            visible(&found.name()),
            visible(version),
            found.state.word(),
        )?;
        if let Some(notice) = found.notice() {
            writeln!(out, "{DIM}    {}{DIM:#}", visible(&notice))?;
        }
        if let Some(entry) = installed_otherwise(found, &lock) {
            writeln!(
                out,
                "{WARN}    not the file that was installed at {} from {} (sha256:{}); to install this one: capstan ext install {}{WARN:#}",
                visible(&entry.installed),
                screen::path(&entry.source),
                entry.digest.short(),
                screen::path(&found.path)
            )?;
        }
    }
    screen::show(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// What was installed under a file's id, if that was another file.
fn installed_otherwise<'a>(found: &Found, lock: &'a Lock) -> Option<&'a Entry> {
    let about = found.about.as_ref()?;
    lock.of(&about.descriptor.id).filter(|entry| entry.digest != about.digest)
}

fn does(found: &Found) -> String {
    let Some(about) = &found.about else { return String::new() };
    let descriptor = &about.descriptor;
    let tools = descriptor.tools.iter().map(|tool| tool.name.clone());
    let hooks = descriptor.hooks.iter().map(|hook| stage_name(&hook.stage));
    let formats = descriptor.plan_parsers.iter().map(|format| format!("plans in {format}"));
    let strategies = descriptor.compressors.iter().map(|strategy| format!("compaction by {strategy}"));
    let parts = [Interface::Observer, Interface::Memory].into_iter();
    let parts = parts.filter(|part| about.exports.contains(part)).map(|part| part.name().to_owned());
    let commands = descriptor.commands.iter().map(|command| format!("/{}", command.name));
    let all = tools.chain(hooks).chain(formats).chain(strategies).chain(parts).chain(commands);
    all.collect::<Vec<_>>().join(", ")
}

/// A stage as the contract writes it.
pub(crate) fn stage_name(stage: &capstan_ports::HookStage) -> String {
    // The serialized name is the contract's.
    match serde_json::to_value(stage) {
        Ok(Value::String(name)) => name,
        _ => format!("{stage:?}"),
    }
}

/// What each has used, one line an extension.
pub(super) fn usage(catalog: &Catalog, ledger: &Ledger) -> Result<ExitCode> {
    let known = catalog.found.iter().filter_map(|found| Some((found, found.about.as_ref()?)));
    let width = catalog.found.iter().map(|found| found.name().len()).max().unwrap_or(0).max(9);
    let mut out = format!(
        "{DIM}{:width$}  {:>8}  {:>8}  {:>9}  {:>10}  {:>10}  {:>9}  {:>9}{DIM:#}\n",
        "extension", "calls", "failed", "cpu ms", "per call", "host calls", "memory", "written"
    );
    for (found, about) in known {
        let used = ledger.of(&about.descriptor.id, &about.digest);
        let millis = used.cpu_micros as f64 / 1000.0;
        let each = if used.calls == 0 { 0.0 } else { used.cpu_micros as f64 / used.calls as f64 };
        writeln!(
            out,
            "{BOLD}{:width$}{BOLD:#}  {:>8}  {:>8}  {millis:>9.1}  {:>10}  {:>10}  {:>9}  {:>9}",
            visible(&found.name()),
            used.calls,
            used.failures,
            format!("{each:.0} µs"),
            used.host_calls,
            mib(used.peak_memory_bytes),
            mib(used.written_bytes),
        )?;
    }
    screen::show(&out)?;
    Ok(ExitCode::SUCCESS)
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// The same as an array, with everything.
pub(super) fn list_json(catalog: &Catalog, ledger: &Ledger, lock: &Lock) -> Result<ExitCode> {
    let entries: Vec<_> = catalog
        .found
        .iter()
        .map(|found| {
            json!({
                "name": found.name(),
                "state": found.state.word(),
                "file": found.path,
                "notice": found.notice(),
                "digest": found.about.as_ref().map(|about| about.digest),
                "descriptor": found.about.as_ref().map(|about| &about.descriptor),
                "installed": found.about.as_ref().and_then(|about| lock.of(&about.descriptor.id)),
                "usage": found.about.as_ref().map(|about| ledger.of(&about.descriptor.id, &about.digest)),
            })
        })
        .collect();
    screen::json(&serde_json::to_string_pretty(&entries)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Everything about one file.
pub(super) fn inspected(
    file: &Inspected,
    installed: Option<(&Found, &Grants)>,
    json: bool,
) -> Result<ExitCode> {
    let descriptor = &file.surface.descriptor;
    let granted: Vec<_> = installed
        .and_then(|(_, grants)| grants.of(&file.digest))
        .map(|grant| grant.granted.iter().cloned().collect())
        .unwrap_or_default();
    let state = installed.map_or("not installed", |(found, _)| found.state.word());
    if json {
        let value = json!({
            "file": file.path,
            "bytes": file.bytes,
            "digest": file.digest,
            "state": state,
            "granted": granted,
            "imports": file.surface.imports,
            "exports": file.surface.exports,
            "otherExports": file.surface.other_exports,
            "descriptor": descriptor,
        });
        screen::json(&serde_json::to_string_pretty(&value)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = String::new();
    writeln!(out, "{BOLD}{}{BOLD:#} {}  {state}", descriptor.id, visible(&descriptor.version))?;
    writeln!(out, "  {}", visible(&descriptor.summary))?;
    writeln!(out, "  file     {} ({} bytes)", screen::path(&file.path), file.bytes)?;
    writeln!(out, "  digest   {:?}", file.digest)?;
    let exports: Vec<_> = file.surface.exports.iter().map(|interface: &Interface| interface.name()).collect();
    writeln!(out, "  exports  {}", exports.join(", "))?;
    writeln!(out, "  imports  {}", visible(&file.surface.imports.join(", ")))?;
    for tool in &descriptor.tools {
        writeln!(out, "\n  tool {BOLD}{}{BOLD:#}", tool.name)?;
        for line in visible(&tool.description).lines() {
            writeln!(out, "    {line}")?;
        }
        writeln!(out, "    {DIM}{}{DIM:#}", visible(&tool.parameters.to_string()))?;
    }
    for hook in &descriptor.hooks {
        let tools = if hook.tools.is_empty() { "every tool".to_owned() } else { hook.tools.join(", ") };
        writeln!(
            out,
            "\n  hook {BOLD}{}{BOLD:#} on {}, priority {}",
            stage_name(&hook.stage),
            visible(&tools),
            hook.priority
        )?;
    }
    for format in &descriptor.plan_parsers {
        writeln!(out, "\n  plans in {BOLD}{format}{BOLD:#}")?;
    }
    for strategy in &descriptor.compressors {
        writeln!(out, "\n  compaction by {BOLD}{strategy}{BOLD:#}")?;
    }
    for command in &descriptor.commands {
        writeln!(out, "\n  command {BOLD}/{}{BOLD:#}\n    {}", command.name, visible(&command.description))?;
    }
    for request in &descriptor.requests {
        let mark = if granted.contains(&request.capability) { "granted" } else { "not granted" };
        writeln!(
            out,
            "\n  asks to {WARN}{}{WARN:#} ({mark}{})\n    {}",
            visible(&request.capability.to_string()),
            if request.required { "" } else { ", optional" },
            visible(&request.reason)
        )?;
    }
    if let Some(notice) = installed.and_then(|(found, _)| found.notice()) {
        writeln!(out, "\n  {}", visible(&notice))?;
    }
    screen::show(&out)?;
    Ok(ExitCode::SUCCESS)
}
