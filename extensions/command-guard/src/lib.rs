//! A gate before tool calls that reads shell commands as a shell would, and blocks the ones that destroy what cannot be
//! brought back: the file system's root, the home folder, a block device, the history of a shared branch.
//!
//! It is a safety net against accidents of a model, not a wall against an attacker: a script file, an interpreter's
//! one-liner or a compiled program is not looked into. The wall is the host's permission mode.

mod finding;
mod paths;
mod reader;
mod rules;
mod script;
mod settings;
mod unwrap;
mod walk;
mod words;

use capstan_sdk::glob;
use capstan_sdk::prelude::*;
use serde_json::Value;

use finding::Finding;
use settings::Config;
use walk::Walk;

/// The arguments in which tools take a command line.
const COMMAND_ARGUMENTS: [&str; 2] = ["command", "cmd"];

fn guard(call: &ToolCall, _context: &Context) -> Result<Verdict> {
    let config: Config =
        config::get().explain("command-guard denies every command until its configuration is right")?;
    if !config.tools.is_empty() && !config.tools.iter().any(|glob| glob::matches(glob, &call.name)) {
        return Ok(Verdict::Pass);
    }
    let arguments: Value = call.arguments()?;
    let mut walk = Walk::new(&config);
    for name in COMMAND_ARGUMENTS {
        match arguments.get(name) {
            Some(Value::String(command)) => walk.text(command),
            // A program and its arguments, without a shell between.
            Some(Value::Array(words)) => walk.words(words.iter().filter_map(Value::as_str)),
            _ => {}
        }
    }
    Ok(match walk.into_finding() {
        None => Verdict::Pass,
        Some(Finding::Ask(question)) => Verdict::ask(format!("command-guard: {question} Run it?")),
        Some(Finding::Block(reason)) => Verdict::block(format!("command-guard blocked this: {reason}")),
    })
}

capstan_sdk::extension! {
    summary: "Blocks destructive shell commands and says why.",
    config: config::schema::<Config>(),
    before_tool_call: hook(guard).priority(-100),
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
