//! Lets the model keep facts for the rest of its session. Off unless the program asks for it.

use crate::SessionMemory;
use async_trait::async_trait;
use capstan_ports::tool::ToolContext;
use capstan_ports::{
    CallAccess, Execution, MemoryStore, Tool, ToolCall, ToolDefinition, ToolError, ToolOutcome,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// The tool `session_memory_set`: what the model sets is in the next request's `<session-context>`.
///
/// Its facts stand where the program's own stand, so the model has it only where the program says so
/// ([`AgentBuilder::session_memory_tool`](crate::AgentBuilder::session_memory_tool)). One tool serves all sessions of a store.
pub struct SessionMemorySetTool {
    definition: ToolDefinition,
    store: Arc<dyn MemoryStore>,
}

impl SessionMemorySetTool {
    /// The tool over the store that the sessions keep their facts in.
    pub fn new(store: Arc<dyn MemoryStore>) -> Self {
        let definition = ToolDefinition {
            name: "session_memory_set".to_owned(),
            label: "Session memory".to_owned(),
            description:
                "Keep a fact under a key for the rest of this session. Every later request shows it \
                          in <session-context>; a key that is there already gets the new value."
                    .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "key": { "type": "string", "minLength": 1, "maxLength": 256 },
                    "value": { "type": "string" },
                },
                "required": ["key", "value"],
            }),
            execution: Execution::Sequential,
        };
        Self { definition, store }
    }
}

#[async_trait]
impl Tool for SessionMemorySetTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, _arguments: &Value) -> CallAccess {
        CallAccess::Nothing
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let argument = |name: &str| call.arguments[name].as_str().unwrap_or_default();
        let session = &context.turn.session_id;
        let facts = SessionMemory::of_session(self.store.clone(), session).port();
        let kept = facts.set(session, argument("key"), argument("value")).await;
        kept.map_err(|error| ToolError::Failed {
            message: error.to_string(),
            source: Some(Box::new(error)),
        })?;
        Ok(ToolOutcome::text("Kept for this session."))
    }
}

#[cfg(test)]
#[path = "session_memory_tool_tests.rs"]
mod tests;
