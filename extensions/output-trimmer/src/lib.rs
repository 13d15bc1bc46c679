//! A hook after `bash` that shortens what builds, tests and git print. What passed, what was compiled and how far a download
//! was is left out, and a line says so; errors, warnings, failures, summaries and whatever is not known stay as they are.

mod clean;
mod command;
mod settings;
mod tools;
mod trim;

use capstan_sdk::prelude::*;
use serde_json::{Map, Value, json};

use settings::Config;

fn shorten(call: &ToolCall, result: ToolResult, _context: &Context) -> Result<Option<Amendment>> {
    let config: Config = config::get()?;
    let Some(command) = call.text_argument("command") else { return Ok(None) };
    let mut trimmed = None;
    let content = result.content.into_iter().map(|piece| match piece {
        Content::Text(text) => match trim::trim(&command, &text, result.is_error, &config) {
            Some(shorter) => {
                let text = shorter.text.clone();
                trimmed = Some(shorter);
                Content::Text(text)
            }
            None => Content::Text(text),
        },
        other => other,
    });
    let content: Vec<Content> = content.collect();
    let Some(trimmed) = trimmed else { return Ok(None) };
    let mut details: Map<String, Value> = match &result.details {
        Some(details) => {
            serde_json::from_str(details).explain("the details of the result are no JSON object")?
        }
        None => Map::new(),
    };
    let left_out: Map<String, Value> =
        trimmed.left_out.iter().map(|(what, lines)| ((*what).to_owned(), json!(lines))).collect();
    details.insert(
        "trimmed".to_owned(),
        json!({ "bytesBefore": trimmed.bytes_before, "bytesAfter": trimmed.text.len(), "linesLeftOut": left_out }),
    );
    let mut amendment = Amendment::new().with_content(content);
    amendment.details = Some(Value::Object(details).to_string());
    Ok(Some(amendment))
}

capstan_sdk::extension! {
    summary: "Shortens the output of builds, tests and git, and keeps what failed.",
    config: settings::SCHEMA.to_owned(),
    requests: [Request::power(
        Power::RewriteResult,
        "It shortens the output of commands before the model reads it.",
    )],
    after_tool_call: hook(shorten).tools(&["bash"]),
}

#[cfg(test)]
#[path = "corpus_tests.rs"]
mod corpus;
#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
