//! What a client can ask for: pi's commands, in pi's form.

use super::answer::Response;
use capstan_ports::ThinkingLevel;
use capstan_ports::message::{Content, Message, UserMessage, now_ms};
use serde::Deserialize;
use serde_json::Value;

/// A line from the client.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A command.
    Request(Box<Request>),
    /// What a person said to a question. It is not answered.
    Reply(Reply),
    /// No command; this is the answer to it.
    Malformed(Box<Response>),
}

/// A command, and how to speak of it.
#[derive(Debug)]
pub(super) struct Request {
    /// The client's own name for it, of any kind, given back with the answer.
    pub(super) id: Option<Value>,
    /// The command's name.
    pub(super) name: String,
    pub(super) command: Command,
}

/// What a client can ask for.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum Command {
    Prompt { message: String, images: Option<Vec<Image>>, streaming_behavior: Option<StreamingBehavior> },
    Steer { message: String, images: Option<Vec<Image>> },
    FollowUp { message: String, images: Option<Vec<Image>> },
    Abort,
    NewSession { parent_session: Option<String> },
    GetState,
    GetMessages,
    SetModel { provider: String, model_id: String },
    CycleModel,
    GetAvailableModels,
    SetThinkingLevel { level: ThinkingLevel },
    CycleThinkingLevel,
    SetSteeringMode { mode: Mode },
    SetFollowUpMode { mode: Mode },
    Compact { custom_instructions: Option<String> },
    SetAutoCompaction { enabled: bool },
    SetAutoRetry { enabled: bool },
    AbortRetry,
    Bash { command: String, exclude_from_context: Option<bool> },
    AbortBash,
    GetSessionStats,
    ExportHtml { output_path: Option<String> },
    SwitchSession { session_path: String },
    Fork { entry_id: String },
    Clone,
    GetForkMessages,
    GetLastAssistantText,
    SetSessionName { name: String },
    GetCommands,
}

impl Command {
    /// The names of all commands.
    pub(super) const NAMES: [&str; 29] = [
        "prompt",
        "steer",
        "follow_up",
        "abort",
        "new_session",
        "get_state",
        "get_messages",
        "set_model",
        "cycle_model",
        "get_available_models",
        "set_thinking_level",
        "cycle_thinking_level",
        "set_steering_mode",
        "set_follow_up_mode",
        "compact",
        "set_auto_compaction",
        "set_auto_retry",
        "abort_retry",
        "bash",
        "abort_bash",
        "get_session_stats",
        "export_html",
        "switch_session",
        "fork",
        "clone",
        "get_fork_messages",
        "get_last_assistant_text",
        "set_session_name",
        "get_commands",
    ];
}

/// A picture in a prompt.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Image {
    Image { data: String, mime_type: String },
}

/// What becomes of a prompt that comes during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum StreamingBehavior {
    /// The model reads it with its next call.
    Steer,
    /// The model reads it when it would stop.
    FollowUp,
}

/// How much of a queue is handed out at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    All,
    OneAtATime,
}

/// What a person said to a question.
#[derive(Debug, PartialEq, Deserialize)]
pub(super) struct Reply {
    /// The question's.
    pub(super) id: String,
    /// The option or the text.
    #[serde(default)]
    pub(super) value: Option<String>,
    /// Yes or no.
    #[serde(default)]
    pub(super) confirmed: Option<bool>,
    /// No answer.
    #[serde(default)]
    pub(super) cancelled: bool,
}

/// The type of a line that holds a [`Reply`].
const REPLY: &str = "extension_ui_response";

/// Reads a line.
pub(super) fn read(line: &[u8]) -> Incoming {
    let malformed = |response: Response| Incoming::Malformed(Box::new(response));
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(reason) => {
            return malformed(Response::failed(None, "parse", format!("the line is no JSON: {reason}")));
        }
    };
    let id = value.get("id").cloned();
    let Some(name) = value.get("type").and_then(Value::as_str).map(str::to_owned) else {
        let text = "the line is no command: it has to be an object with a `type` that is a text";
        return malformed(Response::failed(id, "parse", text));
    };
    if name == REPLY {
        return match serde_json::from_value(value) {
            Ok(reply) => Incoming::Reply(reply),
            Err(reason) => malformed(Response::failed(id, &name, format!("{name}: {reason}"))),
        };
    }
    if !Command::NAMES.contains(&name.as_str()) {
        let known = Command::NAMES.join(", ");
        let text = format!("there is no command `{name}`; there is: {known}");
        return malformed(Response::failed(id, &name, text));
    }
    match serde_json::from_value(value) {
        Ok(command) => Incoming::Request(Box::new(Request { id, name, command })),
        Err(reason) => malformed(Response::failed(id, &name, format!("{name}: {reason}"))),
    }
}

/// A message of the user; `None` where there is nothing in it.
pub(super) fn message(text: &str, images: Option<Vec<Image>>) -> Option<Message> {
    let images = images.unwrap_or_default();
    if text.trim().is_empty() && images.is_empty() {
        return None;
    }
    let images =
        images.into_iter().map(|Image::Image { data, mime_type }| Content::Image { data, mime_type });
    // A picture alone is a message; providers refuse an empty text beside it.
    let text = (!text.trim().is_empty()).then(|| Content::text(text));
    let content = text.into_iter().chain(images).collect();
    Some(Message::User(UserMessage { content, timestamp: now_ms() }))
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
