//! `read`: text by lines, images as they are.

use crate::text::truncate::{MAX_BYTES, MAX_LINES, TruncatedBy, count_lines, head, size};
use crate::tools::{arguments, definition, path_of, unless_cancelled};
use crate::workspace::WorkspaceRuntime;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use capstan_ports::message::{Content, ToolCall};
use capstan_ports::permission::CallAccess;
use capstan_ports::tool::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::sync::Arc;

/// The whole file is in memory while its lines are counted. Ten parallel reads of this size are still harmless.
const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;

/// Providers refuse larger images; with base64 this is what they take. Nothing is scaled down.
const MAX_IMAGE_BYTES: usize = 5 * 1024 * 1024;

/// Text has no zero byte in its first part; the same rule as git's.
const SNIFF_BYTES: usize = 8000;

/// Reads files of a workspace.
pub struct ReadTool {
    definition: ToolDefinition,
    workspace: Arc<dyn WorkspaceRuntime>,
}

#[derive(Deserialize)]
struct ReadArguments {
    path: String,
    #[serde(default, deserialize_with = "whole_number")]
    offset: Option<usize>,
    #[serde(default, deserialize_with = "whole_number")]
    limit: Option<usize>,
}

impl ReadTool {
    /// The tool over `workspace`.
    pub fn new(workspace: Arc<dyn WorkspaceRuntime>) -> Self {
        let definition = definition(
            "read",
            "Read a text file (at most 2000 lines or 50KB per call; continue with offset) or an image (png, jpg, gif, \
             webp).",
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Relative to the workspace, or absolute"},
                    "offset": {"type": "integer", "minimum": 1, "description": "First line, counted from 1"},
                    "limit": {"type": "integer", "minimum": 1, "description": "Number of lines"}
                },
                "required": ["path"]
            }),
        );
        Self { definition, workspace }
    }
}

#[async_trait]
impl Tool for ReadTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, arguments: &Value) -> CallAccess {
        CallAccess::Read(self.workspace.resolve(path_of(arguments)))
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let wanted: ReadArguments = arguments(call)?;
        let reading = self.workspace.read(&wanted.path, MAX_FILE_BYTES);
        let bytes = unless_cancelled(&context.cancel, reading).await?.bytes;
        if let Some(mime_type) = image_type(&bytes) {
            return image(&wanted.path, mime_type, &bytes);
        }
        if bytes.iter().take(SNIFF_BYTES).any(|byte| *byte == 0) {
            return Err(ToolError::failed(format!(
                "{} is a binary file ({}), not text or a known image: look at it with bash (file, xxd, strings)",
                wanted.path,
                size(bytes.len())
            )));
        }
        lines(&wanted, &String::from_utf8_lossy(&bytes))
    }
}

fn lines(wanted: &ReadArguments, text: &str) -> Result<ToolOutcome, ToolError> {
    let total = count_lines(text);
    let first = wanted.offset.unwrap_or(1).max(1);
    if total == 0 && first == 1 {
        return Ok(ToolOutcome::text("[The file is empty]"));
    }
    if first > total {
        return Err(ToolError::failed(format!("Offset {first} is beyond end of file ({total} lines total)")));
    }
    let starts_at = skip_lines(text, first - 1);
    let rest = &text[starts_at..];
    let asked_for = wanted.limit.map_or(rest, |limit| &rest[..skip_lines(rest, limit)]);
    let cut = head(asked_for, MAX_LINES, MAX_BYTES);
    let Some(truncation) = cut.truncation else {
        let left = total - (first - 1) - count_lines(asked_for);
        let next = total - left + 1;
        return Ok(ToolOutcome::text(match left {
            0 => asked_for.to_owned(),
            _ => with_notice(
                asked_for,
                &format!("[{left} more lines in file. Use offset={next} to continue.]"),
            ),
        }));
    };
    let text = if truncation.line_too_long {
        let length = size(asked_for.lines().next().map_or(0, str::len));
        let path = wanted.path.replace('\'', r"'\''");
        format!(
            "[Line {first} alone has {length}, more than the {} of one call. With bash: sed -n {first}p '{path}' | head -c \
             {MAX_BYTES}]",
            size(MAX_BYTES)
        )
    } else {
        let last = first - 1 + truncation.output_lines;
        let limit = match truncation.truncated_by {
            TruncatedBy::Lines => "",
            TruncatedBy::Bytes => " (50KB limit)",
        };
        let next = last + 1;
        with_notice(
            cut.text,
            &format!("[Showing lines {first}-{last} of {total}{limit}. Use offset={next} to continue.]"),
        )
    };
    Ok(ToolOutcome { details: Some(json!({ "truncation": truncation })), ..ToolOutcome::text(text) })
}

fn with_notice(text: &str, notice: &str) -> String {
    format!("{}\n\n{notice}", text.strip_suffix('\n').unwrap_or(text))
}

/// Where line number `n_lines`, counted from zero, begins.
fn skip_lines(text: &str, n_lines: usize) -> usize {
    text.split_inclusive('\n').take(n_lines).map(str::len).sum()
}

fn image(path: &str, mime_type: &str, bytes: &[u8]) -> Result<ToolOutcome, ToolError> {
    if bytes.len() > MAX_IMAGE_BYTES {
        return Err(ToolError::failed(format!(
            "{path} is an image of {}, more than the {} that can be shown: scale it down with bash first",
            size(bytes.len()),
            size(MAX_IMAGE_BYTES)
        )));
    }
    Ok(ToolOutcome {
        content: vec![
            Content::text(format!("[Image {mime_type}, {}]", size(bytes.len()))),
            Content::Image { data: STANDARD.encode(bytes), mime_type: mime_type.to_owned() },
        ],
        ..ToolOutcome::default()
    })
}

/// By the first bytes; a name proves nothing, and a provider refuses a whole conversation over one wrong type.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// JSON Schema calls `3.0` an integer, and some models write it so.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let Some(number) = Option::<f64>::deserialize(deserializer)? else { return Ok(None) };
    if number.fract() == 0.0 && (0.0..9e15).contains(&number) {
        Ok(Some(number as usize))
    } else {
        Err(serde::de::Error::custom(format!("{number} is no line number; use a whole number from 1")))
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
