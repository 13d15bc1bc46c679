//! A model that answers in one piece (seed 003's `chat`), and how it becomes a [`Model`].

use crate::event::AssistantEvent;
use crate::message::{AssistantMessage, Content, StopReason, ToolCall, Usage, now_ms};
use crate::model::{Model, ModelError, ModelEvent, ModelInfo, ModelRequest, ModelStream};
use async_trait::async_trait;
use futures::{FutureExt, StreamExt, stream};
use std::sync::Arc;

/// Why a model stopped, as its provider said it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum FinishReason {
    /// It was done.
    #[default]
    Stop,
    /// It ran into the output limit.
    Length,
    /// It wants tool results.
    ToolCalls,
    /// Something this version has no word for, in the provider's words.
    Other(String),
}

impl FinishReason {
    /// Reads the word that a provider uses; an unknown one is kept.
    pub fn parse(word: &str) -> Self {
        match word {
            "stop" | "end_turn" | "stop_sequence" => Self::Stop,
            "length" | "max_tokens" => Self::Length,
            "tool_calls" | "tool_use" | "function_call" => Self::ToolCalls,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// Tokens as a provider counted them; a number that it did not give is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Tokens read.
    pub input: Option<u64>,
    /// Tokens written.
    pub output: Option<u64>,
    /// Their sum.
    pub total: Option<u64>,
}

/// One answer in one piece.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelResponse {
    /// What was said: text and images. Calls that stand here and not in `tool_calls` are not executed.
    pub content: Vec<Content>,
    /// The calls to execute. They alone count, and exactly they are recorded (003-051).
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish_reason: FinishReason,
    /// What it cost.
    pub usage: Option<TokenCounts>,
    /// The reasoning that the provider shows.
    pub reasoning_summary: Option<String>,
}

/// A model that answers in one piece. For models that stream, implement [`Model`].
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// What is known of it.
    fn info(&self) -> &ModelInfo;

    /// Asks. Messages, tools and options are those of the request.
    ///
    /// # Errors
    /// When there is no answer. Transient kinds are tried again by the loop.
    async fn chat(&self, request: &ModelRequest) -> Result<ModelResponse, ModelError>;
}

/// A [`ChatModel`] as a [`Model`]: its answer comes as one update for each piece of text.
pub struct ChatAdapter<M: ?Sized>(pub Arc<M>);

impl<M: ChatModel + ?Sized + 'static> Model for ChatAdapter<M> {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let model = self.0.clone();
        let events = async move {
            match model.chat(&request).await {
                Ok(response) => answered(response, model.info()),
                Err(error) => vec![ModelEvent::Failed(error)],
            }
        };
        events.into_stream().flat_map(stream::iter).boxed()
    }
}

fn answered(response: ModelResponse, info: &ModelInfo) -> Vec<ModelEvent> {
    let message = assembled(response, info);
    let mut events = Vec::new();
    for (content_index, piece) in message.content.iter().enumerate() {
        if let Content::Text { text } = piece {
            events.extend([
                ModelEvent::Update(AssistantEvent::TextStart { content_index }),
                ModelEvent::Update(AssistantEvent::TextDelta { content_index, delta: text.clone() }),
                ModelEvent::Update(AssistantEvent::TextEnd { content_index, content: text.clone() }),
            ]);
        } else {
            // The pieces must be opened in order, and the others have no text to show; the final answer has them all.
            break;
        }
    }
    events.push(ModelEvent::Done(Box::new(message)));
    events
}

fn assembled(response: ModelResponse, info: &ModelInfo) -> AssistantMessage {
    let ModelResponse { content, tool_calls, finish_reason, usage, reasoning_summary } = response;
    let thinking = reasoning_summary.map(|thinking| Content::Thinking {
        thinking,
        thinking_signature: None,
        redacted: false,
    });
    let stop_reason = match &finish_reason {
        FinishReason::Length => StopReason::Length,
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other(_) if tool_calls.is_empty() => {
            StopReason::Stop
        }
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other(_) => StopReason::ToolUse,
    };
    let said = content.into_iter().filter(|piece| !matches!(piece, Content::ToolCall(_)));
    let counts = usage.unwrap_or_default();
    let (input, output) = (counts.input.unwrap_or(0), counts.output.unwrap_or(0));
    AssistantMessage {
        content: said.chain(thinking).chain(tool_calls.into_iter().map(Content::ToolCall)).collect(),
        api: info.api.clone(),
        provider: info.provider.clone(),
        model: info.id.clone(),
        usage: Usage {
            input,
            output,
            total_tokens: counts.total.unwrap_or(input.saturating_add(output)),
            ..Usage::default()
        },
        stop_reason,
        error_message: None,
        timestamp: now_ms(),
    }
}

impl From<&AssistantMessage> for ModelResponse {
    /// An answer as a response, for hooks and observers that speak seed 003's words (003-046). A count of zero is a
    /// number that the provider did not give.
    fn from(message: &AssistantMessage) -> Self {
        let given = |count: u64| Some(count).filter(|count| *count > 0);
        let counts = TokenCounts {
            input: given(message.usage.input),
            output: given(message.usage.output),
            total: given(message.usage.total_tokens),
        };
        Self {
            content: message
                .content
                .iter()
                .filter(|piece| matches!(piece, Content::Text { .. } | Content::Image { .. }))
                .cloned()
                .collect(),
            tool_calls: message.tool_calls().cloned().collect(),
            finish_reason: match message.stop_reason {
                StopReason::Stop => FinishReason::Stop,
                StopReason::Length => FinishReason::Length,
                StopReason::ToolUse => FinishReason::ToolCalls,
                StopReason::Error => FinishReason::Other("error".to_owned()),
                StopReason::Aborted => FinishReason::Other("aborted".to_owned()),
            },
            usage: Some(counts).filter(|counts| *counts != TokenCounts::default()),
            reasoning_summary: message.reasoning(),
        }
    }
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
