//! Does what a compressor says, and shortens a conversation that the model refused as too long.

use crate::answer::receive_text;
use crate::error::AgentError;
use crate::run::Run;
use crate::transcript::is_sound;
use crate::trim::{estimated_tokens, trimmed};
use capstan_ports::{
    CompressAction, CompressContext, CompressReason, Message, Messages, ModelRequest, SessionLifecycle,
    TurnEvent,
};
use futures::FutureExt;
use std::fmt::Write;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// Kept free for the answer when the model's own limit is larger; what it takes beyond is its own affair.
const MAX_RESERVE_TOKENS: u32 = 16_384;

/// What the model is told that summarizes.
const SUMMARIZER: &str = "You summarize the beginning of a conversation between a user and a coding agent, so that the \
                          agent can go on without it. Keep: the goal, what the user asked for and forbade, what was done \
                          with file names and exact errors, decisions and their reasons, what is open. Write only the \
                          summary.";

/// Bytes of one message that the summarizing request quotes.
const MAX_QUOTED_BYTES: usize = 4000;

impl Run<'_> {
    /// Asks the compressor and follows it. True when the conversation is another one now.
    ///
    /// A conversation that the model refused is shortened in any case: if the compressor fails or leaves it, by the
    /// host's own means.
    pub(crate) async fn compress(&mut self, reason: CompressReason) -> Result<bool, AgentError> {
        let action = match self.config.compressor.clone() {
            None => CompressAction::None,
            Some(compressor) => {
                let context = self.compress_context(reason);
                let asked = compressor.compress(&self.transcript, &context);
                match AssertUnwindSafe(asked).catch_unwind().await {
                    Ok(Ok(action)) => action,
                    Ok(Err(error)) => {
                        tracing::warn!(%error, "the conversation was not compressed");
                        CompressAction::None
                    }
                    Err(_payload) => {
                        tracing::warn!("the compressor panicked; the conversation was not compressed");
                        CompressAction::None
                    }
                }
            }
        };
        if self.follow(action).await? {
            return Ok(true);
        }
        if reason != CompressReason::Overflow {
            return Ok(false);
        }
        match trimmed(&self.transcript, self.window_tokens()) {
            Some(shorter) => {
                self.replace(shorter).await;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    async fn follow(&mut self, action: CompressAction) -> Result<bool, AgentError> {
        match action {
            CompressAction::None => Ok(false),
            CompressAction::Replace(messages) => Ok(self.accept_list(messages).await),
            CompressAction::Summarize { first_kept, instructions } => {
                match self.summary(first_kept, &instructions).await {
                    Some(messages) => Ok(self.accept_list(messages).await),
                    None => Ok(false),
                }
            }
            CompressAction::NewSession { messages, session_id } => {
                if !is_usable(&messages) {
                    return Ok(false);
                }
                let from = self.session_id.clone();
                let messages_before = self.transcript.len();
                let Some(to) = self.journal.redirect(session_id, &messages).await? else {
                    tracing::info!(
                        "this session stays in one log; the compressor's messages take its place there"
                    );
                    return Ok(self.accept_list(messages).await);
                };
                self.session_id = to.clone();
                let messages_after = messages.len();
                let event = || TurnEvent::SessionRedirect { from, to, messages_before, messages_after };
                self.config.observers.tell(event);
                self.replace(messages.into()).await;
                Ok(true)
            }
        }
    }

    /// Takes the list if a provider would (P18); otherwise the conversation stays as it is.
    async fn accept_list(&mut self, messages: Vec<Arc<Message>>) -> bool {
        let usable = is_usable(&messages);
        if usable {
            self.replace(messages.into()).await;
        }
        usable
    }

    async fn replace(&mut self, messages: Messages) {
        self.transcript = messages;
        self.sound = 0;
        self.plain = 0;
        let hooks = self.config.hooks.current();
        self.patiently(hooks.session_lifecycle(&self.session_id, SessionLifecycle::Compacted)).await;
    }

    /// Has the model summarize everything before `first_kept`. `None` when there is nothing to gain or it failed.
    async fn summary(&self, first_kept: usize, instructions: &str) -> Option<Vec<Arc<Message>>> {
        let cut = safe_cut(&self.transcript, first_kept);
        if cut == 0 {
            return None;
        }
        let mut text = String::from("<conversation>\n");
        for message in &self.transcript[..cut] {
            quote(&mut text, message);
        }
        text.push_str("</conversation>\n\nSummarize it.");
        if !instructions.is_empty() {
            text.push_str(" Keep in mind: ");
            text.push_str(instructions);
        }
        let request = ModelRequest {
            system: SUMMARIZER.to_owned(),
            messages: vec![Arc::new(Message::user(text))].into(),
            max_output_tokens: Some(self.reserve_tokens()),
            transport: self.config.transport.clone(),
            ..ModelRequest::default()
        };
        match receive_text(self.config.model.as_ref(), request, self.cancel).await {
            Ok(summary) => {
                let head = format!(
                    "The conversation history before this point was compacted into the following summary:\n\n\
                     <summary>\n{summary}\n</summary>"
                );
                let kept = self.transcript[cut..].iter().cloned();
                Some(std::iter::once(Arc::new(Message::user(head))).chain(kept).collect())
            }
            Err(error) => {
                tracing::warn!(%error, "the conversation could not be summarized");
                None
            }
        }
    }

    fn compress_context(&self, reason: CompressReason) -> CompressContext {
        CompressContext {
            session_id: self.session_id.clone(),
            window_tokens: self.window_tokens(),
            used_tokens: estimated_tokens(&self.transcript),
            reserve_tokens: self.reserve_tokens(),
            instructions: None,
            reason,
        }
    }

    fn window_tokens(&self) -> u32 {
        self.config.context_window.unwrap_or(self.config.model.info().context_window)
    }

    fn reserve_tokens(&self) -> u32 {
        self.config.model.info().max_output_tokens.min(MAX_RESERVE_TOKENS)
    }
}

/// Whether a provider would accept a compressor's list; says so if not.
fn is_usable(messages: &[Arc<Message>]) -> bool {
    let usable = !messages.is_empty() && is_sound(messages);
    if !usable {
        tracing::warn!(
            "the compressor's messages are refused: there are none, or a call lacks its result, or a result its call"
        );
    }
    usable
}

/// The last position up to `wanted` at which the messages can be cut without parting a call from its result.
pub(crate) fn safe_cut(messages: &[Arc<Message>], wanted: usize) -> usize {
    let is_result = |at: usize| {
        messages.get(at).is_some_and(|message| matches!(message.as_ref(), Message::ToolResult(_)))
    };
    let mut cut = wanted.min(messages.len());
    while cut > 0 && is_result(cut) {
        cut -= 1;
    }
    // Stepping back over results ended at the answer that made their calls, which is a place to cut before.
    cut
}

fn quote(text: &mut String, message: &Message) {
    let said = message.text();
    let calls: String = match message {
        Message::Assistant(answer) => {
            answer.tool_calls().map(|call| format!(" [calls {} {}]", call.name, call.arguments)).collect()
        }
        Message::User(_) | Message::ToolResult(_) | Message::Custom(_) => String::new(),
    };
    let (said, calls) =
        (crate::result::clip(&said, MAX_QUOTED_BYTES), crate::result::clip(&calls, MAX_QUOTED_BYTES));
    // Writing to a String cannot fail.
    text.write_fmt(format_args!("[{}]: {said}{calls}\n", message.role())).unwrap_or_default();
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;
