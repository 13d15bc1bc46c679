//! The tools themselves: what the model sees of them, and how a call goes.

mod bash;
mod edit;
mod find;
mod found;
mod grep;
mod known;
mod ls;
mod matches;
mod picture;
mod read;
mod write;

pub use bash::BashTool;
pub use edit::EditTool;
pub use find::FindTool;
pub use grep::GrepTool;
pub use known::KnownFiles;
pub use ls::LsTool;
pub use read::ReadTool;
pub use write::WriteTool;

use capstan_ports::message::ToolCall;
use capstan_ports::tool::{ToolDefinition, ToolError};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
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

/// Where a search begins: the path that the call names, or the workspace's directory. Models write an empty path for
/// none.
fn start_of(path: Option<&str>) -> &str {
    path.filter(|path| !path.is_empty()).unwrap_or(".")
}

/// JSON Schema calls `3.0` an integer, and some models write it so.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let Some(number) = Option::<f64>::deserialize(deserializer)? else { return Ok(None) };
    if number.fract() == 0.0 && (0.0..9e15).contains(&number) {
        Ok(Some(number as usize))
    } else {
        Err(D::Error::custom(format!("{number} is no number of lines or entries; use a whole number from 1")))
    }
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
