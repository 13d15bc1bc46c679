//! A gate that fills in arguments which the user set for a tool and the model left out.
//!
//! What the model wrote itself is never touched. It stands before other gates, so that they judge the call as it will run.

use capstan_sdk::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Default arguments of tools.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Config {
    /// For each tool the arguments that a call gets if the model leaves them out.
    tools: BTreeMap<String, Map<String, Value>>,
}

fn fill(call: &ToolCall, _context: &Context) -> Result<Verdict> {
    let mut config: Config = config::get()?;
    let Some(defaults) = config.tools.remove(&call.name) else { return Ok(Verdict::Pass) };
    let mut arguments: Map<String, Value> = call.arguments()?;
    let written = arguments.len();
    for (name, value) in defaults {
        arguments.entry(name).or_insert(value);
    }
    if arguments.len() == written {
        return Ok(Verdict::Pass);
    }
    Verdict::rewrite(&arguments)
}

capstan_sdk::extension! {
    summary: "Fills in arguments that you set for a tool.",
    config: config::schema::<Config>(),
    requests: [Request::power(Power::RewriteArguments, "It adds the arguments that you set and the model left out.")],
    before_tool_call: hook(fill).priority(-200),
}

#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
