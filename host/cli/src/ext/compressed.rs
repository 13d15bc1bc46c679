//! One compressor of an extension, asked by hand: the conversation that it is shown, and what it wants done with it.

use super::asked::message;
use super::call::lacks;
use super::trial::{Failure, turn};
use anyhow::{Context, Result};
use capstan_agent::CompactionSettings;
use capstan_agent::compaction::{estimated_tokens, is_usable};
use capstan_engine::Extension;
use capstan_ports::message::Content;
use capstan_ports::{CompressAction, CompressContext, CompressReason, Message};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// A window of usual size.
const WINDOW_TOKENS: u32 = 200_000;

/// What a compressor is shown.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Conversation {
    /// Each as text, which is a person's, or with its role.
    messages: Vec<Value>,
    /// The model's window; 0 where it is not known.
    #[serde(default = "window")]
    window_tokens: u32,
    /// What the messages take. Estimated as in a session where it is not said.
    used_tokens: Option<u32>,
    /// What must stay free.
    reserve_tokens: Option<u32>,
    /// What the user wants kept.
    instructions: Option<String>,
    /// Why it is asked.
    #[serde(default)]
    reason: Reason,
}

/// Why a compressor is asked.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reason {
    #[default]
    BeforeModel,
    Overflow,
    Manual,
}

fn window() -> u32 {
    WINDOW_TOKENS
}

/// Asks the compressor of this name. Messages that the agent would not take are a [`Failure`] here, so that an author learns
/// of them before a session does.
///
/// # Errors
/// When there is no such compressor, or a message is none.
pub(super) async fn ask(
    extension: &Extension,
    name: &str,
    conversation: Conversation,
) -> Result<Result<Value, Failure>> {
    let compressors = extension.compressors();
    let compressor = compressors
        .get(name)
        .with_context(|| lacks(extension, "compressor", name, compressors.keys().map(String::as_str)))?;
    let Conversation { messages, window_tokens, used_tokens, reserve_tokens, instructions, reason } =
        conversation;
    let messages: Vec<_> =
        messages.into_iter().map(|value| message(value).map(Arc::new)).collect::<Result<_>>()?;
    let usual = CompactionSettings::default().for_window(window_tokens);
    let context = CompressContext {
        session_id: turn().session_id,
        window_tokens,
        used_tokens: used_tokens.unwrap_or_else(|| estimated_tokens(&messages)),
        reserve_tokens: reserve_tokens.unwrap_or(usual.reserve_tokens),
        instructions,
        reason: match reason {
            Reason::BeforeModel => CompressReason::BeforeModel,
            Reason::Overflow => CompressReason::Overflow,
            Reason::Manual => CompressReason::Manual,
        },
    };
    Ok(match compressor.compress(&messages, &context).await {
        Ok(action) if is_usable(&action) => Ok(written(&action)?),
        Ok(_unusable) => Err(Failure(
            "its messages would be refused: there are none, or a call lacks its result, or a result its call"
                .to_owned(),
        )),
        Err(error) => Err(Failure(error.to_string())),
    })
}

fn written(action: &CompressAction) -> Result<Value> {
    let list = |messages: &[Arc<Message>]| messages.iter().map(|it| brief(it)).collect::<Result<Vec<_>>>();
    Ok(match action {
        CompressAction::None => json!({"action": "none"}),
        CompressAction::Replace(messages) => json!({"action": "replace", "messages": list(messages)?}),
        CompressAction::Summarize { first_kept, instructions } => {
            json!({"action": "summarize", "first_kept": first_kept, "instructions": instructions})
        }
        CompressAction::NewSession { messages, session_id } => {
            let mut value = json!({"action": "new-session", "messages": list(messages)?});
            if let Some(id) = session_id {
                value["session_id"] = json!(id.as_str());
            }
            value
        }
    })
}

/// A message as a case has it: what stands in it, without what the host notes about it, which would differ each time.
fn brief(message: &Message) -> Result<Value> {
    if let (Message::User(_), [Content::Text { text }]) = (message, message.content()) {
        return Ok(json!(text));
    }
    let mut value = serde_json::to_value(message)?;
    let Some(fields) = value.as_object_mut() else { return Ok(value) };
    for name in ["timestamp", "usage", "api", "provider", "model"] {
        fields.remove(name);
    }
    if let [Content::Text { text }] = message.content() {
        fields.insert("content".to_owned(), json!(text));
    }
    Ok(value)
}

#[cfg(test)]
#[path = "compressed_tests.rs"]
mod tests;
