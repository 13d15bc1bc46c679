//! `find`: files and directories by a pattern of their names.

use crate::tools::{arguments, definition, found, start_of, unless_cancelled, whole_number};
use crate::workspace::{Choice, EntryKind, Visitor, WalkEntry, WorkspaceRuntime};
use async_trait::async_trait;
use capstan_ports::message::ToolCall;
use capstan_ports::permission::CallAccess;
use capstan_ports::tool::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome};
use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Paths shown when the call names no number.
const DEFAULT_LIMIT: usize = 1000;

/// Finds files of a workspace by name.
pub struct FindTool {
    definition: ToolDefinition,
    workspace: Arc<dyn WorkspaceRuntime>,
}

#[derive(Deserialize)]
struct FindArguments {
    pattern: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default, deserialize_with = "whole_number")]
    limit: Option<usize>,
}

impl FindTool {
    /// The tool over `workspace`.
    pub fn new(workspace: Arc<dyn WorkspaceRuntime>) -> Self {
        let definition = definition(
            "find",
            "Find files by glob, hidden ones too; skips what .gitignore names. Paths are relative to the searched \
             directory.",
            json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "Such as *.ts or src/**/*_test.py"},
                    "path": {"type": "string", "description": "Directory; default: the workspace"},
                    "limit": {"type": "integer", "minimum": 1, "description": "Default 1000"}
                },
                "required": ["pattern"]
            }),
        );
        Self { definition, workspace }
    }
}

#[async_trait]
impl Tool for FindTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, arguments: &Value) -> CallAccess {
        CallAccess::Read(self.workspace.resolve(start_of(arguments.get("path").and_then(Value::as_str))))
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let FindArguments { pattern, path, limit } = arguments(call)?;
        let limit = limit.unwrap_or(DEFAULT_LIMIT).max(1);
        let finder = Arc::new(Finder { names: Names::new(&pattern)?, limit, paths: Mutex::default() });
        let walking = self.workspace.walk(start_of(path.as_deref()), finder.clone(), &context.cancel);
        let walked = unless_cancelled(&context.cancel, walking).await?;
        let paths = finder.paths.lock().unwrap_or_else(PoisonError::into_inner);
        let mut notices = Vec::new();
        let mut details = Map::new();
        if paths.is_more {
            notices.push(format!(
                "The limit of {limit} results is reached. Use limit={} for more, or a narrower pattern",
                limit.saturating_mul(2)
            ));
            details.insert("resultLimitReached".to_owned(), limit.into());
        }
        Ok(found::listed(&paths.lines, "No files found matching pattern", notices, details, &walked))
    }
}

/// What a pattern takes.
struct Names {
    glob: GlobMatcher,
    /// With a slash in it a pattern is about the path, at any depth; without one, about the last name alone.
    is_about_path: bool,
}

impl Names {
    fn new(pattern: &str) -> Result<Self, ToolError> {
        let trimmed = pattern.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
        let is_about_path = trimmed.contains('/');
        let anywhere = match is_about_path && !trimmed.starts_with("**/") {
            true => format!("**/{trimmed}"),
            false => trimmed.to_owned(),
        };
        let glob = GlobBuilder::new(&anywhere)
            .literal_separator(true)
            // Like fd: who writes a capital letter means it.
            .case_insensitive(!trimmed.chars().any(char::is_uppercase))
            .build()
            .map_err(|error| {
                ToolError::InvalidArguments(format!("the pattern {pattern} is no glob: {}", error.kind()))
            })?;
        Ok(Self { glob: glob.compile_matcher(), is_about_path })
    }

    fn take(&self, path: &Path) -> bool {
        if self.is_about_path {
            return self.glob.is_match(path);
        }
        path.file_name().is_some_and(|name| self.glob.is_match(name))
    }
}

struct Finder {
    names: Names,
    limit: usize,
    paths: Mutex<Paths>,
}

#[derive(Default)]
struct Paths {
    lines: found::Lines,
    is_more: bool,
}

impl Visitor for Finder {
    fn choose(&self, _path: &Path, _is_directory: bool) -> Choice {
        Choice::ByRules
    }

    fn visit(&self, entry: &dyn WalkEntry) -> ControlFlow<()> {
        if !self.names.take(entry.path()) {
            return ControlFlow::Continue(());
        }
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if paths.lines.len() == self.limit {
            paths.is_more = true;
            return ControlFlow::Break(());
        }
        let slash = if entry.kind() == EntryKind::Directory { "/" } else { "" };
        paths.lines.push(format!("{}{slash}", found::visible(&entry.path().to_string_lossy())))
    }
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
