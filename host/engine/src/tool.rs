//! A component's tool as the agent's tool port.

use crate::abi::Interface;
use crate::convert;
use crate::error::CallError;
use crate::extension::{Caller, Extension};
use crate::limits::Role;
use async_trait::async_trait;
use capstan_ports::message::ToolCall;
use capstan_ports::permission::CallAccess;
use capstan_ports::session::SessionId;
use capstan_ports::tool::{Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) struct ComponentTool {
    extension: Extension,
    definition: ToolDefinition,
}

impl ComponentTool {
    pub(crate) fn new(extension: Extension, definition: ToolDefinition) -> Self {
        Self { extension, definition }
    }

    /// What the model reads: a tool that failed is a fact to work with, not the end of the turn.
    fn error(&self, source: CallError) -> ToolError {
        let text =
            format!("The tool {} (extension {}) failed: {source}", self.definition.name, self.extension.id());
        match source {
            CallError::Cancelled => ToolError::Aborted,
            CallError::TimedOut { .. } => ToolError::TimedOut(text),
            source => ToolError::Failed { message: text, source: Some(Box::new(source)) },
        }
    }
}

#[async_trait]
impl Tool for ComponentTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn prepare(&self, arguments: Value) -> Result<Value, ToolError> {
        if !self.extension.exports(Interface::ToolArguments) {
            return Ok(arguments);
        }
        let (tool, text) = (self.definition.name.clone(), arguments.to_string());
        let caller = Caller {
            // Preparing is the same for every session, and may not depend on one.
            session: &SessionId::new("prepare"),
            turn: None,
            cancel: &CancellationToken::new(),
            progress: None,
            input_bytes: text.len(),
        };
        let answer = self.extension.call(Role::Hook, caller, |store, instance, code| {
            Box::pin(async move {
                let Some(indices) = &code.indices.tool_arguments else { return Ok(None) };
                indices.load(&mut *store, instance)?.call_prepare(store, &tool, &text).await.map(Some)
            })
        });
        match answer.await.map_err(|source| self.error(source))? {
            Some(Ok(text)) => {
                convert::json(&text, "the prepared arguments").map_err(|source| self.error(source))
            }
            Some(Err(text)) => Err(ToolError::InvalidArguments(text)),
            None => Err(self.error(CallError::NotExported(Interface::ToolArguments))),
        }
    }

    fn access(&self, _arguments: &Value) -> CallAccess {
        CallAccess::Sandboxed(self.extension.id().to_string())
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let caller = Caller {
            session: &context.turn.session_id,
            turn: Some(context.turn.turn),
            cancel: &context.cancel,
            progress: Some(context.progress.clone()),
            input_bytes: convert::input_bytes(call, None),
        };
        let (turn, call) = (convert::turn_context(&context.turn), convert::tool_call(call));
        let answer = self.extension.call(Role::Tool, caller, |store, instance, code| {
            Box::pin(async move {
                let Some(indices) = &code.indices.tools else { return Ok(None) };
                indices.load(&mut *store, instance)?.call_call(store, &turn, &call).await.map(Some)
            })
        });
        match answer.await.map_err(|source| self.error(source))? {
            Some(Ok(result)) => convert::result_from_guest(result).map_err(|source| self.error(source)),
            Some(Err(text)) => Ok(ToolOutcome::error(text)),
            None => Err(self.error(CallError::NotExported(Interface::Tools))),
        }
    }
}
