//! What a hook reads on standard input.

use crate::process_hook::settings::HookEvent;
use capstan_ports::{SessionId, ToolCall};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Tools whose `path` scripts for Claude Code know as `file_path`.
const FILE_TOOLS: [&str; 3] = ["read", "write", "edit"];

/// The name that Claude Code gives to `path`.
const FILE_PATH: &str = "file_path";

/// The fields of one event.
pub(crate) struct Payload {
    fields: Map<String, Value>,
}

impl Payload {
    pub(crate) fn new(session: &SessionId) -> Self {
        let mut fields = Map::new();
        fields.insert("session_id".to_owned(), session.as_str().into());
        Self { fields }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// The call, with our tool name and our arguments. A file tool's path stands there a second time, absolute and under the
    /// name that guards written for Claude Code look at: one that finds nothing there would let everything pass.
    pub(crate) fn with_call(self, call: &ToolCall, directory: &Path) -> Self {
        let mut input = call.arguments.clone();
        if let (Some(path), Some(fields)) = (file_path(call, directory), input.as_object_mut()) {
            fields.insert(FILE_PATH.to_owned(), path.into());
        }
        self.with("tool_name", call.name.as_str())
            .with("tool_input", input)
            .with("tool_use_id", call.id.as_str())
    }

    pub(crate) fn into_bytes(self, event: HookEvent, directory: &Path) -> Vec<u8> {
        let whole = self.with("hook_event_name", event.name()).with("cwd", directory.display().to_string());
        Value::Object(whole.fields).to_string().into_bytes()
    }
}

/// A file tool's path, absolute, unless the call has a `file_path` of its own.
fn file_path(call: &ToolCall, directory: &Path) -> Option<String> {
    if !FILE_TOOLS.contains(&call.name.as_str()) || call.arguments.get(FILE_PATH).is_some() {
        return None;
    }
    let path = call.arguments.get("path")?.as_str()?;
    // Written in one way only: `./a` and `a` are one file.
    let absolute: PathBuf = directory.join(path).components().collect();
    Some(absolute.display().to_string())
}

/// Turns a hook's `updatedInput` back into arguments of ours: what [`Payload::with_call`] added is taken out, and a path
/// that was changed there becomes the path.
pub(crate) fn own_arguments(call: &ToolCall, mut input: Value, directory: &Path) -> Value {
    if let (Some(sent), Some(fields)) = (file_path(call, directory), input.as_object_mut())
        && let Some(path) = fields.shift_remove(FILE_PATH)
        && path.as_str() != Some(&sent)
    {
        fields.insert("path".to_owned(), path);
    }
    input
}

#[cfg(test)]
#[path = "payload_tests.rs"]
mod tests;
