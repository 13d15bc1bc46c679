//! A tool of a server, as the model calls it.

use super::definition::Listed;
use super::remote::Remote;
use async_trait::async_trait;
use capstan_ports::tool::ToolContext;
use capstan_ports::{CallAccess, Tool, ToolCall, ToolDefinition, ToolError, ToolOutcome};
use serde_json::Value;
use std::sync::Weak;

/// How much of the arguments a person is shown who decides on a call.
const MAX_SHOWN_CHARS: usize = 2000;

/// One tool of one server, as the user allowed it.
pub(crate) struct RemoteTool {
    /// Weak, because the server holds its tools.
    remote: Weak<Remote>,
    pub(crate) listed: Listed,
    is_read_only: bool,
}

impl RemoteTool {
    pub(crate) fn new(remote: Weak<Remote>, listed: Listed, is_read_only: bool) -> Self {
        Self { remote, listed, is_read_only }
    }
}

#[async_trait]
impl Tool for RemoteTool {
    fn definition(&self) -> &ToolDefinition {
        &self.listed.definition
    }

    /// A server is a program with the user's rights: nothing bounds what a call does. What the server says about that counts for
    /// nothing; what the user says does.
    fn access(&self, arguments: &Value) -> CallAccess {
        if self.is_read_only {
            return CallAccess::Nothing;
        }
        let arguments = arguments.to_string();
        let shown = match arguments.char_indices().nth(MAX_SHOWN_CHARS) {
            Some((end, _)) => format!("{}…", arguments.get(..end).unwrap_or_default()),
            None => arguments,
        };
        CallAccess::Outside(format!("{} {shown}", self.listed.definition.name))
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let remote = self.remote.upgrade();
        let remote = remote.ok_or_else(|| ToolError::failed("The MCP server of this tool is gone"))?;
        let Value::Object(arguments) = &call.arguments else {
            return Err(ToolError::InvalidArguments("the arguments are no object".to_owned()));
        };
        remote.call(self, arguments.clone(), context).await
    }
}
