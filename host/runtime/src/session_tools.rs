//! The tools of a turn: those of the bundle that the role exposes.

use crate::bundle::RuntimeBundle;
use crate::error::AgentError;
use crate::role::Agent;
use async_trait::async_trait;
use capstan_agent::ToolRegistry;
use capstan_ports::tool::ToolContext;
use capstan_ports::{CallAccess, Tool, ToolCall, ToolDefinition, ToolError, ToolOutcome};
use serde_json::Value;
use std::sync::Arc;

/// Fills `tools` with what the role exposes. The loop looks calls up there, so that what is left out cannot be called,
/// whatever the model has read elsewhere (004-006).
pub(crate) fn expose(
    role: &dyn Agent,
    bundle: &RuntimeBundle,
    tools: &ToolRegistry,
) -> Result<(), AgentError> {
    let mut exposed: Vec<Arc<dyn Tool>> = Vec::new();
    for definition in role.tool_definitions(bundle) {
        let Some(tool) = bundle.tool_registry.get(&definition.name) else {
            return Err(AgentError::Config(format!(
                "the role {} exposes the tool `{}`, which the bundle does not have; register it first",
                role.name(),
                definition.name
            )));
        };
        exposed.push(described(tool, definition));
    }
    Ok(tools.replace_all(exposed)?)
}

fn described(tool: Arc<dyn Tool>, wanted: ToolDefinition) -> Arc<dyn Tool> {
    let own = tool.definition();
    if wanted.description == own.description && wanted.label == own.label {
        return tool;
    }
    // The tool relies on its own schema being checked.
    let definition =
        ToolDefinition { parameters: own.parameters.clone(), execution: own.execution, ..wanted };
    Arc::new(Described { definition, tool })
}

/// A tool in the words of a role.
struct Described {
    definition: ToolDefinition,
    tool: Arc<dyn Tool>,
}

#[async_trait]
impl Tool for Described {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn prepare(&self, arguments: Value) -> Result<Value, ToolError> {
        self.tool.prepare(arguments).await
    }

    fn access(&self, arguments: &Value) -> CallAccess {
        self.tool.access(arguments)
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        self.tool.execute(call, context).await
    }
}
