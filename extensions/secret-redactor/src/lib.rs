//! A hook after tool calls that takes credentials out of what the model is about to read: keys and tokens of well-known
//! forms, private keys, passwords in addresses, authorization headers, and values under names such as `password`.
//!
//! It is a net, not a proof: a secret that looks like ordinary text passes. It runs after other hooks, and a result that it
//! cannot check becomes an error instead of reaching the model.

mod scan;
mod settings;

use std::collections::BTreeMap;

use capstan_sdk::glob;
use capstan_sdk::prelude::*;
use serde_json::{Map, Value};

use settings::Config;

/// How many were found of each kind.
type Counts = BTreeMap<String, usize>;

/// A replacement can join what stood apart, so the result is looked at again until nothing is found. More than two rounds
/// are never needed for real text; the limit ends what a text made for the purpose could do.
const MAX_ROUNDS: usize = 4;

fn redact_result(call: &ToolCall, result: ToolResult, _context: &Context) -> Result<Option<Amendment>> {
    let config: Config =
        config::get().explain("secret-redactor withholds results until its configuration is right")?;
    if config.skip_tools.iter().any(|glob| glob::matches(glob, &call.name)) {
        return Ok(None);
    }
    let mut counts = Counts::new();
    let mut amendment = Amendment::new();
    let mut changed = false;
    let content = result.content.into_iter().map(|piece| match piece {
        Content::Text(text) => Content::Text(redacted(&text, &config, &mut counts).map_or(text, |new| {
            changed = true;
            new
        })),
        other => other,
    });
    let content: Vec<Content> = content.collect();
    if changed {
        amendment = amendment.with_content(content);
    }
    if let Some(details) = &result.details {
        let mut value: Value = serde_json::from_str(details)
            .explain("the details of the result are not JSON and cannot be checked")?;
        if redact_value(&mut value, None, &config, &mut counts) {
            amendment.details = Some(value.to_string());
        }
    }
    if amendment == Amendment::new() {
        return Ok(None);
    }
    let list: Vec<String> = counts.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
    log::info!("took out of the result of {}: {}", call.name, list.join(", "));
    Ok(Some(amendment))
}

/// The text without what was found in it; `None` where there is nothing.
fn redacted(text: &str, config: &Config, counts: &mut Counts) -> Option<String> {
    let mut current: Option<String> = None;
    for _ in 0..MAX_ROUNDS {
        let from = current.as_deref().unwrap_or(text);
        let findings = scan::findings(from, config);
        if findings.is_empty() {
            break;
        }
        let mut to = String::with_capacity(from.len());
        let mut done = 0;
        for finding in findings {
            to.push_str(&from[done..finding.start]);
            to.push_str("[redacted: ");
            to.push_str(finding.kind);
            to.push(']');
            done = finding.end;
            *counts.entry(finding.kind.to_owned()).or_default() += 1;
        }
        to.push_str(&from[done..]);
        current = Some(to);
    }
    current
}

/// Redacts the texts inside of a JSON value; a text that stands under a name is judged with that name. Answers whether
/// anything changed.
fn redact_value(value: &mut Value, name: Option<&str>, config: &Config, counts: &mut Counts) -> bool {
    match value {
        Value::String(text) => {
            if let Some(kind) = name.and_then(|name| scan::named(name, text, config)) {
                *text = format!("[redacted: {kind}]");
                *counts.entry(kind.to_owned()).or_default() += 1;
                return true;
            }
            redacted(text, config, counts).is_some_and(|new| {
                *text = new;
                true
            })
        }
        Value::Array(items) => {
            let mut changed = false;
            for item in items {
                changed |= redact_value(item, name, config, counts);
            }
            changed
        }
        Value::Object(fields) => redact_fields(fields, config, counts),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Also a name can be a credential, in a table of tokens for example.
fn redact_fields(fields: &mut Map<String, Value>, config: &Config, counts: &mut Counts) -> bool {
    let mut changed = false;
    let mut kept = Map::new();
    for (name, mut value) in std::mem::take(fields) {
        changed |= redact_value(&mut value, Some(&name), config, counts);
        let name = match redacted(&name, config, counts) {
            Some(new) => {
                changed = true;
                new
            }
            None => name,
        };
        kept.insert(name, value);
    }
    *fields = kept;
    changed
}

capstan_sdk::extension! {
    summary: "Takes credentials out of tool results before the model reads them.",
    // Any table for the host: what it finds wrong with a configuration keeps an extension off, and results would pass unread.
    // Here a mistake fails the hook, which withholds the result.
    config: "{\"type\":\"object\"}".to_owned(),
    requests: [Request::power(
        Power::RewriteResult,
        "It replaces credentials in tool results before the model reads them.",
    )],
    // Behind other hooks, so that it sees what they made of the result.
    after_tool_call: hook(redact_result).priority(1000).fail_closed(),
}

#[cfg(test)]
#[path = "corpus_tests.rs"]
mod corpus;
#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
