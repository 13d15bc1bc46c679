//! The tools with which the model keeps and forgets; [`RetrieveTool`](crate::RetrieveTool) finds.
//!
//! What is kept comes back in later sessions, so these are not offered with a memory by default: whoever puts an agent
//! together decides.

use async_trait::async_trait;
use capstan_ports::tool::ToolContext;
use capstan_ports::{
    CallAccess, Execution, MemoryEntry, MemoryError, MemoryPort, Tool, ToolCall, ToolDefinition, ToolError,
    ToolOutcome,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Lets the model keep something for later conversations.
pub struct RememberTool {
    definition: ToolDefinition,
    memory: Arc<dyn MemoryPort>,
    owner: String,
}

impl RememberTool {
    /// The tool `remember` over this memory, which belongs to the extension `owner`.
    pub fn new(memory: Arc<dyn MemoryPort>, owner: impl Into<String>) -> Self {
        let definition = ToolDefinition {
            name: "remember".to_owned(),
            label: "Remember".to_owned(),
            description:
                "Keep something for later conversations: a preference of the user, a decision, a fact \
                          that was hard to find. One thing at a time, understandable on its own."
                    .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "content": { "type": "string", "minLength": 1, "description": "What to keep" },
                },
                "required": ["content"],
            }),
            execution: Execution::Sequential,
        };
        Self { definition, memory, owner: owner.into() }
    }
}

#[async_trait]
impl Tool for RememberTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, _arguments: &Value) -> CallAccess {
        CallAccess::Sandboxed(self.owner.clone())
    }

    async fn execute(&self, call: &ToolCall, _context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let content = call.arguments["content"].as_str().unwrap_or_default();
        let id = self.memory.store(MemoryEntry::new(content)).await.map_err(failed)?;
        Ok(ToolOutcome::text(format!("Kept as {id}.")))
    }
}

/// Lets the model forget what was kept.
pub struct ForgetTool {
    definition: ToolDefinition,
    memory: Arc<dyn MemoryPort>,
    owner: String,
}

impl ForgetTool {
    /// The tool `forget` over this memory, which belongs to the extension `owner`.
    pub fn new(memory: Arc<dyn MemoryPort>, owner: impl Into<String>) -> Self {
        let definition = ToolDefinition {
            name: "forget".to_owned(),
            label: "Forget".to_owned(),
            description: "Remove something that was kept, by the id that `retrieve` shows.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": { "id": { "type": "string", "minLength": 1, "description": "Its id" } },
                "required": ["id"],
            }),
            execution: Execution::Sequential,
        };
        Self { definition, memory, owner: owner.into() }
    }
}

#[async_trait]
impl Tool for ForgetTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, _arguments: &Value) -> CallAccess {
        CallAccess::Sandboxed(self.owner.clone())
    }

    async fn execute(&self, call: &ToolCall, _context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let id = call.arguments["id"].as_str().unwrap_or_default();
        self.memory.delete(id).await.map_err(failed)?;
        Ok(ToolOutcome::text(format!("Forgotten: {id}.")))
    }
}

fn failed(error: MemoryError) -> ToolError {
    ToolError::Failed { message: error.to_string(), source: Some(Box::new(error)) }
}

#[cfg(test)]
#[path = "remember_tests.rs"]
mod tests;
