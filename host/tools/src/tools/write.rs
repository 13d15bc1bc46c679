//! `write`: a whole file at once.

use crate::locks::lock;
use crate::tools::known::{KnownFiles, digest};
use crate::tools::{arguments, definition, path_of, unless_cancelled};
use crate::workspace::{WorkspaceRuntime, WriteCondition, Written};
use async_trait::async_trait;
use capstan_ports::message::ToolCall;
use capstan_ports::permission::CallAccess;
use capstan_ports::tool::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Creates and replaces files of a workspace.
pub struct WriteTool {
    definition: ToolDefinition,
    workspace: Arc<dyn WorkspaceRuntime>,
    known: Arc<KnownFiles>,
}

#[derive(Deserialize)]
struct WriteArguments {
    path: String,
    content: String,
}

impl WriteTool {
    /// The tool over `workspace`.
    pub fn new(workspace: Arc<dyn WorkspaceRuntime>) -> Self {
        let definition = definition(
            "write",
            "Create a file (with its folders) or replace all of it. To change a part, use edit.",
            json!({
                "type": "object",
                "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
                "required": ["path", "content"]
            }),
        );
        Self { definition, workspace, known: Arc::default() }
    }

    /// Remembers what it writes in `known`, so that [`EditTool`](crate::EditTool) does not take it for somebody else's.
    #[must_use]
    pub fn with_known_files(mut self, known: Arc<KnownFiles>) -> Self {
        self.known = known;
        self
    }
}

#[async_trait]
impl Tool for WriteTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, arguments: &Value) -> CallAccess {
        CallAccess::Write(self.workspace.resolve(path_of(arguments)))
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let WriteArguments { path, content } = arguments(call)?;
        let real_path = unless_cancelled(&context.cancel, self.workspace.real_path(&path)).await?;
        let _held =
            unless_cancelled(&context.cancel, async { Ok::<_, ToolError>(lock(real_path.clone()).await) })
                .await?;
        let n_bytes = content.len();
        let digest = digest(content.as_bytes());
        let written = self.workspace.write(&path, content.into_bytes(), WriteCondition::Always).await?;
        self.known.wrote(&real_path, digest);
        Ok(ToolOutcome {
            details: Some(json!({ "bytes": n_bytes, "created": written == Written::Created })),
            ..ToolOutcome::text(format!("Successfully wrote {n_bytes} bytes to {path}"))
        })
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
