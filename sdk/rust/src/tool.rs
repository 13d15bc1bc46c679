//! Tools that the model calls.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::bindings::contract::exports::capstan::extension::extension as contract;
use crate::types::{ToolCall, ToolResult, TurnContext};
use crate::{Error, host, json};

pub use contract::Execution;

/// What a tool answers. Text becomes one by itself.
pub type Output = ToolResult;

/// One running call of a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// The provider's id of this call.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// Where in the conversation the call happens.
    pub context: TurnContext,
}

impl Call {
    /// Shows a partial result. It replaces what was reported before and holds at most 64 KiB.
    pub fn progress(&self, text: impl AsRef<str>) {
        host::progress::report(text.as_ref());
    }

    /// True once the user has aborted. A call that goes on is stopped a moment later.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        host::cancellation::is_cancelled()
    }
}

/// What a tool function may answer.
pub trait IntoOutput {
    /// The result, or the text that the model reads as the call's error.
    ///
    /// # Errors
    ///
    /// The tool could not do its work.
    fn into_output(self) -> Result<Output, Error>;
}

impl IntoOutput for Output {
    fn into_output(self) -> Result<Output, Error> {
        Ok(self)
    }
}

impl IntoOutput for String {
    fn into_output(self) -> Result<Output, Error> {
        Ok(Output::text(self))
    }
}

impl IntoOutput for &str {
    fn into_output(self) -> Result<Output, Error> {
        Ok(Output::text(self))
    }
}

impl<T: IntoOutput, E: Into<Error>> IntoOutput for Result<T, E> {
    fn into_output(self) -> Result<Output, Error> {
        self.map_err(Into::into)?.into_output()
    }
}

/// A tool of the extension; made by [`tool`].
pub struct Tool {
    name: &'static str,
    label: &'static str,
    description: Option<&'static str>,
    execution: Execution,
    body: Box<dyn Body>,
}

/// A tool with this name (`[a-zA-Z0-9_-]{1,64}`) that runs `function`.
///
/// The type of the function's first parameter gives the schema, the validation, and, by its documentation comment,
/// the description that the model reads. An argument that does not fit never reaches the function.
pub fn tool<A, R, F>(name: &'static str, function: F) -> Tool
where
    A: DeserializeOwned + JsonSchema + 'static,
    R: IntoOutput + 'static,
    F: Fn(A, &Call) -> R + 'static,
{
    Tool {
        name,
        label: "",
        description: None,
        execution: Execution::Parallel,
        body: Box::new(Typed { function, types: PhantomData }),
    }
}

impl Tool {
    /// What the model reads to decide when and how to call, at most 8 KiB. Without it: the comment of the argument type.
    #[must_use]
    pub fn describe(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// A short name for screens. Without it: the name.
    #[must_use]
    pub fn label(mut self, label: &'static str) -> Self {
        self.label = label;
        self
    }

    /// Runs every batch that holds a call of this tool one call after another.
    #[must_use]
    pub fn sequential(mut self) -> Self {
        self.execution = Execution::Sequential;
        self
    }

    pub(crate) fn into_contract(self) -> contract::Tool {
        let documented = self.body.schema();
        contract::Tool {
            name: self.name.to_owned(),
            label: self.label.to_owned(),
            description: self.description.map(str::to_owned).or(documented.description).unwrap_or_default(),
            parameters: documented.schema,
            execution: self.execution,
        }
    }
}

trait Body {
    fn schema(&self) -> json::Documented;
    fn run(&self, arguments: &str, call: &Call) -> Result<Output, Error>;
}

struct Typed<A, R, F> {
    function: F,
    types: PhantomData<fn(A) -> R>,
}

impl<A, R, F> Body for Typed<A, R, F>
where
    A: DeserializeOwned + JsonSchema,
    R: IntoOutput,
    F: Fn(A, &Call) -> R,
{
    fn schema(&self) -> json::Documented {
        json::schema::<A>()
    }

    fn run(&self, arguments: &str, call: &Call) -> Result<Output, Error> {
        let arguments = json::parse(arguments, "the arguments")?;
        (self.function)(arguments, call).into_output()
    }
}

/// Runs the tool that a call names.
pub(crate) fn dispatch(
    tools: impl IntoIterator<Item = Tool>,
    context: TurnContext,
    call: ToolCall,
) -> Result<ToolResult, String> {
    let tool = tools
        .into_iter()
        .find(|tool| tool.name == call.name)
        .ok_or_else(|| format!("this extension has no tool `{}`", call.name))?;
    let ToolCall { id, name, arguments } = call;
    let call = Call { id, tool: name, context };
    tool.body.run(&arguments, &call).map_err(Error::into_message)
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;
