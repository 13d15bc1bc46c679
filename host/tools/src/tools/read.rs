//! `read`: text by lines, images as they are.

use crate::error::RuntimeError;
use crate::locks::lock;
use crate::text::fold::{Folded, Folding};
use crate::text::truncate::{MAX_BYTES, MAX_LINES, TruncatedBy, count_lines, head, size};
use crate::tools::found::visible;
use crate::tools::known::{KnownFiles, digest};
use crate::tools::{arguments, definition, path_of, picture, start_of, unless_cancelled, whole_number};
use crate::workspace::WorkspaceRuntime;
use async_trait::async_trait;
use capstan_ports::message::ToolCall;
use capstan_ports::permission::CallAccess;
use capstan_ports::tool::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The whole file is in memory while its lines are counted. Ten parallel reads of this size are still harmless.
const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;

/// Text has no zero byte in its first part; the same rule as git's.
const SNIFF_BYTES: usize = 8000;

/// Reads files of a workspace.
pub struct ReadTool {
    definition: ToolDefinition,
    workspace: Arc<dyn WorkspaceRuntime>,
    known: Arc<KnownFiles>,
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
        Self { definition, workspace, known: Arc::default() }
    }

    /// The path of a file beside the missing `path` whose name differs only in case, quotes, spaces or Unicode form, as the
    /// names of screenshots do that a model writes down again. It is told rather than read: whoever allowed the call
    /// allowed the path that it names.
    async fn similar(&self, path: &str, cancel: &CancellationToken) -> Option<String> {
        let (folder, name) = match path.rsplit_once('/') {
            Some((folder, name)) => (format!("{folder}/"), name),
            None => (String::new(), path),
        };
        let listing = self.workspace.list(start_of(Some(&folder)), cancel).await.ok()?;
        let key = |name: &str| Folded::new(name, Folding::Loose).text.to_lowercase();
        let wanted = key(name);
        let found = listing.entries.into_iter().find(|entry| key(&entry.name) == wanted)?;
        Some(format!("{folder}{}", visible(&found.name)))
    }

    /// Remembers what it reads in `known`, so that [`EditTool`](crate::EditTool) notices when a file is changed by
    /// something else afterwards.
    #[must_use]
    pub fn with_known_files(mut self, known: Arc<KnownFiles>) -> Self {
        self.known = known;
        self
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
        let real_path = unless_cancelled(&context.cancel, self.workspace.real_path(&wanted.path)).await?;
        // An edit of the same round may be under way; what is remembered must be what is shown.
        let _held =
            unless_cancelled(&context.cancel, async { Ok::<_, ToolError>(lock(real_path.clone()).await) })
                .await?;
        let reading = async {
            match self.workspace.read(&wanted.path, MAX_FILE_BYTES).await {
                Err(missing @ RuntimeError::NotFound { .. }) => {
                    let similar = self.similar(&wanted.path, &context.cancel).await;
                    Err(explained(missing, similar.as_deref()))
                }
                result => result.map_err(ToolError::from),
            }
        };
        let bytes = unless_cancelled(&context.cancel, reading).await?.bytes;
        let known = Arc::clone(&self.known);
        // The digest and the lines of a large file take time that other calls of the round should not wait for.
        let showing = tokio::task::spawn_blocking(move || {
            let outcome = shown(&wanted, &bytes)?;
            known.read(&real_path, digest(&bytes));
            Ok(outcome)
        });
        unless_cancelled(&context.cancel, async {
            showing.await.map_err(|source| RuntimeError::Interrupted { source })
        })
        .await?
    }
}

/// A missing file with the name that was probably meant.
fn explained(missing: RuntimeError, similar: Option<&str>) -> ToolError {
    let message = match similar {
        Some(similar) => format!("{missing}. There is one that is named almost so: {similar}"),
        None => missing.to_string(),
    };
    ToolError::Failed { message, source: Some(Box::new(missing)) }
}

fn shown(wanted: &ReadArguments, bytes: &[u8]) -> Result<ToolOutcome, ToolError> {
    if let Some(mime_type) = picture::mime_type(bytes) {
        return picture::shown(&wanted.path, mime_type, bytes);
    }
    if bytes.iter().take(SNIFF_BYTES).any(|byte| *byte == 0) {
        return Err(ToolError::failed(format!(
            "{} is a binary file ({}), not text or a known image: look at it with bash (file, xxd, strings)",
            wanted.path,
            size(bytes.len())
        )));
    }
    lines(wanted, &String::from_utf8_lossy(bytes))
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

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
