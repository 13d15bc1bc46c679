//! What a hook answers: by its exit code, or by JSON on standard output.

use crate::process_hook::settings::HookEvent;
use capstan_ports::ProgramOutcome;
use serde::Deserialize;
use serde_json::Value;

/// Characters of standard error that are shown when a hook fails.
const SHOWN_CHARS: usize = 300;

/// What a hook wants.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Answer {
    pub(crate) decision: Decision,
    /// Arguments in place of those of the call.
    pub(crate) updated_input: Option<Value>,
    /// Something for the model to read.
    pub(crate) context: Option<String>,
    /// The turn is to end, for this reason.
    pub(crate) stop: Option<String>,
    /// Something for the user to read.
    pub(crate) message: Option<String>,
}

/// A hook's word on its subject. An `allow` is no more than silence: nothing here grants.
#[derive(Debug, Default, PartialEq)]
pub(crate) enum Decision {
    #[default]
    None,
    Deny(String),
    Ask(String),
}

/// The JSON form. Fields that are not here are those that change nothing.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Output {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<Word>,
    reason: Option<String>,
    additional_context: Option<String>,
    hook_specific_output: Option<Specific>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Specific {
    hook_event_name: Option<String>,
    permission_decision: Option<PermissionWord>,
    permission_decision_reason: Option<String>,
    updated_input: Option<serde_json::Map<String, Value>>,
    additional_context: Option<String>,
    #[serde(rename = "updatedToolOutput", alias = "updatedMCPToolOutput")]
    updated_output: Option<Value>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Word {
    #[serde(alias = "allow")]
    Approve,
    #[serde(alias = "deny")]
    Block,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum PermissionWord {
    Allow,
    Deny,
    Ask,
}

impl Answer {
    /// Reads an answer, or says what is wrong with it.
    pub(crate) fn of(event: HookEvent, outcome: &ProgramOutcome) -> Result<Self, String> {
        let said = String::from_utf8_lossy(&outcome.stderr);
        match outcome.exit_code {
            Some(0) => Self::of_output(event, outcome),
            Some(2) => {
                Ok(Self { decision: Decision::Deny(or(said.trim(), "blocked by a hook")), ..Self::default() })
            }
            Some(code) => {
                Err(with_words(format!("it ended with exit code {code} (0 is an answer, 2 is a no)"), &said))
            }
            None => Err(with_words("it was ended by a signal".to_owned(), &said)),
        }
    }

    fn of_output(event: HookEvent, outcome: &ProgramOutcome) -> Result<Self, String> {
        let text = std::str::from_utf8(&outcome.stdout)
            .map_err(|error| format!("what it printed is no text: {error}"))?
            .trim();
        if text.is_empty() {
            return Ok(Self::default());
        }
        if outcome.truncated {
            return Err("it printed more than is read of a hook".to_owned());
        }
        if !text.starts_with('{') {
            return match event {
                HookEvent::UserPromptSubmit | HookEvent::SessionStart => {
                    Ok(Self { context: Some(text.to_owned()), ..Self::default() })
                }
                // A gate whose words are not understood may have meant a no.
                HookEvent::PreToolUse => {
                    Err(with_words("it printed something else than a JSON object".to_owned(), text))
                }
                HookEvent::PostToolUse | HookEvent::Stop | HookEvent::SessionEnd => Ok(Self::default()),
            };
        }
        let output: Output =
            serde_json::from_str(text).map_err(|error| format!("its JSON is not understood: {error}"))?;
        Self::of_json(event, output)
    }

    fn of_json(event: HookEvent, output: Output) -> Result<Self, String> {
        let specific = output.hook_specific_output.unwrap_or_default();
        if let Some(other) = specific.hook_event_name.filter(|other| other != event.name()) {
            return Err(format!("it answers a {other} event, but was asked about {}", event.name()));
        }
        // Left out in silence, a redaction would look like one that happened.
        if specific.updated_output.is_some() {
            return Err("it wants to replace a tool's output, which only extensions can do here".to_owned());
        }
        let reason = [specific.permission_decision_reason, output.reason].into_iter().flatten().next();
        let reason = reason.unwrap_or_default();
        let blocks = output.decision == Some(Word::Block);
        // The stricter of the two words counts.
        let decision = match specific.permission_decision {
            Some(PermissionWord::Deny) => Decision::Deny(or(&reason, "blocked by a hook")),
            _ if blocks => Decision::Deny(or(&reason, "blocked by a hook")),
            Some(PermissionWord::Ask) => Decision::Ask(or(&reason, "a hook wants you to decide")),
            Some(PermissionWord::Allow) | None => Decision::None,
        };
        let stop = (output.r#continue == Some(false))
            .then(|| or(output.stop_reason.as_deref().unwrap_or(&reason), "a hook ended the turn"));
        Ok(Self {
            decision,
            updated_input: specific.updated_input.map(Value::Object),
            context: specific
                .additional_context
                .or(output.additional_context)
                .filter(|text| !text.is_empty()),
            stop,
            message: output.system_message,
        })
    }
}

fn or(text: &str, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
}

/// A problem and the program's own words about it, as far as they fit.
fn with_words(problem: String, words: &str) -> String {
    let words = words.trim();
    if words.is_empty() {
        return problem;
    }
    let shown: String = words.chars().take(SHOWN_CHARS).collect();
    format!("{problem}: {shown}")
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
