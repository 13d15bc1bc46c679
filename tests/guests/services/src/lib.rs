//! Uses what the host lends. One tool takes a list of steps and runs them in one instance; each gives `{"ok": …}`, or
//! `{"error": {"kind": …, "text": …}}` with the host's own kind of error.
#![cfg(target_arch = "wasm32")]

use capstan_sdk::prelude::*;
use capstan_sdk::process::Command;
use capstan_sdk::types::HostError;
use capstan_sdk::{events, model, session_memory, store};
use serde_json::{Value, json};

/// Runs steps in one instance and answers with what came of each.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// What to do.
    steps: Vec<Step>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum Step {
    Get { key: String },
    Set { key: String, value: String },
    /// A value of this many bytes.
    Fill { key: String, bytes: usize },
    Remove { key: String },
    Keys { prefix: String },
    Fact { key: String },
    SetFact { key: String, value: String },
    RemoveFact { key: String },
    Facts,
    Program {
        program: String,
        #[serde(default)]
        arguments: Vec<String>,
        #[serde(default)]
        stdin: String,
        #[serde(default)]
        environment: Vec<(String, String)>,
        #[serde(default)]
        directory: Option<String>,
        #[serde(default)]
        timeout_ms: u32,
    },
    Ask { prompt: String, tokens: u32 },
    Event { label: String, data: Value },
    /// The same event this many times.
    Events { label: String, times: usize },
    Configuration,
}

fn run(step: Step) -> Result<Value, HostError> {
    Ok(match step {
        Step::Get { key } => json!(store::get(&key)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())),
        Step::Set { key, value } => json!(store::set(&key, value.as_bytes())?),
        Step::Fill { key, bytes } => json!(store::set(&key, &vec![b'x'; bytes])?),
        Step::Remove { key } => json!(store::remove(&key)?),
        Step::Keys { prefix } => json!(store::keys(&prefix)?),
        Step::Fact { key } => json!(session_memory::get(&key)?),
        Step::SetFact { key, value } => json!(session_memory::set(&key, &value)?),
        Step::RemoveFact { key } => json!(session_memory::remove(&key)?),
        Step::Facts => json!(session_memory::snapshot()?),
        Step::Program { program, arguments, stdin, environment, directory, timeout_ms } => {
            let mut command = Command::new(&program, arguments);
            command.stdin = stdin.into_bytes();
            command.environment = environment;
            command.directory = directory;
            command.timeout_ms = timeout_ms;
            let outcome = command.run()?;
            json!({
                "exit": outcome.exit_code,
                "stdout": String::from_utf8_lossy(&outcome.stdout),
                "stderr": String::from_utf8_lossy(&outcome.stderr),
                "bytes": outcome.stdout.len(),
                "truncated": outcome.truncated,
                "timedOut": outcome.timed_out,
            })
        }
        Step::Ask { prompt, tokens } => json!(model::ask(prompt, tokens)?),
        Step::Event { label, data } => {
            // Data of a test always has a JSON form.
            events::emit(&label, &data).unwrap_or_default();
            Value::Null
        }
        Step::Events { label, times } => {
            (0..times).for_each(|n| events::emit(&label, &n).unwrap_or_default());
            Value::Null
        }
        Step::Configuration => config::get::<Value>().unwrap_or_default(),
    })
}

fn services(arguments: Arguments, _call: &Call) -> Result<String> {
    let outcomes: Vec<Value> = arguments
        .steps
        .into_iter()
        .map(|step| match run(step) {
            Ok(value) => json!({ "ok": value }),
            Err(error) => {
                let (kind, text) = match error {
                    HostError::Denied(text) => ("denied", text),
                    HostError::Exhausted(text) => ("exhausted", text),
                    HostError::TimedOut => ("timed-out", String::new()),
                    HostError::Failed(text) => ("failed", text),
                };
                json!({ "error": { "kind": kind, "text": text } })
            }
        })
        .collect();
    Ok(Value::from(outcomes).to_string())
}

/// The table that it takes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "only its schema counts")]
struct Configuration {
    /// Any text.
    #[serde(default)]
    greeting: String,
}

capstan_sdk::extension! {
    summary: "Uses what the host lends.",
    config: config::schema::<Configuration>(),
    requests: [
        Request::key_value(1000, "To keep values.").optional(),
        Request::session_memory("To tell the agent facts.").optional(),
        Request::process("sh -c *", "To run a line of shell.").optional(),
        Request::model(2000, "To ask the model.").optional(),
    ],
    tools: [tool("services", services)],
}
