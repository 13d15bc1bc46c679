//! What a server says of its tools, and which of it can be used.

use super::naming;
use super::settings::ServerName;
use capstan_ports::ToolDefinition;
use serde_json::{Map, Value, json};

/// Longest description that goes to a model. The largest of well-known servers have a few thousand bytes; a longer one would crowd
/// out the conversation.
const MAX_DESCRIPTION_BYTES: usize = 32 << 10;

/// Largest schema of arguments, as JSON.
const MAX_SCHEMA_BYTES: usize = 256 << 10;

/// Most tools of one server. Models lose their way long before that.
pub(crate) const MAX_TOOLS: usize = 1000;

/// A tool that a server offers and that can be offered to a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    /// The server's own name for it.
    pub(crate) own: String,
    /// What the model sees.
    pub(crate) definition: ToolDefinition,
    /// What a person allows: all that the server says of it, in one form whatever the order of the keys.
    pub(crate) described: Value,
}

/// A tool of a server that cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The server's own name for it; not escaped.
    pub tool: String,
    /// Why.
    pub reason: String,
}

/// What one look at a server's tools came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Listed>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl Listing {
    /// Makes sense of a list. What is wrong with one tool costs only that tool.
    pub(crate) fn of(server: &ServerName, tools: Vec<rmcp::model::Tool>) -> Self {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        let names = naming::assign(server, &names);
        let mut listing = Self::default();
        for (tool, name) in tools.into_iter().zip(names) {
            let own = tool.name.to_string();
            let name = name.map_err(|reason| reason.to_string());
            match name.and_then(|name| listed(tool, name)) {
                Ok(tool) => listing.tools.push(tool),
                Err(reason) => {
                    let left_out = LeftOut { tool: own, reason };
                    if !listing.left_out.contains(&left_out) {
                        listing.left_out.push(left_out);
                    }
                }
            }
        }
        listing
    }
}

fn listed(tool: rmcp::model::Tool, name: String) -> Result<Listed, String> {
    let own = tool.name.to_string();
    let description = tool.description.unwrap_or_default().into_owned();
    if description.len() > MAX_DESCRIPTION_BYTES {
        return Err(format!(
            "its description has {} bytes; up to {MAX_DESCRIPTION_BYTES} can be sent to a model",
            description.len()
        ));
    }
    let schema = Value::Object(tool.input_schema.as_ref().clone());
    check(&schema)?;
    let annotations = tool.annotations.as_ref().map(serde_json::to_value);
    let annotations = annotations.transpose().map_err(|reason| format!("its annotations: {reason}"))?;
    let title = tool.title.or_else(|| tool.annotations.and_then(|annotations| annotations.title));
    let described = sorted(json!({
        "name": own,
        "title": title,
        "description": description,
        "inputSchema": schema,
        "annotations": annotations,
    }));
    let label = title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| own.clone());
    let definition =
        ToolDefinition { name, label, description, parameters: schema, execution: Default::default() };
    Ok(Listed { own, definition, described })
}

/// Whether models and the host can work with a schema.
fn check(schema: &Value) -> Result<(), String> {
    if schema.get("type") != Some(&Value::from("object")) {
        return Err("the schema of its arguments is not one of an object".to_owned());
    }
    let n_bytes = schema.to_string().len();
    if n_bytes > MAX_SCHEMA_BYTES {
        return Err(format!(
            "the schema of its arguments has {n_bytes} bytes; up to {MAX_SCHEMA_BYTES} can be sent to a model"
        ));
    }
    match jsonschema::validator_for(schema) {
        Ok(_) => Ok(()),
        Err(reason) => Err(format!("the schema of its arguments is not valid: {reason}")),
    }
}

/// The same value with the keys of all objects in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(Map::from_iter(entries))
        }
        Value::Array(values) => Value::Array(values.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
#[path = "definition_tests.rs"]
mod tests;
