//! A model whose answers are written down beforehand, for demonstrations and tests.
//!
//! A script is a JSONL file, one [`Answer`] a line; empty lines and lines that begin with `#` are skipped. The same
//! answers can be rendered in the wire formats ([`wire`]), so that one script drives this model and a local server alike.

mod answer;
pub mod server;
pub mod wire;

use crate::catalog;
use crate::config::{Api, ProviderConfig};
use crate::draft::Draft;
use crate::error::ProviderError;
pub use answer::{Answer, ScriptedCall, ScriptedError};
use capstan_ports::{
    Model, ModelError, ModelErrorKind, ModelEvent, ModelInfo, ModelRequest, ModelStream, StopReason, Usage,
};
use futures::{StreamExt, stream};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Plays a script, one answer per request, and keeps the requests. Clones share both.
#[derive(Clone)]
pub struct ScriptedModel {
    info: ModelInfo,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    answers: VecDeque<Answer>,
    requests: Vec<ModelRequest>,
}

impl ScriptedModel {
    /// A model `scripted/scripted` with these answers.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let config = ProviderConfig::new("scripted", Api::Scripted, "");
        let state = State { answers: answers.into_iter().collect(), requests: Vec::new() };
        Self { info: catalog::info(&config, "scripted"), state: Arc::new(Mutex::new(state)) }
    }

    /// A model with the answers of a script.
    ///
    /// # Errors
    /// When the file cannot be read or a line is no answer; the error names the line.
    pub fn from_file(path: &Path) -> Result<Self, ProviderError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ProviderError::ScriptRead { path: path.to_owned(), source })?;
        Ok(Self::new(answer::parse_script(path, &text)?))
    }

    /// The same script under another name or with other limits.
    #[must_use]
    pub fn with_info(mut self, info: ModelInfo) -> Self {
        self.info = info;
        self
    }

    /// What was asked so far, oldest first, also requests that found the script used up.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.with_state(|state| state.requests.clone())
    }

    /// Adds an answer at the end.
    pub fn push(&self, answer: Answer) {
        self.with_state(|state| state.answers.push_back(answer));
    }

    /// How many answers are left.
    pub fn remaining(&self) -> usize {
        self.with_state(|state| state.answers.len())
    }

    fn with_state<T>(&self, use_it: impl FnOnce(&mut State) -> T) -> T {
        // A panic elsewhere leaves whole answers and requests behind, so the data is good.
        use_it(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn events(&self, answer: &Answer) -> Vec<ModelEvent> {
        let mut draft = Draft::new(&self.info);
        if let Some(thinking) = &answer.thinking {
            let piece = draft.open_thinking();
            answer::pieces(thinking).for_each(|delta| draft.append(piece, delta));
            draft.close(piece);
        }
        if let Some(text) = &answer.text {
            let piece = draft.open_text();
            answer::pieces(text).for_each(|delta| draft.append(piece, delta));
            draft.close(piece);
        }
        for call in &answer.tool_calls {
            let piece = draft.open_call(call.id.as_deref().unwrap_or_default(), &call.name);
            answer::pieces(&call.argument_text()).for_each(|delta| draft.append(piece, delta));
            draft.close(piece);
        }
        *draft.usage() = answer.usage_or_estimate();
        let last = if let Some(error) = &answer.error {
            ModelEvent::Failed(self.failure(error))
        } else if answer.cut {
            ModelEvent::Failed(ModelError::new(
                ModelErrorKind::Network,
                format!("{}: stream ended without terminal message", self.info.full_name()),
            ))
        } else {
            ModelEvent::Done(Box::new(draft.finish(answer.final_stop_reason())))
        };
        draft.drain().map(ModelEvent::Update).chain([last]).collect()
    }

    fn failure(&self, error: &ScriptedError) -> ModelError {
        let message = format!("{}: {}", self.info.full_name(), error.message);
        ModelError {
            retry_after: error.retry_after_ms.map(Duration::from_millis),
            ..ModelError::new(error.kind, message)
        }
    }
}

impl Model for ScriptedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let (answer, n_requests) = self.with_state(|state| {
            state.requests.push(request);
            (state.answers.pop_front(), state.requests.len())
        });
        let Some(answer) = answer else {
            let message = format!(
                "{}: the script is used up, there is no answer for request {n_requests}. Add a line to it",
                self.info.full_name()
            );
            let error = ModelError::new(ModelErrorKind::Protocol, message);
            return stream::once(async { ModelEvent::Failed(error) }).boxed();
        };
        let before_first = Duration::from_millis(answer.delay_ms);
        let between = Duration::from_millis(answer.delta_delay_ms);
        let events = self.events(&answer);
        stream::iter(events.into_iter().enumerate())
            .then(move |(position, event)| async move {
                let delay = if position == 0 { before_first } else { between };
                if !delay.is_zero() {
                    tokio::time::sleep(delay).await;
                }
                event
            })
            .boxed()
    }
}

/// Used where an answer does not say why it stopped.
fn default_stop_reason(has_calls: bool) -> StopReason {
    if has_calls { StopReason::ToolUse } else { StopReason::Stop }
}

/// About four characters a token, so that a screen has something to show.
fn estimated_usage(output_chars: usize) -> Usage {
    let output = output_chars.div_ceil(4) as u64;
    Usage { output, total_tokens: output, ..Usage::default() }
}

#[cfg(test)]
#[path = "scripted_tests.rs"]
mod tests;
