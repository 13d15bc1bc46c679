//! What the model was sent, read the same way in both wire formats.

use anyhow::{Context, Result, ensure};
use capstan_provider::scripted::server::RecordedRequest;
use serde_json::Value;
use std::collections::BTreeSet;

/// A tool result as the model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call that it belongs to.
    pub call_id: String,
    /// Its text.
    pub text: String,
}

/// A request, opened for questions.
pub struct Conversation<'a> {
    body: &'a Value,
    is_anthropic: bool,
}

impl<'a> Conversation<'a> {
    /// Reads a request.
    pub fn of(request: &'a RecordedRequest) -> Self {
        Self { body: &request.body, is_anthropic: request.path.ends_with("/messages") }
    }

    /// The tool definitions, without what the format wraps around them: name, description and schema each.
    pub fn tools(&self) -> Vec<(&'a str, &'a str, &'a Value)> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let one = |tool: &'a Value| {
            let (tool, schema) =
                if self.is_anthropic { (tool, "input_schema") } else { (&tool["function"], "parameters") };
            (text(&tool["name"]), text(&tool["description"]), &tool[schema])
        };
        tools.iter().map(one).collect()
    }

    /// The definition of one tool.
    pub fn tool(&self, name: &str) -> Result<(&'a str, &'a Value)> {
        let found = self.tools().into_iter().find(|tool| tool.0 == name);
        found
            .map(|(_, description, schema)| (description, schema))
            .with_context(|| format!("{name} is not offered"))
    }

    /// Ids of the calls that assistants made, in order.
    pub fn call_ids(&self) -> Vec<&'a str> {
        let calls = self.messages().iter().flat_map(|message| match self.is_anthropic {
            true => blocks(message, "tool_use"),
            false => message["tool_calls"].as_array().into_iter().flatten().collect(),
        });
        calls.map(|call| text(&call["id"])).collect()
    }

    /// Tool results, in order.
    pub fn results(&self) -> Vec<ToolResult> {
        let results =
            self.messages().iter().flat_map(|message| match (self.is_anthropic, &message["role"]) {
                (true, _) => blocks(message, "tool_result"),
                (false, role) if role == "tool" => vec![message],
                (false, _) => Vec::new(),
            });
        let id = if self.is_anthropic { "tool_use_id" } else { "tool_call_id" };
        results
            .map(|result| ToolResult {
                call_id: text(&result[id]).to_owned(),
                text: all_text(&result["content"]),
            })
            .collect()
    }

    /// The text of the newest tool result.
    pub fn last_result(&self) -> Result<String> {
        Ok(self.results().pop().context("the request has no tool result")?.text)
    }

    /// What users said, in order.
    pub fn said(&self) -> Vec<String> {
        let users = self.messages().iter().filter(|message| message["role"] == "user");
        users.map(|message| all_text(&message["content"])).filter(|text| !text.is_empty()).collect()
    }

    /// What assistants said, in order.
    pub fn answers(&self) -> Vec<String> {
        let answers = self.messages().iter().filter(|message| message["role"] == "assistant");
        answers.map(|message| all_text(&message["content"])).filter(|text| !text.is_empty()).collect()
    }

    /// Checks what every provider insists on: each call has exactly one result, and each result a call before it.
    pub fn check_pairs(&self) -> Result<()> {
        let calls = self.call_ids();
        let results: Vec<_> = self.results().into_iter().map(|result| result.call_id).collect();
        let unique: BTreeSet<_> = results.iter().map(String::as_str).collect();
        ensure!(unique.len() == results.len(), "a call has two results: {results:?}");
        ensure!(unique == calls.iter().copied().collect(), "calls {calls:?}, results {results:?}");
        Ok(())
    }

    fn messages(&self) -> &'a [Value] {
        self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

fn blocks<'a>(message: &'a Value, kind: &str) -> Vec<&'a Value> {
    message["content"].as_array().into_iter().flatten().filter(|block| block["type"] == kind).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn all_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|block| text(&block["text"])).collect(),
        _ => String::new(),
    }
}
