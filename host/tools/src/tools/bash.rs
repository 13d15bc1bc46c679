//! `bash`: a command line, with the end of what it says.

use crate::command::{CommandEnd, CommandOutcome, CommandRequest, CommandRuntime, Output, OutputSink};
use crate::text::truncate::{MAX_BYTES, TruncatedBy, size};
use crate::tools::{arguments, definition};
use crate::workspace::WorkspaceRuntime;
use async_trait::async_trait;
use capstan_ports::message::ToolCall;
use capstan_ports::permission::CallAccess;
use capstan_ports::tool::{Progress, Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Runs commands in a workspace's directory.
pub struct BashTool {
    definition: ToolDefinition,
    workspace: Arc<dyn WorkspaceRuntime>,
    commands: Arc<dyn CommandRuntime>,
}

#[derive(Deserialize)]
struct BashArguments {
    command: String,
    timeout: Option<f64>,
}

impl BashTool {
    /// The tool over `commands`, which start in the directory of `workspace`.
    pub fn new(workspace: Arc<dyn WorkspaceRuntime>, commands: Arc<dyn CommandRuntime>) -> Self {
        let definition = definition(
            "bash",
            "Run a bash command in the workspace directory. Returns stdout and stderr together, cut to the last 2000 lines \
             or 50KB. No stdin. Background processes must redirect their output.",
            json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string"},
                    "timeout": {"type": "number", "description": "Seconds; default none"}
                },
                "required": ["command"]
            }),
        );
        Self { definition, workspace, commands }
    }
}

#[async_trait]
impl Tool for BashTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, arguments: &Value) -> CallAccess {
        let command = arguments.get("command").and_then(Value::as_str).unwrap_or_default();
        CallAccess::Execute(command.to_owned())
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let BashArguments { command, timeout } = arguments(call)?;
        let timeout = timeout.map(seconds).transpose()?;
        let request =
            CommandRequest { command, directory: self.workspace.directory().to_path_buf(), timeout };
        let sink = Reports(&*context.progress);
        let outcome = self.commands.run(request, &sink, &context.cancel).await?;
        Ok(result(&outcome))
    }
}

/// Passes output on to whoever watches the call.
struct Reports<'a>(&'a dyn Progress);

impl OutputSink for Reports<'_> {
    fn output(&self, tail: &str) {
        self.0.report(ToolOutcome::text(tail));
    }
}

fn seconds(timeout: f64) -> Result<Duration, ToolError> {
    match Duration::try_from_secs_f64(timeout) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err(ToolError::InvalidArguments(format!(
            "timeout is {timeout}: give a number of seconds above 0, or leave it out"
        ))),
    }
}

/// An aborted or failed command is an error result rather than a [`ToolError`], because its output is worth having.
fn result(outcome: &CommandOutcome) -> ToolOutcome {
    let Output { text, truncation, full_output, .. } = &outcome.output;
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(text.clone());
    } else if matches!(outcome.end, CommandEnd::Exited(_)) {
        parts.push("(no output)".to_owned());
    }
    parts.extend(notice(&outcome.output));
    let (end, exit_code) = match outcome.end {
        CommandEnd::Exited(0) => (None, Some(0)),
        CommandEnd::Exited(code) => (Some(format!("Command exited with code {code}")), Some(code)),
        CommandEnd::Signalled(signal) => (Some(format!("Command was killed by signal {signal}")), None),
        CommandEnd::Cancelled => (Some("(command cancelled)".to_owned()), None),
        CommandEnd::TimedOut(limit) => {
            (Some(format!("Command timed out after {} seconds", limit.as_secs_f64())), None)
        }
    };
    let is_error = end.is_some();
    parts.extend(end);
    let mut details = json!({
        "exitCode": exit_code,
        "cancelled": outcome.end == CommandEnd::Cancelled,
        "timedOut": matches!(outcome.end, CommandEnd::TimedOut(_)),
        "truncated": truncation.is_some(),
    });
    if let Some(truncation) = truncation {
        details["truncation"] = json!(truncation);
    }
    if let Some(path) = full_output {
        details["fullOutputPath"] = json!(path.to_string_lossy());
    }
    let text = join(&parts);
    ToolOutcome { details: Some(details), is_error, ..ToolOutcome::text(text) }
}

/// Parts with an empty line between them. Output alone stays as the command wrote it.
fn join(parts: &[String]) -> String {
    let last = parts.len().saturating_sub(1);
    let trimmed = parts.iter().enumerate().map(|(index, part)| match index == last {
        true => part.as_str(),
        false => part.strip_suffix('\n').unwrap_or(part),
    });
    trimmed.collect::<Vec<_>>().join("\n\n")
}

fn notice(output: &Output) -> Option<String> {
    let truncation = output.truncation?;
    let total = truncation.total_lines;
    let shown = match (truncation.line_too_long, truncation.truncated_by) {
        (true, _) => format!("the last {} of line {total}", size(truncation.output_bytes)),
        (false, by) => {
            let first = total + 1 - truncation.output_lines;
            let limit = match by {
                TruncatedBy::Lines => String::new(),
                TruncatedBy::Bytes => format!(" ({} limit)", size(MAX_BYTES)),
            };
            format!("lines {first}-{total} of {total}{limit}")
        }
    };
    Some(match &output.full_output {
        Some(path) if output.full_output_is_whole => {
            format!("[Showing {shown}. Full output: {}]", path.display())
        }
        Some(path) => format!("[Showing {shown}. The beginning of the output: {}]", path.display()),
        None => format!("[Showing {shown}. The rest could not be kept]"),
    })
}

#[cfg(test)]
#[path = "bash_tests.rs"]
mod tests;
