//! `capstan ext check`: everything about a component that can be known before it is used.
//!
//! A problem is what keeps it from working as it says; a warning is what its author or user probably did not mean; a note is
//! only told.

use super::Place;
use crate::approve;
use crate::catalog::{self, State};
use crate::config::{self, Config};
use crate::home::Home;
use crate::screen::{self, BAD, DIM, GOOD, WARN, visible};
use anyhow::Result;
use capstan_engine::{Inspected, Interface, Sandbox};
use capstan_ports::extension::{Capability, Power};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A JavaScript component above this carries a whole browser engine. A small engine does with less, and starts a hundred
/// times faster.
const LARGE_SCRIPT_BYTES: u64 = 1_300_000;

/// Above this a first start takes many seconds; only a whole Python has reason to be so large.
const LARGE_BYTES: u64 = 16 << 20;

/// What is found out about one file.
#[derive(Debug, Default, Serialize)]
struct Report {
    file: PathBuf,
    /// Its id, once it could be read.
    name: Option<String>,
    /// The state of an installed one, as in `ext list`.
    state: Option<String>,
    bytes: Option<u64>,
    /// The version of the contract that this host speaks, which it was held to.
    contract: &'static str,
    problems: Vec<String>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

/// Checks these files, or everything that is installed: 0 if there is no problem.
pub(super) async fn run(home: Home, files: &[PathBuf], as_json: bool) -> Result<ExitCode> {
    let mut reports = Vec::new();
    let config = Config::load(&home, &config::load_grants(&home)?)?;
    if files.is_empty() {
        let place = Place::open(home).await?;
        for found in &place.catalog.found {
            let mut report = match (&found.state, &found.about) {
                // Not looked into before the project is trusted.
                (State::UntrustedProject, None) => Report::of(&found.path),
                (State::Broken(reason), None) => {
                    let mut report = Report::of(&found.path);
                    report.problems.push(reason.clone());
                    report
                }
                (_, _) => file(&place.sandbox, &found.path, &place.home, &config).await,
            };
            report.state = Some(found.state.word().to_owned());
            if let (State::Broken(reason), Some(_)) = (&found.state, &found.about)
                && !report.problems.iter().any(|problem| reason.contains(problem.as_str()))
            {
                report.problems.push(reason.clone());
            } else if !matches!(found.state, State::Broken(_)) {
                report.notes.extend(found.notice());
            }
            reports.push(report);
        }
    } else {
        let sandbox = catalog::sandbox(&home)?;
        for path in files {
            reports.push(file(&sandbox, path, &home, &config).await);
        }
    }
    if as_json {
        screen::json(&serde_json::to_string_pretty(&reports)?)?;
    } else {
        reports.iter().try_for_each(show)?;
    }
    let is_good = reports.iter().all(|report| report.problems.is_empty());
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(report: &Report) -> Result<()> {
    let (style, word) = match (report.problems.is_empty(), report.warnings.is_empty()) {
        (true, true) => (GOOD, "ok "),
        (true, false) => (WARN, "ok "),
        (false, _) => (BAD, "bad"),
    };
    screen::show(&format!("{style}{word}{style:#} {}\n", screen::path(&report.file)))?;
    let parts = [
        (BAD, "problem", &report.problems),
        (WARN, "warning", &report.warnings),
        (DIM, "note", &report.notes),
    ];
    for (style, word, texts) in parts {
        for text in texts {
            screen::show(&format!("    {style}{word}{style:#}: {}\n", visible(text)))?;
        }
    }
    Ok(())
}

impl Report {
    fn of(path: &Path) -> Self {
        Self { file: path.to_owned(), contract: capstan_engine::CONTRACT_VERSION, ..Self::default() }
    }
}

/// Everything about one file.
async fn file(sandbox: &Sandbox, path: &Path, home: &Home, config: &Config) -> Report {
    let mut report = Report::of(path);
    // Loading holds it to the form: header, validation, contract version, imports, descriptor, schemas, globs.
    let file = match sandbox.inspect(path).await {
        Ok(file) => file,
        Err(error) => {
            report.problems.push(screen::whole(&error.into()));
            return report;
        }
    };
    let descriptor = &file.surface.descriptor;
    report.name = Some(descriptor.id.to_string());
    report.bytes = Some(file.bytes);
    requests(&file, home, &mut report);
    imports(&file, &mut report);
    size(&file, &mut report);
    table(&file, config, &mut report);
    for export in &file.surface.other_exports {
        report.notes.push(format!("it exports `{export}`, which no host calls"));
    }
    report
}

fn requests(file: &Inspected, home: &Home, report: &mut Report) {
    let places = home.places();
    for request in &file.surface.descriptor.requests {
        let capability = &request.capability;
        match (approve::possible(capability, &places), request.required) {
            (Ok(()), _) => {}
            (Err(reason), true) => report.problems.push(format!(
                "it needs to {capability}, which cannot be granted: {}",
                screen::whole(&reason)
            )),
            (Err(reason), false) => report.warnings.push(format!(
                "it would like to {capability}, which cannot be granted: {}",
                screen::whole(&reason)
            )),
        }
        if let Some(missing) = unusable(file, capability) {
            report
                .warnings
                .push(format!("it asks to {capability}, but {missing}, so a grant would do nothing"));
        }
    }
}

/// What a component lacks to make use of a grant.
fn unusable(file: &Inspected, capability: &Capability) -> Option<String> {
    let surface = &file.surface;
    let without_import = |import: &str| {
        (!imports_of(file).any(|name| name == import)).then(|| format!("it does not import `{import}`"))
    };
    let without_export = |interfaces: &[Interface]| {
        let names: Vec<_> = interfaces.iter().map(|interface| format!("`{}`", interface.name())).collect();
        (!interfaces.iter().any(|interface| surface.exports.contains(interface)))
            .then(|| format!("it does not export {}", names.join(" or ")))
    };
    match capability {
        Capability::Directory { .. } => without_import("wasi:filesystem/preopens"),
        Capability::Http { .. } | Capability::Secret { .. } => without_import("wasi:http/outgoing-handler"),
        Capability::Environment { .. } => without_import("wasi:cli/environment"),
        Capability::Process { .. } => without_import("capstan:extension/process"),
        Capability::Model { .. } => without_import("capstan:extension/model"),
        Capability::KeyValue { .. } => without_import("capstan:extension/key-value"),
        Capability::SessionMemory => without_import("capstan:extension/session-memory"),
        Capability::Power { power } => match power {
            Power::RewriteArguments => without_export(&[Interface::BeforeToolCall]),
            Power::RewriteResult => without_export(&[Interface::AfterToolCall]),
            Power::RewriteContext => {
                without_export(&[Interface::BeforeTurn, Interface::BeforeModel, Interface::AfterModel])
            }
            Power::Compress => without_export(&[Interface::Compressor]),
            Power::Remember => without_export(&[Interface::Memory]),
        },
    }
}

/// Imported interfaces without their versions.
fn imports_of(file: &Inspected) -> impl Iterator<Item = &str> {
    file.surface.imports.iter().map(|name| name.split('@').next().unwrap_or(name))
}

/// Interfaces that do nothing without a grant, and nothing is asked for.
fn imports(file: &Inspected, report: &mut Report) {
    let requests = &file.surface.descriptor.requests;
    let asks = |fits: fn(&Capability) -> bool| requests.iter().any(|request| fits(&request.capability));
    let needs: [(&str, bool); 5] = [
        ("capstan:extension/process", asks(|wish| matches!(wish, Capability::Process { .. }))),
        ("capstan:extension/model", asks(|wish| matches!(wish, Capability::Model { .. }))),
        ("capstan:extension/key-value", asks(|wish| matches!(wish, Capability::KeyValue { .. }))),
        ("capstan:extension/session-memory", asks(|wish| matches!(wish, Capability::SessionMemory))),
        ("wasi:http/outgoing-handler", asks(|wish| matches!(wish, Capability::Http { .. }))),
    ];
    let useless: Vec<_> = needs
        .iter()
        .filter(|(import, is_asked)| !is_asked && imports_of(file).any(|name| name == *import))
        .map(|(import, _)| format!("`{import}`"))
        .collect();
    if !useless.is_empty() {
        report.warnings.push(format!(
            "it imports {} but asks for nothing that they need: each call of them is denied",
            useless.join(", ")
        ));
    }
}

fn size(file: &Inspected, report: &mut Report) {
    if file.bytes > LARGE_BYTES {
        report.warnings.push(format!(
            "it has {} bytes; above {LARGE_BYTES} its first start takes many seconds. Build it for release, and strip it",
            file.bytes
        ));
    } else if file.bytes > LARGE_SCRIPT_BYTES && is_script(&file.path) {
        report.warnings.push(format!(
            "it has {} bytes, and seems to be JavaScript in a large engine; below {LARGE_SCRIPT_BYTES} a small one starts much faster",
            file.bytes
        ));
    }
}

/// By the names that the tools for JavaScript leave in what they make.
fn is_script(path: &Path) -> bool {
    const MARKS: [&[u8]; 3] = [b"componentize-js", b"StarlingMonkey", b"quickjs"];
    match std::fs::read(path) {
        Ok(bytes) => MARKS.iter().any(|mark| bytes.windows(mark.len()).any(|part| part == *mark)),
        Err(reason) => {
            tracing::warn!(%reason, "the size could not be judged by the language");
            false
        }
    }
}

/// The user's table for it, or that it has none.
fn table(file: &Inspected, config: &Config, report: &mut Report) {
    let table = match config.extension(file.surface.descriptor.id.as_str()) {
        Ok(table) => table,
        Err(error) => return report.problems.push(screen::whole(&error)),
    };
    if let Err(problem) = file.takes(&table) {
        report.problems.push(problem.to_string());
    }
}
