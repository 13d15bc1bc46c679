//! Tries what a guest could try, and tells what came of it.
//!
//! One tool takes a list of steps and runs them one after another in one instance. Each gives `{"ok": …}` or
//! `{"error": "…"}`, where an error of the host is WASI's own name for it. Steps that must not come back (a panic, an exit,
//! an endless loop) are there too.
//!
//! The descriptor holds the time, random numbers and the environment, so that a test can see whether it is always the same.
#![cfg(target_os = "wasi")]

mod files;
mod fill;
mod http;
mod machine;
mod step;

use capstan_sdk::prelude::*;
use serde_json::{Value, json};
use step::Step;

/// Runs steps in one instance and answers with what came of each.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// What to try.
    steps: Vec<Step>,
}

fn probe(arguments: Arguments, call: &Call) -> Result<String> {
    let outcomes: Vec<Value> = arguments
        .steps
        .into_iter()
        .map(|step| match step::run(step, call) {
            Ok(value) => json!({ "ok": value }),
            Err(error) => json!({ "error": error }),
        })
        .collect();
    Ok(Value::from(outcomes).to_string())
}

/// Everything that could differ between two runs, in one line.
fn summary() -> String {
    format!(
        "Probes the sandbox: {} {} {} {:?} {:?}",
        machine::clocks(),
        machine::race(),
        machine::random(),
        machine::environment(),
        files::granted()
    )
}

capstan_sdk::extension! {
    summary: &summary(),
    requests: [
        Request::read_directory(".", "To try to read the workspace.").optional(),
        Request::write_directory("./rw", "To try to change files.").optional(),
        Request::environment("CAPSTAN_PROBE", "To try to read a variable.").optional(),
    ],
    tools: [tool("probe", probe)],
    config: r#"{"type": "object"}"#.to_owned(),
}
