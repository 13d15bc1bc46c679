//! What one call leaves in the record.

use std::collections::HashMap;

use capstan_sdk::prelude::*;
use serde_json::Value;

use crate::settings::Config;
use crate::time;
use capstan_sdk::glob;

/// Bytes of arguments and results that are kept, where they are.
const MAX_TEXT: usize = 300;

/// The end of a round as the host tells it, as far as it is recorded.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Round {
    #[serde(rename = "type")]
    kind: String,
    message: Answer,
    #[serde(default)]
    tool_results: Vec<ToolAnswer>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    content: Vec<Value>,
    #[serde(default)]
    provider: String,
    #[serde(default)]
    model: String,
    #[serde(default)]
    timestamp: u64,
    #[serde(default)]
    error_message: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolAnswer {
    tool_call_id: String,
    #[serde(default)]
    content: Vec<Value>,
    #[serde(default)]
    details: Value,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    timestamp: u64,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// When the result came, in milliseconds since 1970.
    pub(crate) at: u64,
    /// The call's id, which tells entries of the same moment apart.
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) model: String,
    /// `ok`, `exit code 1`, `denied`, ….
    pub(crate) outcome: String,
    /// Bytes of the arguments.
    pub(crate) given: usize,
    /// Bytes of the result's texts.
    pub(crate) answered: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) arguments: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<String>,
}

impl Round {
    /// An entry for each call, and one for a model that failed.
    pub(crate) fn entries(&self, config: &Config) -> Vec<Entry> {
        // The words can stand in another event, which somebody's extension made.
        if self.kind != "turn_end" {
            return Vec::new();
        }
        let results: HashMap<&str, &ToolAnswer> =
            self.tool_results.iter().map(|result| (result.tool_call_id.as_str(), result)).collect();
        let calls = self.message.content.iter().filter(|piece| piece["type"] == "toolCall");
        let mut entries: Vec<Entry> = calls
            .map(|call| self.entry(call, results.get(text(&call["id"])).copied(), config))
            .filter(|entry| {
                config.tools.is_empty() || config.tools.iter().any(|glob| glob::matches(glob, &entry.tool))
            })
            .collect();
        if self.message.error_message.is_some() {
            entries.push(Entry {
                at: self.message.timestamp,
                id: "model".to_owned(),
                tool: "(model)".to_owned(),
                model: self.model(),
                outcome: "failed".to_owned(),
                given: 0,
                answered: 0,
                arguments: None,
                result: None,
            });
        }
        entries
    }

    fn model(&self) -> String {
        format!("{}/{}", self.message.provider, self.message.model)
    }

    fn entry(&self, call: &Value, result: Option<&ToolAnswer>, config: &Config) -> Entry {
        let arguments = call["arguments"].to_string();
        let answer = result.map(ToolAnswer::text).unwrap_or_default();
        Entry {
            at: result.map_or(self.message.timestamp, |result| result.timestamp),
            id: text(&call["id"]).to_owned(),
            tool: text(&call["name"]).to_owned(),
            model: self.model(),
            outcome: result.map_or_else(|| "no result".to_owned(), |result| result.outcome(&answer)),
            given: arguments.len(),
            answered: answer.len(),
            arguments: config.arguments.then(|| beginning(&arguments)),
            result: config.results.then(|| beginning(&answer)),
        }
    }
}

impl ToolAnswer {
    fn text(&self) -> String {
        self.content.iter().filter_map(|piece| piece["text"].as_str()).collect::<Vec<_>>().join("\n")
    }

    /// How it ended, without what a tool printed. The host's own words are known by how they begin.
    fn outcome(&self, answer: &str) -> String {
        const WORDS: [(&str, &str); 4] = [
            ("Permission denied: ", "denied"),
            ("Not executed, it needs approval", "put off"),
            ("Not executed", "not run"),
            ("Tool ", "error"),
        ];
        if !self.is_error {
            return "ok".to_owned();
        }
        if self.details["timedOut"] == true {
            return "timed out".to_owned();
        }
        if self.details["cancelled"] == true {
            return "cancelled".to_owned();
        }
        if let Some(code) = self.details["exitCode"].as_i64() {
            return format!("exit code {code}");
        }
        let known = WORDS.iter().find(|(beginning, _)| answer.starts_with(beginning));
        known.map_or("error", |(_, word)| *word).to_owned()
    }
}

impl Entry {
    /// Its key. In the order of keys, entries are in the order of time; sessions that run at once do not overwrite each other.
    pub(crate) fn key(&self) -> String {
        let id: String = self.id.chars().filter(char::is_ascii_graphic).take(100).collect();
        format!("{}{:013}/{id}", crate::record::PREFIX, self.at)
    }

    /// One line for people, and more where more is kept.
    pub(crate) fn line(&self) -> String {
        let mut line = format!(
            "{}  {:<14} {:<12} {:>7} → {:>7} bytes  {}",
            time::shown(self.at),
            self.tool,
            self.outcome,
            self.given,
            self.answered,
            self.model
        );
        for (mark, text) in [("<", &self.arguments), (">", &self.result)] {
            if let Some(text) = text {
                line.push_str(&format!("\n    {mark} {}", text.replace('\n', "\n      ")));
            }
        }
        line
    }
}

fn beginning(text: &str) -> String {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", &text[..end])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
