//! What came out of a call.

use capstan_ports::ToolOutcome;
use capstan_ports::message::{Content, text_of};
use serde_json::{Value, json};
use std::path::Path;

/// What came out.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A tool's result.
    Result(ToolOutcome),
    /// A hook's verdict.
    Verdict(Value),
    /// The steps of a plan.
    Plan(Vec<String>),
    /// What a compressor wants done.
    Action(Value),
    /// What a slash command shows.
    Shown(String),
    /// An observer, which answers nothing.
    Watched,
    /// The call failed.
    Failure(String),
}

impl Outcome {
    /// What is compared as text: what a model or a person would read.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Result(outcome) => text_of(&outcome.content),
            Self::Verdict(verdict) => verdict["reason"].as_str().unwrap_or_default().to_owned(),
            Self::Plan(steps) => steps.join("\n"),
            Self::Action(action) => match action["messages"].as_array() {
                Some(messages) => messages.iter().map(said).collect::<Vec<_>>().join("\n"),
                None => action["instructions"].as_str().unwrap_or_default().to_owned(),
            },
            Self::Shown(text) | Self::Failure(text) => text.clone(),
            Self::Watched => String::new(),
        }
    }

    /// What a person reads of it.
    pub(super) fn readable(&self) -> String {
        match self {
            Self::Result(outcome) => readable(outcome),
            Self::Verdict(value) | Self::Action(value) => format!("{value:#}"),
            Self::Plan(steps) => {
                let numbered = steps.iter().enumerate().map(|(at, step)| format!("{}. {step}", at + 1));
                numbered.collect::<Vec<_>>().join("\n")
            }
            Self::Shown(_) | Self::Failure(_) | Self::Watched => self.text(),
        }
    }

    /// The whole of it for programs; `None` for a failure.
    pub(super) fn answer(&self) -> serde_json::Result<Option<Value>> {
        Ok(match self {
            Self::Result(outcome) => Some(serde_json::to_value(outcome)?),
            Self::Verdict(value) | Self::Action(value) => Some(value.clone()),
            Self::Plan(steps) => Some(json!({"steps": steps})),
            Self::Shown(text) => Some(json!({"text": text})),
            Self::Watched => Some(json!({})),
            Self::Failure(_) => None,
        })
    }

    /// Whether a tool marked its result as an error.
    pub(super) fn is_error_result(&self) -> bool {
        matches!(self, Self::Result(outcome) if outcome.is_error)
    }

    /// With the paths in a failure relative to this folder, if they are below it: they are those of the machine on which the component was
    /// built, and say nothing more for being long.
    #[must_use]
    pub(super) fn below(self, folder: &Path) -> Self {
        match (self, folder.to_str()) {
            (Self::Failure(text), Some(folder)) if folder.len() > 1 => {
                Self::Failure(text.replace(&format!("{folder}/"), ""))
            }
            (outcome, _) => outcome,
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
            Self::Plan(steps) => json!({"steps": steps}),
            Self::Action(action) => json!({"answer": action}),
            Self::Shown(text) => json!({"text": text}),
            Self::Watched => json!({}),
            // Where it trapped changes with every edit.
            Self::Failure(text) => json!({"failure": text.split(" (in ").next().unwrap_or(text)}),
        }
    }
}

/// The text of a message in the form of cases.
fn said(message: &Value) -> String {
    match (message, &message["content"]) {
        (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
        (_, Value::Array(pieces)) => pieces.iter().filter_map(|piece| piece["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// What a person reads of a result.
fn readable(outcome: &ToolOutcome) -> String {
    let mut text = text_of(&outcome.content);
    let others = outcome.content.iter().filter(|piece| !matches!(piece, Content::Text { .. })).count();
    if others > 0 {
        text.push_str(&format!("\n[and {others} pieces that are not text; --json shows them]"));
    }
    if let Some(details) = &outcome.details {
        text.push_str(&format!("\n{details}"));
    }
    text
}
