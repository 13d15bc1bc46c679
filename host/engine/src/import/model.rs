//! Sub-completions by the host's model: the capability `model`.
//!
//! The tokens of a turn are booked before the request and settled after it, so that calls at the same time cannot spend the
//! same tokens.

use crate::bindings::capstan::extension::model;
use crate::bindings::capstan::extension::types::{HostError, Message, ModelResponse};
use crate::convert;
use crate::state::State;
use capstan_ports::message::AssistantMessage;
use capstan_ports::session::SessionId;
use capstan_ports::{Model, ModelErrorKind, ModelEvent, ModelRequest};
use futures::StreamExt;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Bytes that stand for a token where the provider gives no count. Text in English has about four.
const BYTES_A_TOKEN: u64 = 4;

/// Turns whose account is kept; the oldest sessions' are forgotten first.
const MAX_ACCOUNTS: usize = 64;

/// What an extension has spent, by session and turn.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    spent: Mutex<HashMap<SessionId, Account>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Account {
    turn: u32,
    tokens: u64,
}

impl Accounts {
    /// Books tokens for a turn if they are within the budget, and answers which turn that is: without one it is the latest
    /// that was seen. Answers what would be left without them if they are not.
    fn book(&self, session: &SessionId, turn: Option<u32>, tokens: u64, budget: u64) -> Result<u32, u64> {
        let mut accounts = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.len() >= MAX_ACCOUNTS && !accounts.contains_key(session) {
            accounts.clear();
        }
        let account = accounts.entry(session.clone()).or_default();
        if let Some(turn) = turn
            && account.turn != turn
        {
            *account = Account { turn, tokens: 0 };
        }
        let left = budget.saturating_sub(account.tokens);
        if tokens > left {
            return Err(left);
        }
        account.tokens += tokens;
        Ok(account.turn)
    }

    /// Ends a session's account; the next booking begins a new one.
    pub(crate) fn close(&self, session: &SessionId) {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
    }

    /// Puts what was used in place of what was booked.
    fn settle(&self, session: &SessionId, turn: u32, booked: u64, used: u64) {
        let mut accounts = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(account) = accounts.get_mut(session).filter(|account| account.turn == turn) {
            account.tokens = account.tokens.saturating_sub(booked).saturating_add(used);
        }
    }
}

impl model::Host for State {
    async fn complete(
        &mut self,
        messages: Vec<Message>,
        max_tokens: u32,
    ) -> wasmtime::Result<Result<ModelResponse, HostError>> {
        Ok(self.complete_within_budget(messages, max_tokens).await)
    }
}

impl State {
    async fn complete_within_budget(
        &mut self,
        messages: Vec<Message>,
        max_tokens: u32,
    ) -> Result<ModelResponse, HostError> {
        let identity = self.scope.identity.clone();
        let Some(budget) = identity.rights.model_tokens else { return Err(super::not_granted("model")) };
        let model = identity.services.model.clone().ok_or_else(|| super::not_lent("model"))?;
        let max_tokens = max_tokens.min(model.info().max_output_tokens);
        if messages.is_empty() || max_tokens == 0 {
            return Err(HostError::Failed("a completion needs a message and room for an answer".to_owned()));
        }
        let messages = convert::messages_from_guest(messages, &[])
            .map_err(|reason| HostError::Failed(reason.to_string()))?;
        let bytes: usize = messages.iter().map(|message| convert::content_bytes(message.content())).sum();
        let input = (bytes as u64).div_ceil(BYTES_A_TOKEN);
        let booked = input + u64::from(max_tokens);
        let session = self.scope.session.clone();
        let accounts = &identity.accounts;
        let turn = accounts.book(&session, self.scope.turn, booked, budget).map_err(|left| {
            HostError::Exhausted(format!(
                "this turn has {left} of {budget} tokens left, and the request may take {booked}: about {input} to read it \
                 and {max_tokens} for the answer"
            ))
        })?;
        let request = ModelRequest {
            messages: messages.into(),
            max_output_tokens: Some(max_tokens),
            session_id: Some(session.clone()),
            ..ModelRequest::default()
        };
        // A booking stays where the guest is dropped in the middle: what the provider counts is not known then.
        let answered = answer(model.as_ref(), request, &identity.extension, self.scope.time_left()).await;
        let used = match &answered {
            Ok(answer) => Some(answer.usage.input + answer.usage.output + answer.usage.cache_write)
                .filter(|&counted| counted > 0)
                .unwrap_or_else(|| {
                    input + (convert::content_bytes(&answer.content) as u64).div_ceil(BYTES_A_TOKEN)
                }),
            Err(HostError::TimedOut) => booked,
            Err(_) => input,
        };
        accounts.settle(&session, turn, booked, used);
        answered.map(|answer| convert::response_to_guest(&answer))
    }
}

async fn answer(
    model: &dyn Model,
    request: ModelRequest,
    extension: &str,
    time_left: Duration,
) -> Result<AssistantMessage, HostError> {
    let mut stream = model.stream(request);
    let asked = async {
        while let Some(event) = stream.next().await {
            match event {
                ModelEvent::Update(_) => {}
                ModelEvent::Done(answer) => return Ok(*answer),
                ModelEvent::Failed(error) => {
                    // The provider's words may name addresses of the user's network; the guest gets the kind of failure.
                    tracing::warn!(target: "capstan::extension", extension, %error, "a sub-completion failed");
                    let reason = match error.kind {
                        ModelErrorKind::ContextOverflow => "the messages do not fit the model's window",
                        kind if kind.is_transient() => {
                            "the model did not answer; trying again later can help"
                        }
                        _ => "the model refused the request; the host's log says why",
                    };
                    return Err(HostError::Failed(reason.to_owned()));
                }
            }
        }
        Err(HostError::Failed("the model's answer was cut short".to_owned()))
    };
    match tokio::time::timeout(time_left, asked).await {
        Ok(answered) => answered,
        Err(_elapsed) => Err(HostError::TimedOut),
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
