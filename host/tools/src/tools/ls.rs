//! `ls`: the names in a directory.

use crate::text::truncate::{MAX_BYTES, head};
use crate::tools::{arguments, definition, found, start_of, unless_cancelled, whole_number};
use crate::workspace::WorkspaceRuntime;
use async_trait::async_trait;
use capstan_ports::message::ToolCall;
use capstan_ports::permission::CallAccess;
use capstan_ports::tool::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Entries shown when the call names no number.
const DEFAULT_LIMIT: usize = 500;

/// Lists directories of a workspace.
pub struct LsTool {
    definition: ToolDefinition,
    workspace: Arc<dyn WorkspaceRuntime>,
}

#[derive(Deserialize)]
struct LsArguments {
    #[serde(default)]
    path: Option<String>,
    #[serde(default, deserialize_with = "whole_number")]
    limit: Option<usize>,
}

impl LsTool {
    /// The tool over `workspace`.
    pub fn new(workspace: Arc<dyn WorkspaceRuntime>) -> Self {
        let definition = definition(
            "ls",
            "List a directory, dotfiles too; directories end in /.",
            json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Default: the workspace"},
                    "limit": {"type": "integer", "minimum": 1, "description": "Default 500"}
                }
            }),
        );
        Self { definition, workspace }
    }
}

#[async_trait]
impl Tool for LsTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, arguments: &Value) -> CallAccess {
        CallAccess::Read(self.workspace.resolve(start_of(arguments.get("path").and_then(Value::as_str))))
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let LsArguments { path, limit } = arguments(call)?;
        let limit = limit.unwrap_or(DEFAULT_LIMIT).max(1);
        let listing = self.workspace.list(start_of(path.as_deref()), &context.cancel);
        let listing = unless_cancelled(&context.cancel, listing).await?;
        let mut entries = listing.entries;
        if entries.is_empty() {
            return Ok(ToolOutcome::text("(empty directory)"));
        }
        // The second part of the key keeps the order the same when names differ only in case.
        entries.sort_by_cached_key(|entry| (entry.name.to_lowercase(), entry.name.clone()));
        let n_entries = entries.len();
        let lines: Vec<_> = entries
            .iter()
            .take(limit)
            .map(|entry| {
                format!("{}{}", found::visible(&entry.name), if entry.is_directory { "/" } else { "" })
            })
            .collect();
        let text = lines.join("\n");
        let mut notices = Vec::new();
        let mut details = Map::new();
        if n_entries > limit {
            notices.push(format!("Showing {limit} of {n_entries} entries. Use limit={n_entries} for all"));
            details.insert("entryLimitReached".to_owned(), limit.into());
        }
        if !listing.is_whole {
            notices.push(format!("The directory has more than {n_entries} entries; the rest was not read"));
        }
        let cut = head(&text, usize::MAX, MAX_BYTES);
        if let Some(truncation) = cut.truncation {
            notices.push(found::BYTES_NOTICE.to_owned());
            details.insert("truncation".to_owned(), json!(truncation));
        }
        Ok(found::outcome(cut.text, &notices, details))
    }
}

#[cfg(test)]
#[path = "ls_tests.rs"]
mod tests;
