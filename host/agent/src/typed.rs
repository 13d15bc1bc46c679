//! A tool written as a Rust function over a struct.

use async_trait::async_trait;
use capstan_ports::tool::ToolContext;
use capstan_ports::{CallAccess, Execution, Tool, ToolCall, ToolDefinition, ToolError, ToolOutcome};
use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

type Run<A> = Box<dyn Fn(A, ToolContext) -> BoxFuture<'static, Result<ToolOutcome, ToolError>> + Send + Sync>;
type Access = Arc<dyn Fn(&Value) -> CallAccess + Send + Sync>;

/// A tool whose arguments are the struct `A`: its schema is made from the struct, and the function gets the struct. A call
/// with a wrong type never reaches the function; the model reads which argument is wrong (000-026).
pub struct TypedTool<A> {
    definition: ToolDefinition,
    run: Run<A>,
    access: Access,
}

impl<A: DeserializeOwned + JsonSchema + Send + 'static> TypedTool<A> {
    /// A tool of this name. The documentation of `A`'s fields becomes the descriptions of the arguments.
    pub fn new<F, R>(name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        F: Fn(A, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolOutcome, ToolError>> + Send + 'static,
    {
        let name = name.into();
        Self {
            definition: ToolDefinition {
                label: name.clone(),
                name,
                description: description.into(),
                parameters: schema_for!(A).to_value(),
                execution: Execution::Parallel,
            },
            run: Box::new(move |arguments, context| run(arguments, context).boxed()),
            access: Arc::new(|_| CallAccess::Nothing),
        }
    }

    /// Says what a call touches; without this a call touches nothing outside the process.
    #[must_use]
    pub fn touching(mut self, access: impl Fn(&Value) -> CallAccess + Send + Sync + 'static) -> Self {
        self.access = Arc::new(access);
        self
    }

    /// Runs beside no other call.
    #[must_use]
    pub fn sequential(mut self) -> Self {
        self.definition.execution = Execution::Sequential;
        self
    }
}

#[async_trait]
impl<A: DeserializeOwned + JsonSchema + Send + 'static> Tool for TypedTool<A> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, arguments: &Value) -> CallAccess {
        (self.access)(arguments)
    }

    async fn execute(&self, call: &ToolCall, context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        // The schema says the same as the struct, as far as schemas can; the rest is said here.
        let arguments = serde_json::from_value(call.arguments.clone())
            .map_err(|error| ToolError::InvalidArguments(format!("The arguments do not fit: {error}")))?;
        (self.run)(arguments, context.clone()).await
    }
}

#[cfg(test)]
#[path = "typed_tests.rs"]
mod tests;
