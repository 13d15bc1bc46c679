//! `capstan ext run`: one call of a component, offline, with exactly what the flags grant.

use super::call::Call;
use super::outcome::Outcome;
use super::traces::{self, Ear, Heard};
use super::trial::{self, Given};
use super::{Place, asked};
use crate::args::RunOptions;
use crate::catalog;
use crate::config::{self, Config};
use crate::home::Home;
use crate::screen::{self, BAD, DIM, visible};
use anyhow::{Context, Result, ensure};
use capstan_builder::Language;
use capstan_engine::Inspected;
use capstan_policy::Places;
use capstan_ports::ToolOutcome;
use capstan_ports::extension::Access;
use capstan_ports::message::text_of;
use capstan_ports::tool::Progress;
use capstan_storage::KeyValueFiles;
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
    let (storage, ear) = (Arc::new(KeyValueFiles::new(own.path().to_owned())), Ear::default());
    let call = call(&options)?;
    let given = Given {
        allow: options.allow,
        workspace,
        places,
        config,
        storage: storage.clone(),
        events: Some(Arc::new(ear.clone())),
        limits: user.limits,
    };
    let extension = trial::put_in_force(&sandbox, file, given)?;
    // The code is loaded before the clock starts: a first compilation is not the call's doing.
    extension.prepare().await?;

    let cancel = CancellationToken::new();
    let _alarm = options.timeout.map(|seconds| alarm(seconds, &cancel)).transpose()?;
    let began = Instant::now();
    let root = project_of(&extension.inspected().path);
    let outcome = call.make(&extension, Arc::new(Shown), &cancel).await?;
    let took = began.elapsed();
    let outcome = outcome.below(&root);
    if options.json {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let value = match outcome.answer()? {
            Some(answer) => json!({"answer": answer, "took_us": micros}),
            None => json!({"failure": outcome.text(), "took_us": micros}),
        };
        screen::json(&serde_json::to_string_pretty(&value)?)?;
    } else if let Outcome::Failure(text) = &outcome {
        let stopped = match (cancel.is_cancelled(), options.timeout) {
            (true, Some(seconds)) => format!(". It was stopped after {seconds} s, as --timeout says."),
            _ => String::new(),
        };
        let text = visible(text).replace(", called by ", ",\n    called by ");
        screen::note(&format!("{BAD}failed{BAD:#} {text}{stopped}"));
    } else {
        let text = outcome.readable();
        if !text.is_empty() {
            screen::data(&format!("{}\n", visible(text.trim_end_matches('\n'))))?;
        }
        if outcome.is_error_result() {
            screen::note(&format!("{BAD}error{BAD:#} the tool marked its result as an error"));
        }
    }
    let Heard { emitted, .. } = ear.take();
    for (label, data) in &emitted {
        screen::note(&format!("{DIM}event{DIM:#} {label} {}", visible(&data.to_string())));
    }
    for (key, bytes) in traces::stored(storage.as_ref(), extension.id()).await? {
        let value = String::from_utf8_lossy(&bytes);
        screen::note(&format!("{DIM}stored{DIM:#} {} {}", visible(&key), screen::beginning(&value)));
    }
    screen::note(&format!("{DIM}{:.2} ms{DIM:#}", took.as_secs_f64() * 1000.0));
    let is_bad = matches!(outcome, Outcome::Failure(_)) || outcome.is_error_result();
    Ok(if is_bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What the flags ask for. The flags see to it that it is one thing.
fn call(options: &RunOptions) -> Result<Call> {
    let input = || json_from(options.input.as_deref().unwrap_or("{}"), "--input");
    if let Some(stage) = &options.part.hook {
        let question = serde_json::from_value(input()?).context("--input is no question to a hook")?;
        return Ok(Call::Hook(asked::stage(stage)?, Box::new(question)));
    }
    if let Some(parser) = &options.part.parse {
        let raw = text_from(options.raw.as_deref().unwrap_or_default(), "--raw")?;
        return Ok(Call::Parse { parser: parser.clone(), raw, goal: options.goal.clone() });
    }
    if let Some(compressor) = &options.part.compress {
        let conversation = serde_json::from_value(input()?).context("--input is no conversation")?;
        return Ok(Call::Compress(compressor.clone(), Box::new(conversation)));
    }
    if let Some(command) = &options.part.command {
        return Ok(Call::Command(command.clone(), options.args.clone().unwrap_or_default()));
    }
    if let Some(events) = &options.part.observe {
        return Ok(Call::Observe(match json_from(events, "--observe")? {
            Value::Array(events) => events,
            event => vec![event],
        }));
    }
    let arguments = json_from(options.args.as_deref().unwrap_or("{}"), "--args")?;
    Ok(Call::Tool(options.part.tool.clone().unwrap_or_default(), arguments))
}

/// The file, and its configuration table where it is installed.
async fn find(
    home: &Home,
    user: &Config,
    extension: &str,
) -> Result<(capstan_engine::Sandbox, Inspected, Value)> {
    let path = Path::new(extension);
    if path.extension().is_some_and(|ending| ending == "wasm") {
        let sandbox = catalog::sandbox_with_lines_of(home, path)?;
        let file = sandbox.inspect(path).await?;
        return Ok((sandbox, file, json!({})));
    }
    let place = Place::open(home.clone()).await?;
    let path = place.find(extension)?.path.clone();
    let file = place.sandbox.inspect(&path).await?;
    let table = user.extension(file.surface.descriptor.id.as_str())?;
    Ok((place.sandbox, file, table))
}

/// The folder of the project that a component was built in, else where the author is.
fn project_of(wasm: &Path) -> PathBuf {
    let wasm = wasm.canonicalize().unwrap_or_else(|_gone| wasm.to_owned());
    let mut above = wasm.ancestors().skip(1);
    let project = above.find(|folder| Language::of(folder).is_ok()).map(Path::to_owned);
    project.or_else(|| std::env::current_dir().ok()).unwrap_or_default()
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
    serde_json::from_str(&text_from(text, flag)?).with_context(|| format!("{flag} is not valid JSON"))
}

/// A text as it stands, from `@FILE`, or from stdin for `-`.
fn text_from(text: &str, flag: &str) -> Result<String> {
    match (text, text.strip_prefix('@')) {
        ("-", _) => {
            let mut read = String::new();
            std::io::stdin().read_to_string(&mut read).with_context(|| format!("{flag} -: stdin"))?;
            Ok(read)
        }
        (_, Some(path)) => {
            std::fs::read_to_string(path).with_context(|| format!("{flag}: {path} cannot be read"))
        }
        (text, None) => Ok(text.to_owned()),
    }
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

/// Progress goes to stderr.
struct Shown;

impl Progress for Shown {
    fn report(&self, partial: ToolOutcome) {
        screen::note(&format!("{DIM}…{DIM:#} {}", screen::beginning(text_of(&partial.content).trim_end())));
    }
}
