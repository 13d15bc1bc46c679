//! The tools themselves: what the model sees of them, and how a call goes.

mod bash;
mod edit;
mod read;
mod write;

pub use bash::BashTool;
pub use edit::EditTool;
pub use read::ReadTool;
pub use write::WriteTool;

use capstan_ports::message::ToolCall;
use capstan_ports::tool::{ToolDefinition, ToolError};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::Future;
use tokio_util::sync::CancellationToken;

fn definition(name: &str, description: &str, parameters: Value) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        label: name.to_owned(),
        description: description.to_owned(),
        parameters,
        execution: capstan_ports::tool::Execution::Parallel,
    }
}

/// The host has checked the arguments against the schema; this still names what is wrong, for callers that have not.
fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, ToolError> {
    T::deserialize(&call.arguments)
        .map_err(|error| ToolError::InvalidArguments(format!("invalid arguments for {}: {error}", call.name)))
}

/// The path that a call names, for the permission decision. A call without one fails later, before it touches anything.
fn path_of(arguments: &Value) -> &str {
    arguments.get("path").and_then(Value::as_str).unwrap_or_default()
}

/// Stops waiting for `work` when the run is aborted. Not for writing: what has begun there is carried through.
async fn unless_cancelled<T, E: Into<ToolError>>(
    cancel: &CancellationToken,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, ToolError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ToolError::Aborted),
        result = work => result.map_err(Into::into),
    }
}
