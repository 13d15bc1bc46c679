//! `capstan ext explain`: who is asked where, and with `--last` what everybody did in the last run.

use super::Place;
use crate::explain::{self, Absent, LastRun};
use crate::home::Home;
use crate::screen::{self, BAD, BOLD, DIM, GOOD, WARN, visible};
use anyhow::{Context, Result, bail};
use capstan_agent::trace::{Absence, FieldChange, HookEffect, HookRecord};
use capstan_ports::extension::FailureRule;
use capstan_ports::{HookStage, extension::HookDeclaration};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

/// Which explanation is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// The order in which hooks would be asked now.
    Now,
    /// What happened.
    LastRun,
}

/// Explains all extensions, or the one of this name.
pub(super) async fn run(home: Home, name: Option<&str>, of: Of, as_json: bool) -> Result<ExitCode> {
    match of {
        Of::LastRun => last(&home, name, as_json),
        Of::Now => now(home, name, as_json).await,
    }
}

fn last(home: &Home, name: Option<&str>, as_json: bool) -> Result<ExitCode> {
    let mut run = explain::last(home)?
        .context("there is no run to explain yet; it is kept when a prompt ends: capstan -p \"…\"")?;
    if let Some(name) = name {
        run.hooks.retain(|record| record.hook == name);
        run.absent.retain(|absent| absent.name == name);
    }
    if as_json {
        screen::json(&serde_json::to_string_pretty(&run)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    screen::show(&told(&run)?)?;
    if run.hooks.is_empty() && run.absent.is_empty() {
        match name {
            Some(name) => screen::note(&format!(
                "No hook of {name} could have been asked in that run. What it takes part in: capstan ext explain {name}"
            )),
            None => screen::note("No hook was there to be asked in that run."),
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn told(run: &LastRun) -> Result<String> {
    let mut out = String::new();
    writeln!(out, "{DIM}session {}, ended {}{DIM:#}", visible(&run.session), visible(&run.time))?;
    if run.forgotten > 0 {
        writeln!(out, "{DIM}the first {} records are forgotten{DIM:#}", run.forgotten)?;
    }
    for together in questions(&run.hooks) {
        let Some(first) = together.first() else { continue };
        write!(out, "\n{BOLD}{}{BOLD:#}", super::show::stage_name(&first.stage))?;
        if !first.tool.is_empty() {
            write!(out, "  {} {DIM}{}{DIM:#}", visible(&first.tool), visible(&first.tool_call_id))?;
        }
        out.push('\n');
        let width = together.iter().map(|record| record.hook.len()).max().unwrap_or(0);
        for record in together {
            line(&mut out, record, width)?;
        }
    }
    absent(&mut out, &run.absent)?;
    Ok(out)
}

/// The records of one question after another. A model can give two calls one id, so a hook that comes up again begins a new
/// question.
fn questions(mut records: &[HookRecord]) -> Vec<&[HookRecord]> {
    let mut questions = Vec::new();
    while let Some(first) = records.first() {
        let is_other = |(at, record): (usize, &HookRecord)| {
            let is_about_same = (record.stage, &record.tool_call_id, &record.tool)
                == (first.stage, &first.tool_call_id, &first.tool);
            !is_about_same || records[..at].iter().any(|before| before.hook == record.hook)
        };
        let end = records.iter().enumerate().position(is_other).unwrap_or(records.len());
        let (question, rest) = records.split_at(end);
        questions.push(question);
        records = rest;
    }
    questions
}

fn line(out: &mut String, record: &HookRecord, width: usize) -> Result<()> {
    let took = match &record.effect {
        HookEffect::NotAsked(_) => String::new(),
        _ => milliseconds(record.took),
    };
    let mut say = |style: anstyle::Style, word: &str, reason: &str| {
        let reason = if reason.is_empty() { String::new() } else { format!(": {}", visible(reason.trim())) };
        writeln!(
            out,
            "  {:width$}  {DIM}{took:>10}{DIM:#}  {style}{word}{style:#}{}",
            visible(&record.hook),
            reason.replace('\n', "\n      ")
        )
    };
    match &record.effect {
        HookEffect::Passed => say(DIM, "nothing to object or change", "")?,
        HookEffect::Changed(changes) => {
            say(GOOD, "changed", "")?;
            for change in changes {
                self::change(out, change)?;
            }
        }
        HookEffect::Blocked(reason) => say(BAD, "blocked", reason)?,
        HookEffect::Deferred(reason) => say(WARN, "put off", reason)?,
        HookEffect::Asked { allowed: true } => say(WARN, "asked", "the answer was yes")?,
        HookEffect::Asked { allowed: false } => {
            say(WARN, "asked", "the answer was no, or nobody could answer")?
        }
        HookEffect::Aborted(reason) => say(BAD, "ended the turn", reason)?,
        HookEffect::Failed(reason) => say(BAD, "failed", reason)?,
        HookEffect::NotAsked(Absence::OtherTool) => {
            say(DIM, "not asked", "its filter does not name this tool")?;
        }
        HookEffect::NotAsked(Absence::Off(reason)) => {
            say(WARN, "not asked", &format!("it was switched off after a failure: {reason}"))?;
        }
        HookEffect::NotAsked(Absence::DecidedBy(hook)) => {
            say(DIM, "not asked", &format!("{hook} had decided already"))?;
        }
    }
    Ok(())
}

fn change(out: &mut String, change: &FieldChange) -> Result<()> {
    let show = |value: &Option<String>| match value {
        Some(text) => visible(text).replace('\n', "\\n"),
        None => "(nothing)".to_owned(),
    };
    writeln!(
        out,
        "      {}: {BAD}{}{BAD:#} -> {GOOD}{}{GOOD:#}",
        visible(&change.field),
        show(&change.before),
        show(&change.after)
    )?;
    Ok(())
}

fn milliseconds(took: Duration) -> String {
    format!("{:.2} ms", took.as_secs_f64() * 1000.0)
}

fn absent(out: &mut String, absent: &[Absent]) -> Result<()> {
    if !absent.is_empty() {
        writeln!(out, "\n{BOLD}not taking part{BOLD:#}")?;
    }
    for extension in absent {
        writeln!(
            out,
            "  {}  {WARN}{}{WARN:#}: {}",
            visible(&extension.name),
            visible(&extension.state),
            visible(&extension.reason)
        )?;
    }
    Ok(())
}

/// A hook in its place.
struct Seat<'a> {
    extension: String,
    hook: &'a HookDeclaration,
}

async fn now(home: Home, name: Option<&str>, as_json: bool) -> Result<ExitCode> {
    let place = Place::open(home).await?;
    if let Some(name) = name {
        place.find(name)?;
    }
    let mut seats: Vec<Seat<'_>> = Vec::new();
    for extension in &place.catalog.active {
        let hooks = extension.descriptor().hooks.iter();
        seats.extend(hooks.map(|hook| Seat { extension: extension.id().to_string(), hook }));
    }
    // The chain's own order: by stage, then by priority, then by name.
    seats.sort_by(|a, b| {
        (a.hook.stage as u8, a.hook.priority, &a.extension).cmp(&(
            b.hook.stage as u8,
            b.hook.priority,
            &b.extension,
        ))
    });
    let mut away = explain::absent(&place.catalog);
    if let Some(name) = name {
        // The others at its stages stay: the order is what decides.
        let stages: Vec<_> =
            seats.iter().filter(|seat| seat.extension == name).map(|seat| seat.hook.stage).collect();
        seats.retain(|seat| stages.contains(&seat.hook.stage));
        away.retain(|absent| absent.name == name);
        if seats.is_empty() && away.is_empty() && !as_json {
            bail!("{name} is in force and has no hooks: it is only called when the model calls its tools");
        }
    }
    if as_json {
        let hooks: Vec<_> =
            seats.iter().map(|seat| json!({"extension": seat.extension, "hook": seat.hook})).collect();
        let value = json!({"hooks": hooks, "absent": away});
        screen::json(&serde_json::to_string_pretty(&value)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = String::new();
    for together in seats.chunk_by(|a, b| a.hook.stage == b.hook.stage) {
        let Some(first) = together.first() else { continue };
        writeln!(
            out,
            "{BOLD}{}{BOLD:#} {DIM}{}{DIM:#}",
            super::show::stage_name(&first.hook.stage),
            order(first.hook.stage)
        )?;
        for Seat { extension, hook } in together {
            let tools = match hook.tools.as_slice() {
                _ if !is_about_tools(hook.stage) => String::new(),
                [] => ", every tool".to_owned(),
                globs => format!(", tools {}", visible(&globs.join(", "))),
            };
            let closed = match hook.on_failure {
                FailureRule::Closed => ", its failure is an error",
                FailureRule::Standard => "",
            };
            writeln!(out, "  {extension}  priority {}{tools}{closed}", hook.priority)?;
        }
    }
    absent(&mut out, &away)?;
    if out.is_empty() {
        screen::note("No extension has a hook.");
    }
    screen::show(out.trim_start_matches('\n'))?;
    screen::note("What they did in the last run: capstan ext explain --last");
    Ok(ExitCode::SUCCESS)
}

fn is_about_tools(stage: HookStage) -> bool {
    matches!(stage, HookStage::BeforeToolCall | HookStage::AfterToolCall | HookStage::ToolError)
}

/// As the chain runs them (see the trait `Hook`).
fn order(stage: HookStage) -> &'static str {
    match stage {
        HookStage::BeforeTurn | HookStage::BeforeModel => {
            "first to last; the first that ends the turn is the last asked"
        }
        HookStage::BeforeToolCall => "first to last; the first that objects decides",
        HookStage::AfterModel
        | HookStage::ModelError
        | HookStage::AfterToolCall
        | HookStage::ToolError
        | HookStage::AfterTurn
        | HookStage::TurnError
        | HookStage::PlanStep
        | HookStage::SessionLifecycle => "last to first; all are asked",
    }
}
