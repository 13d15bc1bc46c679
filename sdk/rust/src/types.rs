//! The data of the contract, with shortcuts to build and read it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::{self, Display};

use crate::bindings::contract::capstan::extension::types as contract;
use crate::{Error, json};

pub use contract::{
    Content, Failure, FailureKind, HostError, Image, Message, ModelResponse, Role, StopReason, ToolCall,
    ToolResult, TurnContext, Usage,
};

impl Content {
    /// The text of a text piece, `None` for pictures and reasoning.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image(_) | Self::Thinking(_) => None,
        }
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Message {
    /// A message of one text piece.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            content: vec![Content::Text(text.into())],
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
        }
    }

    /// What a person says.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, text)
    }

    /// What the model says.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, text)
    }

    /// All text pieces, joined by line breaks.
    #[must_use]
    pub fn text(&self) -> String {
        joined(&self.content)
    }
}

impl Failure {
    /// A failure of this kind, with one paragraph for people; for tests of what watches failures.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl ModelResponse {
    /// A response of one text piece that ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            message: Message::assistant(text),
            stop_reason: StopReason::Stop,
            usage: None,
            reasoning_summary: None,
        }
    }
}

impl ToolCall {
    /// The arguments as a type of yours.
    ///
    /// # Errors
    ///
    /// The arguments do not have that shape; the text says where.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, Error> {
        json::parse(&self.arguments, "the arguments")
    }

    /// One string argument at the top level, `None` where it is missing or no string.
    #[must_use]
    pub fn text_argument(&self, name: &str) -> Option<String> {
        // A gate must not mistake unreadable arguments for missing ones, but the host has validated them as JSON.
        let value: serde_json::Value = serde_json::from_str(&self.arguments).ok()?;
        value.get(name)?.as_str().map(str::to_owned)
    }
}

impl ToolResult {
    /// A result of one text piece.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text(text.into())], details: None, is_error: false }
    }

    /// Adds a text piece.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.content.push(Content::Text(text.into()));
        self
    }

    /// Adds a picture: its MIME type and the encoded file.
    #[must_use]
    pub fn and_image(mut self, media_type: impl Into<String>, data: Vec<u8>) -> Self {
        self.content.push(Content::Image(Image { media_type: media_type.into(), data }));
        self
    }

    /// Attaches data for programs and screens; the model never sees it.
    ///
    /// # Errors
    ///
    /// `details` has no JSON form, a map with keys that are no strings for example.
    pub fn with_details(mut self, details: &impl Serialize) -> Result<Self, Error> {
        self.details = Some(serde_json::to_string(details)?);
        Ok(self)
    }

    /// Marks the result as a failure, which the model is told.
    #[must_use]
    pub fn failed(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// All text pieces, joined by line breaks.
    #[must_use]
    pub fn as_text(&self) -> String {
        joined(&self.content)
    }
}

impl Display for HostError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(what) => write!(formatter, "denied: {what}"),
            Self::Exhausted(what) => write!(formatter, "used up: {what}"),
            Self::TimedOut => formatter.write_str("timed out"),
            Self::Failed(how) => formatter.write_str(how),
        }
    }
}

fn joined(content: &[Content]) -> String {
    let pieces: Vec<&str> = content.iter().filter_map(Content::as_text).collect();
    pieces.join("\n")
}

#[cfg(test)]
#[path = "types_tests.rs"]
mod tests;
