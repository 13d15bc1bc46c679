//! What a client hears of a command.

use crate::output::Output;
use crate::screen;
use serde::Serialize;
use serde_json::Value;

/// The answer to one command. Its data is there, as null, where the command answers that there is nothing.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Response {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    #[serde(rename = "type")]
    tag: &'static str,
    command: String,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Response {
    /// It was done.
    pub(super) fn done(id: Option<Value>, command: &str, data: Option<Value>) -> Self {
        Self { id, tag: "response", command: command.to_owned(), success: true, data, error: None }
    }

    /// It was not done, and nothing changed.
    pub(super) fn failed(id: Option<Value>, command: &str, error: impl Into<String>) -> Self {
        let error = Some(error.into());
        Self { id, tag: "response", command: command.to_owned(), success: false, data: None, error }
    }
}

/// The duty to answer one command, once.
pub(super) struct Answer {
    pub(super) id: Option<Value>,
    name: String,
    output: Output,
}

impl Answer {
    pub(super) fn new(id: Option<Value>, name: String, output: Output) -> Self {
        Self { id, name, output }
    }

    /// Answers that it is done.
    pub(super) async fn done(self, data: Option<Value>) {
        self.output.line(&Response::done(self.id, &self.name, data)).await;
    }

    /// Answers that it is not done.
    pub(super) async fn failed(self, error: &anyhow::Error) {
        self.output.line(&Response::failed(self.id, &self.name, screen::whole(error))).await;
    }

    /// Answers as it came out.
    pub(super) async fn with(self, result: anyhow::Result<Option<Value>>) {
        match result {
            Ok(data) => self.done(data).await,
            Err(error) => self.failed(&error).await,
        }
    }
}
