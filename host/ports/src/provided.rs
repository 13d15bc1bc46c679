//! Tools as seed 003 sees them: a provider lists them, a runtime executes them.

use crate::message::{Message, ToolCall, ToolResultMessage, now_ms};
use crate::permission::CallAccess;
use crate::tool::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome};
use async_trait::async_trait;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// Lists tools. Asked once a turn, so that tools may come and go between turns.
pub trait ToolProvider: Send + Sync {
    /// What the model can call now; may be empty.
    fn list_tools(&self) -> Vec<ToolDefinition>;
}

/// Executes the calls of tools that a provider lists.
#[async_trait]
pub trait ToolRuntime: Send + Sync {
    /// Runs one call, whose arguments satisfy the schema. `name` and `call` are those after every rewrite.
    ///
    /// # Errors
    /// Becomes an error result that the model reads; the turn goes on.
    async fn execute(
        &self,
        name: &str,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<ToolOutcome, RuntimeError>;

    /// What a call would touch; the permission decision looks at it.
    fn access(&self, _name: &str, _arguments: &Value) -> CallAccess {
        CallAccess::Nothing
    }
}

/// Why a runtime did not execute a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The tool failed.
    #[error("{message}")]
    InvocationFailed {
        /// What the model reads.
        message: String,
        /// What lies beneath.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The tool could not be reached.
    #[error("the tool could not be reached: {message}")]
    Transport {
        /// What the model reads.
        message: String,
        /// What lies beneath.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The runtime does not know the tool.
    #[error("Tool {name} not found")]
    UnknownTool {
        /// Its name.
        name: String,
    },
}

impl RuntimeError {
    /// A failure of one text.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::InvocationFailed { message: message.into(), source: None }
    }
}

impl From<RuntimeError> for ToolError {
    fn from(error: RuntimeError) -> Self {
        Self::Failed { message: error.to_string(), source: Some(Box::new(error)) }
    }
}

/// A tool of a provider, executed by a runtime: how seed 003's tools enter the one executor.
pub struct ProvidedTool {
    definition: ToolDefinition,
    runtime: Arc<dyn ToolRuntime>,
}

impl ProvidedTool {
    /// Ties a definition to what executes it.
    pub fn new(definition: ToolDefinition, runtime: Arc<dyn ToolRuntime>) -> Self {
        Self { definition, runtime }
    }
}

#[async_trait]
impl Tool for ProvidedTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, arguments: &Value) -> CallAccess {
        self.runtime.access(&self.definition.name, arguments)
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        Ok(self.runtime.execute(&call.name, call, context).await?)
    }
}

/// Several providers as one, in their order. Of tools with one name the first counts.
#[derive(Clone, Default)]
pub struct CompositeToolProvider {
    providers: Vec<Arc<dyn ToolProvider>>,
}

impl CompositeToolProvider {
    /// These providers.
    pub fn new(providers: impl IntoIterator<Item = Arc<dyn ToolProvider>>) -> Self {
        Self { providers: providers.into_iter().collect() }
    }

    /// Names that more than one provider lists, or one lists twice; for a report to the user.
    pub fn duplicates(&self) -> Vec<String> {
        self.partition().1
    }

    fn partition(&self) -> (Vec<ToolDefinition>, Vec<String>) {
        let (mut names, mut tools, mut duplicates) = (HashSet::new(), Vec::new(), Vec::new());
        for tool in self.providers.iter().flat_map(|provider| provider.list_tools()) {
            if names.insert(tool.name.clone()) {
                tools.push(tool);
            } else if !duplicates.contains(&tool.name) {
                duplicates.push(tool.name);
            }
        }
        (tools, duplicates)
    }
}

impl ToolProvider for CompositeToolProvider {
    fn list_tools(&self) -> Vec<ToolDefinition> {
        self.partition().0
    }
}

/// The message of a call that ran.
pub fn build_tool_result_message(call: &ToolCall, result: &ToolOutcome) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: result.content.clone(),
        details: result.details.clone(),
        is_error: result.is_error,
        timestamp: now_ms(),
    })
}

/// The message of a call that failed.
pub fn build_error_message(call: &ToolCall, error: &RuntimeError) -> Message {
    build_tool_result_message(call, &ToolOutcome::error(error.to_string()))
}

#[cfg(test)]
#[path = "provided_tests.rs"]
mod tests;
