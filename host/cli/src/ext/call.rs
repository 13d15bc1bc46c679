//! One call of an extension by hand, whichever part of it is called: what `ext run` and the cases of `ext test` have in common.

use super::asked;
use super::compressed::{self, Conversation};
use super::outcome::Outcome;
use super::trial::{self, Failure, turn};
use anyhow::{Context, Result};
use capstan_engine::Extension;
use capstan_ports::HookStage;
use capstan_ports::tool::Progress;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What is called.
#[derive(Debug)]
pub(super) enum Call {
    /// A tool, with its arguments.
    Tool(String, Value),
    /// The hook of a stage.
    Hook(HookStage, Box<asked::Question>),
    /// A plan parser.
    Parse {
        /// Its name, with or without the extension's id before it.
        parser: String,
        /// What a model wrote.
        raw: String,
        /// What it was asked for.
        goal: String,
    },
    /// A compressor, about a conversation.
    Compress(String, Box<Conversation>),
    /// A slash command, with the rest of the line.
    Command(String, String),
    /// The observer, told of these events one after the other.
    Observe(Vec<Value>),
}

impl Call {
    /// Makes the call. That it fails in the sandbox is an outcome as well.
    ///
    /// # Errors
    /// When the extension has no such part, or the question lacks what the part is about.
    pub(super) async fn make(
        self,
        extension: &Extension,
        progress: Arc<dyn Progress>,
        cancel: &CancellationToken,
    ) -> Result<Outcome> {
        let outcome = match self {
            Self::Tool(name, arguments) => {
                let called = trial::call_tool(extension, &name, arguments, progress, cancel);
                called.await?.map(Outcome::Result)
            }
            Self::Hook(stage, question) => {
                asked::ask(extension, stage, *question, cancel).await?.map(Outcome::Verdict)
            }
            Self::Parse { parser, raw, goal } => {
                let stopped = cancel.run_until_cancelled(parse(extension, &parser, &raw, &goal)).await;
                stopped.unwrap_or_else(|| Ok(Err(Failure::stopped())))?.map(Outcome::Plan)
            }
            Self::Compress(compressor, conversation) => {
                let asked = compressed::ask(extension, &compressor, *conversation);
                let stopped = cancel.run_until_cancelled(asked).await;
                stopped.unwrap_or_else(|| Ok(Err(Failure::stopped())))?.map(Outcome::Action)
            }
            Self::Command(name, line) => command(extension, &name, &line, cancel).await?.map(Outcome::Shown),
            Self::Observe(events) => {
                let stopped = cancel.run_until_cancelled(observe(extension, &events)).await;
                stopped.unwrap_or_else(|| Ok(Err(Failure::stopped())))?.map(|()| Outcome::Watched)
            }
        };
        Ok(outcome.unwrap_or_else(|failure| Outcome::Failure(failure.0)))
    }
}

async fn parse(
    extension: &Extension,
    name: &str,
    raw: &str,
    goal: &str,
) -> Result<Result<Vec<String>, Failure>> {
    let parsers = extension.plan_parsers();
    let own = format!("{}/{name}", extension.id());
    let parser = parsers.iter().find(|parser| [name, &own].contains(&parser.name()));
    let parser = parser.with_context(|| {
        let names = extension.descriptor().plan_parsers.iter().map(String::as_str);
        lacks(extension, "plan parser", name, names)
    })?;
    Ok(match parser.parse(raw, goal).await {
        Ok(plan) => Ok(plan.steps().iter().map(|step| step.description().to_owned()).collect()),
        Err(error) => Err(Failure(error.to_string())),
    })
}

async fn command(
    extension: &Extension,
    name: &str,
    line: &str,
    cancel: &CancellationToken,
) -> Result<Result<String, Failure>> {
    let name = name.strip_prefix('/').unwrap_or(name);
    let commands = extension.commands();
    let command = commands
        .iter()
        .find(|command| command.name() == name)
        .with_context(|| lacks(extension, "command", name, commands.iter().map(|command| command.name())))?;
    let answer = command.run(&turn().session_id, line, cancel).await;
    Ok(answer.map_err(|error| Failure(error.to_string())))
}

async fn observe(extension: &Extension, events: &[Value]) -> Result<Result<(), Failure>> {
    let session = turn().session_id;
    extension.observer(&session).with_context(|| format!("{} has no observer", extension.id()))?;
    for event in events {
        if let Err(problem) = extension.observe(&session, event.to_string()).await {
            return Ok(Err(Failure(problem.to_string())));
        }
    }
    Ok(Ok(()))
}

/// That there is no such part, and which there are.
pub(super) fn lacks<'a>(
    extension: &Extension,
    what: &str,
    name: &str,
    there: impl Iterator<Item = &'a str>,
) -> String {
    let there: Vec<_> = there.collect();
    match there.is_empty() {
        true => format!("{} has no {what}s", extension.id()),
        false => format!("{} has no {what} {name}; it has {}", extension.id(), there.join(", ")),
    }
}
