//! `capstan demo`: the whole machine once, with no account and no key.
//!
//! Everything is the product's own: the agent loop, the session file, the HTTP client, the sandbox and three real extensions.
//! Only the model is scripted, behind a server on the loopback interface. Nothing of the user's configuration is read or
//! changed, and no command can run: the command runtime of this session has none.

mod steps;

use crate::args::{DemoOptions, Setup};
use crate::compose::{self, Plan};
use crate::config::Config;
use crate::explain::Explanations;
use crate::home::Home;
use crate::loader::Loader;
use crate::screen::{self, BOLD, DIM, GOOD, visible};
use crate::sessions::Which;
use crate::{approve, catalog, print};
use anyhow::{Context, Result, bail, ensure};
use async_trait::async_trait;
use capstan_agent::trace::{HookEffect, HookRecord};
use capstan_engine::Services;
use capstan_policy::{Grants, PermissionMode};
use capstan_provider::scripted::server::ScriptedServer;
use capstan_provider::{Answer, Api, ProviderConfig};
use capstan_tools::{CommandOutcome, CommandRequest, CommandRuntime, OutputSink, RuntimeError};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// What the scripted model tries.
const DESTRUCTIVE: &str = "rm -rf --no-preserve-root /";

/// How large the map may get, as the user of the demonstration has set it; the tool's own default is four times that.
const MAP_BYTES: i64 = 4000;

/// Runs the demonstration; fails if any part of it did not do what it should.
pub(crate) async fn run(options: DemoOptions) -> Result<ExitCode> {
    let user = Home::find()?;
    let place = tempfile::tempdir().context("no temporary directory for the demonstration")?;
    let root = place.path().canonicalize()?;
    let home = Home {
        config: root.join("config"),
        data: root.join("data"),
        cache: root.join("cache"),
        workspace: user.workspace.clone(),
        user: user.user.clone(),
        session_folder: None,
    };
    bring_extensions(&options.extensions.unwrap_or_else(|| user.extensions()), &home)?;

    heading("1  A model over HTTP")?;
    let server = ScriptedServer::play(script()).await.context("no port on the loopback interface")?;
    say(&format!("scripted, OpenAI-compatible, at {}", server.base_url()))?;
    let provider = ProviderConfig::new("demo", Api::OpenAiChat, server.base_url());
    let config = Config::of_provider(provider, "demo/scripted")
        .with_extension("default-arguments", default_arguments());

    heading("2  Extensions from a folder")?;
    let grants = grant(&home, &config).await?;

    heading("3  A turn")?;
    let commands = Arc::new(NoCommands::default());
    let plan = Plan {
        which: Which::New,
        default_mode: PermissionMode::All,
        person: None,
        loader: Loader::default(),
    };
    // What is shown is the same in every folder.
    let setup = Setup { no_context_files: true, ..Setup::default() };
    let composed = compose::assemble(&home, &setup, plan, &config, &grants, commands.clone()).await?;
    let steps = Arc::new(steps::Steps::default());
    composed.session.agent().subscribe(steps.clone());
    let question = "What is in this project? Then clean up the disk.";
    screen::show(&format!("\n  {BOLD}user{BOLD:#}   {question}\n"))?;
    // Into the user's own place, where `capstan ext explain --last` looks; nothing else of the demonstration stays.
    let explanations = Explanations::of(&user, &composed);
    let turn = print::turn(&composed.session, question.to_owned()).await;
    let rewritten = rewritten(&composed.trace.records());
    print::kept(&explanations, turn)?;

    heading("4  What happened")?;
    report(&server, &steps, &commands, &home)?;
    ensure!(rewritten, "default-arguments did not rewrite the call of repo_map");
    good(&format!(
        "default-arguments rewrote the call of repo_map to `max_bytes` {MAP_BYTES}; see it: capstan ext explain --last"
    ))?;
    screen::show(&format!(
        "\n{GOOD}The demonstration did all of it.{GOOD:#} {DIM}Next: set CAPSTAN_MODEL and a key, put .wasm files into {}.{DIM:#}\n",
        screen::path(&user.extensions())
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// What the user would write under `[extension.default-arguments.tools]`.
fn default_arguments() -> toml::Table {
    let repo_map = toml::Table::from_iter([("max_bytes".to_owned(), toml::Value::Integer(MAP_BYTES))]);
    let tools = toml::Table::from_iter([("repo_map".to_owned(), toml::Value::Table(repo_map))]);
    toml::Table::from_iter([("tools".to_owned(), toml::Value::Table(tools))])
}

/// Whether a hook added the argument to the call.
fn rewritten(records: &[HookRecord]) -> bool {
    records.iter().any(|record| match &record.effect {
        HookEffect::Changed(changes) => {
            record.tool == "repo_map" && changes.iter().any(|change| change.field == "max_bytes")
        }
        _ => false,
    })
}

/// The model's part: look, misbehave, answer.
fn script() -> [Answer; 3] {
    [
        Answer::call("repo_map", json!({})).with_text("I look at the project first."),
        Answer::call("bash", json!({ "command": DESTRUCTIVE })).with_text("Now I make room on the disk."),
        Answer::text(
            "The map above shows what is in this project. The clean-up was blocked by command-guard, and it was right: the \
             command would have deleted everything.",
        ),
    ]
}

fn bring_extensions(from: &Path, home: &Home) -> Result<()> {
    let to = home.extensions();
    std::fs::create_dir_all(&to)?;
    for name in ["repo-map.wasm", "command-guard.wasm", "default-arguments.wasm"] {
        let source = from.join(name);
        std::fs::copy(&source, to.join(name)).with_context(|| {
            format!(
                "{} is not there; build it first, from a checkout with `cargo xtask demo`, or name its folder with --extensions",
                source.display()
            )
        })?;
    }
    Ok(())
}

/// Shows what the extensions ask for and grants it, as the user would with `capstan ext allow`.
async fn grant(home: &Home, config: &Config) -> Result<Grants> {
    let mut grants = Grants::default();
    let sandbox = catalog::sandbox(home)?;
    let catalog = catalog::scan(home, config, &grants, &[], &sandbox, &Services::default()).await?;
    for found in &catalog.found {
        let Some(about) = &found.about else {
            bail!("{}", found.notice().unwrap_or_else(|| format!("{} cannot be used", found.path.display())));
        };
        screen::show(&format!("\n{}", indent(&approve::card(found, about))))?;
        match about.descriptor.requests.is_empty() {
            true => say("loaded at once: it asks for nothing")?,
            false => {
                approve::allow(home, &mut grants, about)?;
                say("it waited; allowed for this demonstration, for exactly these bytes")?;
            }
        }
    }
    Ok(grants)
}

fn report(server: &ScriptedServer, steps: &steps::Steps, commands: &NoCommands, home: &Home) -> Result<()> {
    let requests = server.requests();
    ensure!(requests.len() == 3, "the model was asked {} times instead of 3", requests.len());
    let offered = |request: &Value| {
        request["tools"]
            .as_array()
            .is_some_and(|tools| tools.iter().any(|tool| tool["function"]["name"] == "repo_map"))
    };
    ensure!(offered(&requests[0].body), "the model was not offered the extension's tool");
    good(&format!("the first request ({} bytes) offered the tool of repo-map.wasm", requests[0].body_bytes))?;

    let map = steps.result_of("repo_map").context("repo_map did not run")?;
    ensure!(!map.is_error, "repo_map failed: {}", map.text);
    let map_sent = requests[1].body["messages"].as_array().is_some_and(|messages| {
        messages.iter().any(|message| message["role"] == "tool" && content_of(message) == map.text)
    });
    ensure!(map_sent, "the map did not reach the model");
    good(&format!(
        "repo-map ran in the sandbox with read-only access; the model got its {} bytes",
        map.text.len()
    ))?;

    let blocked = steps.result_of("bash").context("the model's command was never looked at")?;
    ensure!(
        blocked.is_error && !commands.was_called.load(Ordering::Relaxed),
        "command-guard let `{DESTRUCTIVE}` through"
    );
    good(&format!("command-guard blocked `{DESTRUCTIVE}` before it ran"))?;

    let kept = capstan_session::latest_in(&home.sessions(), &home.workspace).found;
    let kept = kept.context("the session was not kept")?;
    let lines = std::fs::read_to_string(&kept)?.lines().count();
    good(&format!("the session is on disk, {lines} lines of JSON"))
}

fn content_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Runs nothing and remembers that it was asked to.
#[derive(Default)]
struct NoCommands {
    was_called: AtomicBool,
}

#[async_trait]
impl CommandRuntime for NoCommands {
    async fn run(
        &self,
        _request: CommandRequest,
        _output: &dyn OutputSink,
        _cancel: &CancellationToken,
    ) -> Result<CommandOutcome, RuntimeError> {
        self.was_called.store(true, Ordering::Relaxed);
        Err(RuntimeError::Followed { source: std::io::Error::other("the demonstration runs no commands") })
    }
}

fn heading(text: &str) -> Result<()> {
    Ok(screen::show(&format!("\n{BOLD}{text}{BOLD:#}\n"))?)
}

fn say(text: &str) -> Result<()> {
    Ok(screen::show(&format!("  {DIM}{}{DIM:#}\n", visible(text)))?)
}

fn good(text: &str) -> Result<()> {
    Ok(screen::show(&format!("  {GOOD}✓{GOOD:#} {}\n", visible(text)))?)
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
