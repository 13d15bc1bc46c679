//! `capstan ext run`: one call of a component, offline, with exactly what the flags grant.

use super::trial::{self, Given};
use super::{Place, asked};
use crate::args::RunOptions;
use crate::catalog;
use crate::config::{self, Config};
use crate::home::Home;
use crate::screen::{self, BAD, DIM, visible};
use anyhow::{Context, Result, ensure};
use capstan_engine::Inspected;
use capstan_policy::Places;
use capstan_ports::ToolOutcome;
use capstan_ports::extension::Access;
use capstan_ports::message::{Content, text_of};
use capstan_ports::tool::Progress;
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Runs the call and shows what came of it: 0 for a result or a verdict, 1 for an error.
pub(super) async fn run(home: Home, options: RunOptions) -> Result<ExitCode> {
    let user = Config::load(&home, &config::load_grants(&home)?)?;
    let (sandbox, file, table) = find(&home, &user, &options.extension).await?;
    let config = match &options.config {
        Some(text) => json_from(text, "--config")?,
        None => table,
    };
    ensure!(config.is_object(), "--config must be a JSON object");
    let own = tempfile::tempdir().context("there is no temporary folder for its storage")?;
    let (places, workspace) = match options.dir.as_deref().map(folder).transpose()? {
        Some((folder, access)) => (Places { workspace: folder, ..home.places() }, Some(access)),
        None => (home.places(), None),
    };
    let storage = own.path().to_owned();
    let given = Given { allow: options.allow, workspace, places, config, storage, limits: user.limits };
    let extension = trial::put_in_force(&sandbox, file, given)?;
    // The code is loaded before the clock starts: a first compilation is not the call's doing.
    extension.prepare().await?;

    let cancel = CancellationToken::new();
    let _alarm = options.timeout.map(|seconds| alarm(seconds, &cancel)).transpose()?;
    let began = Instant::now();
    let (answer, is_error, text) = match (&options.hook, &options.tool) {
        (Some(stage), _) => {
            let input = json_from(options.input.as_deref().unwrap_or("{}"), "--input")?;
            let question = serde_json::from_value(input).context("--input is no question to a hook")?;
            match asked::ask(&extension, asked::stage(stage)?, question, &cancel).await? {
                Ok(verdict) => (verdict.clone(), false, serde_json::to_string_pretty(&verdict)?),
                Err(failure) => failed(failure.0),
            }
        }
        (None, tool) => {
            let arguments = json_from(&options.args, "--args")?;
            let tool = tool.as_deref().unwrap_or_default();
            match trial::call_tool(&extension, tool, arguments, Arc::new(Shown), &cancel).await? {
                Ok(outcome) => (serde_json::to_value(&outcome)?, outcome.is_error, readable(&outcome)),
                Err(failure) => failed(failure.0),
            }
        }
    };
    let took = began.elapsed();
    let stopped = match (&cancel.is_cancelled(), options.timeout) {
        (true, Some(seconds)) => format!(" It was stopped after {seconds} s, as --timeout says."),
        _ => String::new(),
    };
    if options.json {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let field = if answer.is_string() { "failure" } else { "answer" };
        let value = json!({field: answer, "took_us": micros});
        screen::json(&serde_json::to_string_pretty(&value)?)?;
    } else if answer.is_string() {
        screen::note(&format!("{BAD}failed{BAD:#} {}{stopped}", visible(&text)));
    } else {
        screen::data(&format!("{}\n", visible(text.trim_end_matches('\n'))))?;
        if is_error {
            screen::note(&format!("{BAD}error{BAD:#} the tool marked its result as an error"));
        }
    }
    screen::note(&format!("{DIM}{:.2} ms{DIM:#}", took.as_secs_f64() * 1000.0));
    Ok(if is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn failed(text: String) -> (Value, bool, String) {
    (Value::String(text.clone()), true, text)
}

/// The file, and its configuration table where it is installed.
async fn find(
    home: &Home,
    user: &Config,
    extension: &str,
) -> Result<(capstan_engine::Sandbox, Inspected, Value)> {
    let path = Path::new(extension);
    if path.extension().is_some_and(|ending| ending == "wasm") {
        let sandbox = catalog::sandbox(home)?;
        let file = sandbox.inspect(path).await?;
        return Ok((sandbox, file, json!({})));
    }
    let place = Place::open(home.clone()).await?;
    let path = place.find(extension)?.path.clone();
    let file = place.sandbox.inspect(&path).await?;
    let table = user.extension(file.surface.descriptor.id.as_str())?;
    Ok((place.sandbox, file, table))
}

/// `PATH` or `PATH:rw`.
fn folder(text: &str) -> Result<(PathBuf, Access)> {
    let (path, access) = match text.strip_suffix(":rw") {
        Some(path) => (path, Access::ReadWrite),
        None => (text, Access::ReadOnly),
    };
    let folder = Path::new(path).canonicalize().with_context(|| format!("--dir {path} cannot be used"))?;
    Ok((folder, access))
}

/// JSON as it stands, from `@FILE`, or from stdin for `-`.
fn json_from(text: &str, flag: &str) -> Result<Value> {
    let text = match (text, text.strip_prefix('@')) {
        ("-", _) => {
            let mut read = String::new();
            std::io::stdin().read_to_string(&mut read).with_context(|| format!("{flag} -: stdin"))?;
            read
        }
        (_, Some(path)) => {
            std::fs::read_to_string(path).with_context(|| format!("{flag}: {path} cannot be read"))?
        }
        (text, None) => text.to_owned(),
    };
    serde_json::from_str(&text).with_context(|| format!("{flag} is not valid JSON"))
}

/// Cancels the call in so many seconds, unless it is dropped before.
fn alarm(seconds: f64, cancel: &CancellationToken) -> Result<tokio_util::task::AbortOnDropHandle<()>> {
    let limit = Duration::try_from_secs_f64(seconds).context("--timeout takes seconds")?;
    let cancel = cancel.clone();
    Ok(tokio_util::task::AbortOnDropHandle::new(tokio::spawn(async move {
        tokio::time::sleep(limit).await;
        cancel.cancel();
    })))
}

/// What a person reads of a result.
fn readable(outcome: &ToolOutcome) -> String {
    let mut text = text_of(&outcome.content);
    let others = outcome.content.iter().filter(|piece| !matches!(piece, Content::Text { .. })).count();
    if others > 0 {
        text.push_str(&format!("\n[and {others} pieces that are not text; --json shows them]"));
    }
    if let Some(details) = &outcome.details {
        text.push_str(&format!("\n{details}"));
    }
    text
}

/// Progress goes to stderr.
struct Shown;

impl Progress for Shown {
    fn report(&self, partial: ToolOutcome) {
        screen::note(&format!("{DIM}…{DIM:#} {}", screen::beginning(text_of(&partial.content).trim_end())));
    }
}
