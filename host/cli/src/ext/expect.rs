//! What is expected of a call, and what of that does not hold.

use super::outcome::Outcome;
use super::traces::Traces;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is to come out. Everything that is stated must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Expect {
    /// The whole text of what came out.
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
    /// All steps of a plan.
    steps: Option<Vec<String>>,
    /// What a compressor wants done: none, replace, summarize, new-session.
    action: Option<String>,
    /// Fields of the verdict or of the action; others may be there.
    answer: Option<Value>,
    /// The call must fail (trap, run out of time, be denied, be refused as wrong), with this in its text.
    failure: Option<String>,
    /// Files of the workspace afterwards.
    files: BTreeMap<String, String>,
    /// What its storage holds under these keys afterwards: text, or fields of JSON.
    stored: BTreeMap<String, Value>,
    /// Keys that its storage does not hold afterwards.
    not_stored: Vec<String>,
    /// Parts of lines that it logged.
    logged: Vec<String>,
    /// Events that it emitted; others may be among them.
    emitted: Vec<Event>,
}

/// An event of the extension's own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    label: String,
    /// Fields of its data; others may be there.
    #[serde(default)]
    data: Option<Value>,
}

impl Expect {
    /// What does not hold, in sentences.
    pub(super) fn misses(&self, outcome: &Outcome, traces: &Traces) -> Vec<String> {
        let mut misses = Vec::new();
        let text = outcome.text();
        match (outcome, &self.failure) {
            (Outcome::Failure(text), None) => return vec![format!("the call failed: {text}")],
            (Outcome::Failure(text), Some(part)) if !text.contains(part.as_str()) => {
                misses.push(format!("it failed with other words than {part:?}: {text}"));
            }
            (Outcome::Failure(_), Some(_)) | (_, None) => {}
            (_, Some(part)) => misses.push(format!("it did not fail with {part:?} but answered: {text}")),
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
        misses.extend(self.misplaced(outcome));
        self.answered(outcome, &text, &mut misses);
        self.left(traces, &mut misses);
        misses
    }

    /// Expectations that say nothing about a part of this kind, and so would always hold.
    fn misplaced(&self, outcome: &Outcome) -> Option<String> {
        use Outcome::{Action, Failure, Plan, Result, Verdict};
        let fields = [
            ("is_error", self.is_error.is_some(), matches!(outcome, Result(_))),
            ("details", self.details.is_some(), matches!(outcome, Result(_))),
            ("verdict", self.verdict.is_some(), matches!(outcome, Verdict(_))),
            ("steps", self.steps.is_some(), matches!(outcome, Plan(_))),
            ("action", self.action.is_some(), matches!(outcome, Action(_))),
            ("answer", self.answer.is_some(), matches!(outcome, Verdict(_) | Action(_))),
        ];
        let wrong: Vec<_> = fields
            .iter()
            .filter(|(_, stated, fits)| *stated && !fits)
            .map(|(name, ..)| format!("`{name}`"))
            .collect();
        let is_failure = matches!(outcome, Failure(_));
        (!wrong.is_empty() && !is_failure)
            .then(|| format!("a call of this kind has no {}; see what it has: --update", wrong.join(", ")))
    }

    fn answered(&self, outcome: &Outcome, text: &str, misses: &mut Vec<String>) {
        match outcome {
            Outcome::Result(outcome) => {
                let wanted = self.is_error.unwrap_or(false);
                if outcome.is_error != wanted {
                    let marked = if outcome.is_error { "marked" } else { "not marked" };
                    misses.push(format!("the result is {marked} as an error: {text}"));
                }
                let details = outcome.details.as_ref().unwrap_or(&Value::Null);
                misses.extend(self.details.as_ref().and_then(|wanted| differs("details", wanted, details)));
            }
            Outcome::Verdict(verdict) => {
                if let Some(wanted) = &self.verdict
                    && verdict["verdict"] != json!(wanted)
                {
                    misses.push(format!("the verdict is not {wanted:?} but {verdict}"));
                }
                misses.extend(self.answer.as_ref().and_then(|wanted| differs("answer", wanted, verdict)));
            }
            Outcome::Plan(steps) => {
                let wanted = self.steps.as_ref().filter(|wanted| *wanted != steps);
                misses.extend(wanted.map(|wanted| {
                    format!(
                        "the steps are not the expected ones\n  expected: {wanted:?}\n  got:      {steps:?}"
                    )
                }));
            }
            Outcome::Action(action) => {
                if let Some(wanted) = &self.action
                    && action["action"] != json!(wanted)
                {
                    misses.push(format!("the action is not {wanted:?} but {action}"));
                }
                misses.extend(self.answer.as_ref().and_then(|wanted| differs("answer", wanted, action)));
            }
            Outcome::Shown(_) | Outcome::Watched | Outcome::Failure(_) => {}
        }
    }

    /// What the call left behind.
    fn left(&self, traces: &Traces, misses: &mut Vec<String>) {
        misses.extend(self.files.iter().filter_map(|(name, wanted)| match traces.file(name) {
            Ok(text) if text == *wanted => None,
            Ok(text) => Some(format!("the file {name} holds {text:?}")),
            Err(reason) => Some(format!("the file {name} cannot be read: {reason:#}")),
        }));
        misses.extend(self.stored.iter().filter_map(|(key, wanted)| {
            let Some(bytes) = traces.stored.get(key) else {
                return Some(format!("nothing is stored under {key:?}; stored are {:?}", traces.keys()));
            };
            let text = String::from_utf8_lossy(bytes);
            match wanted {
                Value::String(wanted) if *wanted == text => None,
                wanted => {
                    // What is no JSON is text.
                    let found = serde_json::from_str(&text).unwrap_or_else(|_text| json!(text));
                    differs(&format!("stored {key:?}"), wanted, &found)
                }
            }
        }));
        let there = self.not_stored.iter().filter(|key| traces.stored.contains_key(*key));
        misses.extend(there.map(|key| format!("something is stored under {key:?}")));
        misses.extend(
            self.logged
                .iter()
                .filter(|part| !traces.logged.iter().any(|line| line.contains(part.as_str())))
                .map(|part| format!("no logged line contains {part:?}; logged was {:?}", traces.logged)),
        );
        misses.extend(
            self.emitted
                .iter()
                .filter(|event| !traces.emitted.iter().any(|(label, data)| event.is(label, data)))
                .map(|event| {
                    let all: Vec<_> =
                        traces.emitted.iter().map(|(label, data)| format!("{label} {data}")).collect();
                    format!("no such event {:?} was emitted; emitted were {all:?}", event.label)
                }),
        );
    }
}

impl Event {
    fn is(&self, label: &str, data: &Value) -> bool {
        let fits = self.data.as_ref().is_none_or(|wanted| differs("data", wanted, data).is_none());
        self.label == label && fits
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
#[path = "expect_tests.rs"]
mod tests;
