//! `grep`: lines by a pattern of their text.

use crate::tools::matches::{Found, InFile, searcher};
use crate::tools::{arguments, definition, found, start_of, unless_cancelled, whole_number};
use crate::workspace::{Choice, EntryKind, Visitor, WalkEntry, Walked, WorkspaceRuntime};
use async_trait::async_trait;
use capstan_ports::message::ToolCall;
use capstan_ports::permission::CallAccess;
use capstan_ports::tool::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::Searcher;
use ignore::Match;
use ignore::overrides::{Override, OverrideBuilder};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Matching lines shown when the call names no number.
const DEFAULT_LIMIT: usize = 100;

/// Lines around a match at most. Many more than one result holds anyway; keeps the search from buffering whole files.
const MAX_CONTEXT: usize = 1000;

/// Searches the files of a workspace.
pub struct GrepTool {
    definition: ToolDefinition,
    workspace: Arc<dyn WorkspaceRuntime>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GrepArguments {
    pattern: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    glob: Option<String>,
    #[serde(default)]
    ignore_case: Option<bool>,
    #[serde(default)]
    literal: Option<bool>,
    #[serde(default, deserialize_with = "whole_number")]
    context: Option<usize>,
    #[serde(default, deserialize_with = "whole_number")]
    limit: Option<usize>,
}

impl GrepTool {
    /// The tool over `workspace`.
    pub fn new(workspace: Arc<dyn WorkspaceRuntime>) -> Self {
        let definition = definition(
            "grep",
            "Search file contents, hidden files too; skips binary files and what .gitignore names. Paths are relative to \
             the searched directory.",
            json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "Regular expression"},
                    "path": {"type": "string", "description": "Directory or file; default: the workspace"},
                    "glob": {"type": "string", "description": "Only these files, such as *.ts; ! excludes"},
                    "ignoreCase": {"type": "boolean"},
                    "literal": {"type": "boolean", "description": "Take the pattern as plain text"},
                    "context": {"type": "integer", "minimum": 0, "description": "Lines around each match"},
                    "limit": {"type": "integer", "minimum": 1, "description": "Default 100"}
                },
                "required": ["pattern"]
            }),
        );
        Self { definition, workspace }
    }
}

#[async_trait]
impl Tool for GrepTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, arguments: &Value) -> CallAccess {
        CallAccess::Read(self.workspace.resolve(start_of(arguments.get("path").and_then(Value::as_str))))
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let wanted: GrepArguments = arguments(call)?;
        let limit = wanted.limit.unwrap_or(DEFAULT_LIMIT).max(1);
        // Stops a file that is being read when nobody waits for the call any more.
        let cancel = context.cancel.child_token();
        let _stops = cancel.clone().drop_guard();
        let search = Arc::new(Search {
            matcher: matcher(&wanted)?,
            only: only(wanted.glob.as_deref())?,
            limit,
            cancel: cancel.clone(),
            state: Mutex::new(State {
                searcher: searcher(wanted.context.unwrap_or(0).min(MAX_CONTEXT)),
                found: Found::default(),
                n_unreadable: 0,
                n_binary: 0,
            }),
        });
        let walking = self.workspace.walk(start_of(wanted.path.as_deref()), search.clone(), &cancel);
        let walked = unless_cancelled(&context.cancel, walking).await?;
        let state = search.state.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(state.outcome(limit, &walked))
    }
}

fn matcher(wanted: &GrepArguments) -> Result<RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_insensitive(wanted.ignore_case.unwrap_or(false))
        .fixed_strings(wanted.literal.unwrap_or(false))
        .multi_line(true)
        // `$` holds before either line end.
        .crlf(true)
        .build(&wanted.pattern)
        .map_err(|error| {
            ToolError::InvalidArguments(format!(
                "the pattern cannot be searched for: {error}. Set literal to look for it as plain text, one line at most"
            ))
        })
}

fn only(glob: Option<&str>) -> Result<Override, ToolError> {
    let Some(glob) = glob.filter(|glob| !glob.is_empty()) else { return Ok(Override::empty()) };
    let invalid = |error| ToolError::InvalidArguments(format!("glob {glob} is no glob: {error}"));
    let mut builder = OverrideBuilder::new(".");
    builder.add(glob).map_err(invalid)?;
    builder.build().map_err(invalid)
}

struct Search {
    matcher: RegexMatcher,
    only: Override,
    limit: usize,
    cancel: CancellationToken,
    state: Mutex<State>,
}

struct State {
    searcher: Searcher,
    found: Found,
    /// Files that could not be opened or read to their end.
    n_unreadable: usize,
    n_binary: usize,
}

impl Visitor for Search {
    /// As with ripgrep, a file that the glob names is searched even if it is ignored. A directory is not: `*` would open
    /// every folder of dependencies.
    fn choose(&self, path: &Path, is_directory: bool) -> Choice {
        match self.only.matched(path, is_directory) {
            Match::Ignore(_) => Choice::Leave,
            Match::Whitelist(_) if !is_directory => Choice::Take,
            Match::Whitelist(_) | Match::None => Choice::ByRules,
        }
    }

    fn visit(&self, entry: &dyn WalkEntry) -> ControlFlow<()> {
        if entry.kind() != EntryKind::File {
            return ControlFlow::Continue(());
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { searcher, found, n_unreadable, n_binary } = &mut *state;
        let name = entry.path().to_string_lossy();
        let mut in_file = InFile::new(found::visible(&name).into_owned(), found, self.limit);
        let read = entry.open().and_then(|file| {
            searcher.search_reader(&self.matcher, Abortable { file, cancel: &self.cancel }, &mut in_file)
        });
        *n_unreadable += usize::from(read.is_err());
        *n_binary += usize::from(in_file.is_binary);
        found.add(in_file);
        if found.is_complete() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl State {
    fn outcome(&self, limit: usize, walked: &Walked) -> ToolOutcome {
        let mut notices = Vec::new();
        let mut details = Map::new();
        if self.found.is_more {
            notices.push(format!(
                "The limit of {limit} matches is reached. Use limit={} for more, or a narrower pattern",
                limit.saturating_mul(2)
            ));
            details.insert("matchLimitReached".to_owned(), limit.into());
        }
        if self.found.has_cut_lines {
            notices.push("Long lines are cut to 500 characters; read shows them whole".to_owned());
            details.insert("linesTruncated".to_owned(), true.into());
        }
        if self.n_unreadable > 0 {
            notices.push(format!("Files that could not be searched whole: {}", self.n_unreadable));
        }
        if walked.began_at_file && self.n_binary > 0 {
            notices.push("The file is binary and was not searched".to_owned());
        }
        found::listed(&self.found.lines, "No matches found", notices, details, walked)
    }
}

/// A file that ends with an error when the run is aborted. However large it is, the thread is soon free.
struct Abortable<'a> {
    file: Box<dyn Read + 'a>,
    cancel: &'a CancellationToken,
}

impl Read for Abortable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("the run was aborted"));
        }
        self.file.read(buffer)
    }
}

#[cfg(test)]
#[path = "grep_tests.rs"]
mod tests;
