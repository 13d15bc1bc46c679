//! Recorded cases: what an extension is asked in a test, and what is expected of it.
//!
//! They stand in `NAME.cases.toml` beside the component or in its project, one `[[case]]` each.

use super::asked::Question;
use anyhow::{Context, Result, ensure};
use capstan_ports::ToolOutcome;
use capstan_ports::message::text_of;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// The file. Unknown keys are refused: a misspelt expectation would expect nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cases {
    /// In the order in which they run.
    #[serde(rename = "case")]
    pub(super) cases: Vec<Case>,
}

/// One call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// What it shows.
    pub(super) name: String,
    /// The tool to call.
    tool: Option<String>,
    /// Its arguments: a table, or a text of JSON for what TOML cannot say.
    #[serde(default = "no_fields")]
    arguments: Value,
    /// The stage of the hook to ask.
    hook: Option<String>,
    /// What the hook is asked about.
    input: Option<Question>,
    /// Granted, as with `ext run --allow`.
    #[serde(default)]
    pub(super) allow: Vec<String>,
    /// The configuration table.
    #[serde(default = "no_fields")]
    pub(super) config: Value,
    /// Files in the workspace by their paths.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// What is to come out.
    pub(super) expect: Option<Expect>,
}

/// What a case asks.
pub(super) enum Ask<'a> {
    /// A call of this tool.
    Tool(&'a str, Value),
    /// A question to the hook of this stage.
    Hook(&'a str, Box<Question>),
}

/// What is to come out. Everything that is stated must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Expect {
    /// The whole text of the result, or the whole reason of the verdict.
    text: Option<String>,
    /// Parts of it.
    contains: Vec<String>,
    /// What must not stand in it.
    lacks: Vec<String>,
    /// Whether the result is marked as an error; no, if nothing is said.
    is_error: Option<bool>,
    /// Fields of the result's details; others may be there.
    details: Option<Value>,
    /// The verdict of a hook: pass, rewrite, block, ask, …
    verdict: Option<String>,
    /// Fields of the verdict, for example the rewritten arguments; others may be there.
    answer: Option<Value>,
    /// The call must fail (trap, run out of time, be denied, be refused as wrong), with this in its text.
    failure: Option<String>,
    /// Files of the workspace afterwards.
    files: BTreeMap<String, String>,
}

/// What came out.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A tool's result.
    Result(ToolOutcome),
    /// A hook's verdict.
    Verdict(Value),
    /// The call failed.
    Failure(String),
}

fn no_fields() -> Value {
    Value::Object(Map::new())
}

impl Cases {
    /// Reads a file of cases.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let cases: Self = toml::from_str(text)?;
        ensure!(!cases.cases.is_empty(), "there is no case in it");
        Ok(cases)
    }
}

impl Case {
    /// What it asks.
    pub(super) fn ask(&self) -> Result<Ask<'_>> {
        match (&self.tool, &self.hook) {
            (Some(tool), None) => {
                let arguments = match &self.arguments {
                    Value::String(text) => {
                        serde_json::from_str(text).context("`arguments` is a text, but not of JSON")?
                    }
                    table => table.clone(),
                };
                Ok(Ask::Tool(tool, arguments))
            }
            (None, Some(stage)) => Ok(Ask::Hook(stage, Box::new(self.input.clone().unwrap_or_default()))),
            (Some(_), Some(_)) | (None, None) => anyhow::bail!("a case has either `tool` or `hook`"),
        }
    }

    /// Writes its files into an empty workspace.
    pub(super) fn furnish(&self, workspace: &Path) -> Result<()> {
        for (name, text) in &self.files {
            let path = workspace.join(inside(name)?);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&path, text).with_context(|| format!("the file {name} cannot be written"))?;
        }
        Ok(())
    }
}

/// A path that stays in the workspace.
fn inside(name: &str) -> Result<&Path> {
    let path = Path::new(name);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
    ensure!(stays && !name.is_empty(), "`{name}` is no path below the workspace");
    Ok(path)
}

impl Outcome {
    /// The text that a model would read: a result's, a verdict's reason, a failure's.
    fn text(&self) -> String {
        match self {
            Self::Result(outcome) => text_of(&outcome.content),
            Self::Verdict(verdict) => verdict["reason"].as_str().unwrap_or_default().to_owned(),
            Self::Failure(text) => text.clone(),
        }
    }

    /// As an expectation that holds for it and for nothing that differs.
    pub(super) fn as_expectation(&self) -> Value {
        match self {
            Self::Result(outcome) => {
                let mut expect = json!({"text": text_of(&outcome.content)});
                if outcome.is_error {
                    expect["is_error"] = Value::Bool(true);
                }
                if let Some(details) = &outcome.details {
                    expect["details"] = details.clone();
                }
                expect
            }
            Self::Verdict(verdict) => json!({"answer": verdict}),
            Self::Failure(text) => json!({"failure": text}),
        }
    }
}

impl Expect {
    /// What does not hold, in sentences.
    pub(super) fn misses(&self, outcome: &Outcome, workspace: &Path) -> Vec<String> {
        let mut misses = Vec::new();
        let text = outcome.text();
        match (outcome, &self.failure) {
            (Outcome::Failure(text), None) => return vec![format!("the call failed: {text}")],
            (Outcome::Failure(text), Some(part)) if !text.contains(part.as_str()) => {
                misses.push(format!("it failed with other words than {part:?}: {text}"));
            }
            (Outcome::Result(_) | Outcome::Verdict(_), Some(part)) => {
                misses.push(format!("it did not fail with {part:?} but answered: {text}"));
            }
            (_, _) => {}
        }
        if let Some(whole) = &self.text
            && *whole != text
        {
            misses.push(format!(
                "the text is not the expected one\n  expected: {whole:?}\n  got:      {text:?}"
            ));
        }
        misses.extend(
            self.contains
                .iter()
                .filter(|part| !text.contains(part.as_str()))
                .map(|part| format!("{part:?} is not in the text: {text:?}")),
        );
        misses.extend(
            self.lacks
                .iter()
                .filter(|part| text.contains(part.as_str()))
                .map(|part| format!("{part:?} is in the text: {text:?}")),
        );
        match outcome {
            Outcome::Result(outcome) => {
                let wanted = self.is_error.unwrap_or(false);
                if outcome.is_error != wanted {
                    let marked = if outcome.is_error { "marked" } else { "not marked" };
                    misses.push(format!("the result is {marked} as an error: {text}"));
                }
                let details = outcome.details.as_ref().unwrap_or(&Value::Null);
                misses.extend(self.details.as_ref().and_then(|wanted| differs("details", wanted, details)));
                if self.verdict.is_some() || self.answer.is_some() {
                    misses.push("a tool gives no verdict; expect `text` or `details` of it".to_owned());
                }
            }
            Outcome::Verdict(verdict) => {
                if let Some(wanted) = &self.verdict
                    && verdict["verdict"] != json!(wanted)
                {
                    misses.push(format!("the verdict is not {wanted:?} but {verdict}"));
                }
                misses.extend(self.answer.as_ref().and_then(|wanted| differs("answer", wanted, verdict)));
            }
            Outcome::Failure(_) => {}
        }
        misses.extend(self.files.iter().filter_map(|(name, wanted)| {
            let found = inside(name).and_then(|path| Ok(std::fs::read_to_string(workspace.join(path))?));
            match found {
                Ok(text) if text == *wanted => None,
                Ok(text) => Some(format!("the file {name} holds {text:?}")),
                Err(reason) => Some(format!("the file {name} cannot be read: {reason:#}")),
            }
        }));
        misses
    }
}

/// The first place at which `found` lacks something of `wanted`. Objects may have more fields, lists must be of one length.
fn differs(place: &str, wanted: &Value, found: &Value) -> Option<String> {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => wanted.iter().find_map(|(name, wanted)| {
            differs(&format!("{place}.{name}"), wanted, found.get(name).unwrap_or(&Value::Null))
        }),
        (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => wanted
            .iter()
            .zip(found)
            .enumerate()
            .find_map(|(at, (wanted, found))| differs(&format!("{place}[{at}]"), wanted, found)),
        (wanted, found) if wanted == found => None,
        (wanted, found) => Some(format!("{place} is {found}, expected {wanted}")),
    }
}

#[cfg(test)]
#[path = "cases_tests.rs"]
mod tests;
