//! One answer of a script.

use super::{default_stop_reason, estimated_usage};
use crate::error::ProviderError;
use capstan_ports::{ModelErrorKind, StopReason, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// One answer. Everything is optional; an empty object is an empty answer. Thinking comes before text, text before calls.
///
/// ```
/// let answer: capstan_provider::Answer =
///     serde_json::from_str(r#"{"text": "Let me look.", "tool_calls": [{"name": "ls", "arguments": {"path": "."}}]}"#)?;
/// assert_eq!(answer.tool_calls.len(), 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// Reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Tool calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ScriptedCall>,
    /// The answer fails with this, after what else it holds was streamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ScriptedError>,
    /// Why the model stops: `stop`, `length` or `toolUse`. By default `toolUse` with calls and `stop` without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// The stream ends before its end mark, as when a connection is lost.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Milliseconds before the first event.
    #[serde(skip_serializing_if = "is_zero")]
    pub delay_ms: u64,
    /// Milliseconds before each further event.
    #[serde(skip_serializing_if = "is_zero")]
    pub delta_delay_ms: u64,
    /// Token counts; by default an estimate from the length of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A tool call of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The id; a random one where missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The arguments. A string is sent as it is, so that a script can hold broken JSON.
    #[serde(default)]
    pub arguments: Value,
}

impl ScriptedCall {
    /// What is streamed for the arguments.
    pub fn argument_text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            Value::Null => "{}".to_owned(),
            other => other.to_string(),
        }
    }
}

/// How an answer fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedError {
    /// What kind of failure, for example `rate-limited` or `context-overflow`.
    pub kind: ModelErrorKind,
    /// The text.
    pub message: String,
    /// How long the provider asks to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl Answer {
    /// An answer of text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// An answer of tool calls: name and arguments each.
    pub fn calls<N: Into<String>>(calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        calls.into_iter().fold(Self::default(), |answer, (name, arguments)| answer.and_call(name, arguments))
    }

    /// An answer of one tool call.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// An answer that fails.
    pub fn error(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let error = ScriptedError { kind, message: message.into(), retry_after_ms: None };
        Self { error: Some(error), ..Self::default() }
    }

    /// Adds a tool call with a random id.
    #[must_use]
    pub fn and_call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.and_scripted_call(ScriptedCall { id: None, name: name.into(), arguments })
    }

    /// Adds a tool call with this id.
    #[must_use]
    pub fn and_call_with_id(self, id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        self.and_scripted_call(ScriptedCall { id: Some(id.into()), name: name.into(), arguments })
    }

    fn and_scripted_call(mut self, call: ScriptedCall) -> Self {
        self.tool_calls.push(call);
        self
    }

    /// Sets the text.
    #[must_use]
    pub fn with_text(self, text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..self }
    }

    /// Sets the reasoning.
    #[must_use]
    pub fn with_thinking(self, thinking: impl Into<String>) -> Self {
        Self { thinking: Some(thinking.into()), ..self }
    }

    /// Sets why the model stops.
    #[must_use]
    pub fn with_stop_reason(self, stop_reason: StopReason) -> Self {
        Self { stop_reason: Some(stop_reason), ..self }
    }

    /// Sets the token counts.
    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// Waits this many milliseconds before the first event.
    #[must_use]
    pub fn delayed_ms(self, delay_ms: u64) -> Self {
        Self { delay_ms, ..self }
    }

    /// Waits this many milliseconds before each event after the first.
    #[must_use]
    pub fn slowed_ms(self, delta_delay_ms: u64) -> Self {
        Self { delta_delay_ms, ..self }
    }

    /// Ends the stream early.
    #[must_use]
    pub fn cut_off(self) -> Self {
        Self { cut: true, ..self }
    }

    /// Why the model stops, the default included.
    pub fn final_stop_reason(&self) -> StopReason {
        self.stop_reason.unwrap_or_else(|| default_stop_reason(!self.tool_calls.is_empty()))
    }

    pub(super) fn usage_or_estimate(&self) -> Usage {
        self.usage.clone().unwrap_or_else(|| {
            let text = [&self.thinking, &self.text].into_iter().flatten().map(|text| text.chars().count());
            let calls = self.tool_calls.iter().map(|call| call.argument_text().chars().count());
            estimated_usage(text.chain(calls).sum())
        })
    }
}

/// Pieces of about a word, as a model streams them. An empty text has none.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '\n', ','])
}

/// Reads a script.
pub(super) fn parse_script(path: &Path, text: &str) -> Result<Vec<Answer>, ProviderError> {
    let mut answers = Vec::new();
    for (position, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let bad = |reason: String, source| ProviderError::ScriptLine {
            path: path.to_owned(),
            line: position + 1,
            reason,
            source,
        };
        // Without this, serde would read an array as the fields in order.
        if !line.starts_with('{') {
            return Err(bad("this is no answer; write for example {\"text\": \"hello\"}".to_owned(), None));
        }
        let answer: Answer = serde_json::from_str(line).map_err(|source| {
            bad(
                format!("this is no answer ({source}); write for example {{\"text\": \"hello\"}}"),
                Some(source),
            )
        })?;
        if matches!(answer.stop_reason, Some(StopReason::Error | StopReason::Aborted)) {
            let reason = "stop_reason can be stop, length or toolUse; write \"error\": {…} for a failure";
            return Err(bad(reason.to_owned(), None));
        }
        answers.push(answer);
    }
    Ok(answers)
}
