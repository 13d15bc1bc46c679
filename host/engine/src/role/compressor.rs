//! A component's compaction strategy as the compressor port.
//!
//! Whatever goes wrong is an error here; what is done then (nothing, or the host's own compaction if the conversation must
//! become shorter) is the loop's affair. It also looks whether calls and results belong together, because it does so for every list.

use super::{MAX_REASON_BYTES, of_session};
use crate::abi::Interface;
use crate::bindings::exports::capstan::extension::compressor as wit;
use crate::convert;
use crate::error::CallError;
use crate::extension::Extension;
use crate::import::printable;
use crate::limits::Role;
use async_trait::async_trait;
use capstan_ports::compressor::{
    CompressAction, CompressContext, CompressError, CompressReason, CompressorPort,
};
use capstan_ports::extension::Power;
use capstan_ports::message::Message;
use capstan_ports::session::SessionId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of a session id that a strategy may choose.
const MAX_ID_BYTES: usize = 64;

pub(super) struct ComponentCompressor {
    extension: Extension,
    strategy: String,
    name: String,
    /// It trapped or ran out of time, and would again.
    left_out: AtomicBool,
}

impl ComponentCompressor {
    pub(super) fn new(extension: &Extension, strategy: &str) -> Self {
        Self {
            extension: extension.clone(),
            strategy: strategy.to_owned(),
            name: format!("{}/{strategy}", extension.id()),
            left_out: AtomicBool::new(false),
        }
    }

    fn error(&self, source: CallError) -> CompressError {
        let mut message = source.to_string();
        if matches!(
            source,
            CallError::TimedOut { .. } | CallError::Trapped { .. } | CallError::Exhausted { .. }
        ) {
            self.left_out.store(true, Ordering::Relaxed);
            message.push_str(". It is left out for the rest of this session");
        }
        CompressError { name: self.name.clone(), message, source: Some(Box::new(source)) }
    }

    fn action(&self, action: wit::Action, given: &[Arc<Message>]) -> Result<CompressAction, CallError> {
        if !matches!(action, wit::Action::None) && !self.extension.has_power(Power::Compress) {
            return Err(CallError::Powerless { action: "replace old messages", power: "compress" });
        }
        Ok(match action {
            wit::Action::None => CompressAction::None,
            wit::Action::Replace(messages) => {
                CompressAction::Replace(convert::messages_from_guest(messages, given)?)
            }
            wit::Action::Summarize(order) => CompressAction::Summarize {
                first_kept: usize::try_from(order.first_kept).unwrap_or(usize::MAX),
                instructions: order.instructions,
            },
            wit::Action::NewSession(redirect) => CompressAction::NewSession {
                messages: convert::messages_from_guest(redirect.messages, given)?,
                session_id: redirect.session_id.map(|id| session_id(&id)).transpose()?,
            },
        })
    }
}

/// Stores make file names of ids, so a guest's may hold nothing that means something in one.
fn session_id(id: &str) -> Result<SessionId, CallError> {
    let fits = (1..=MAX_ID_BYTES).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if fits {
        Ok(SessionId::new(id))
    } else {
        let found = printable(id, MAX_ID_BYTES);
        let reason = format!("the session id `{found}` is not 1 to {MAX_ID_BYTES} of a-z, A-Z, 0-9, - and _");
        Err(CallError::Garbage { reason })
    }
}

#[async_trait]
impl CompressorPort for ComponentCompressor {
    fn is_left_out(&self) -> bool {
        self.left_out.load(Ordering::Relaxed)
    }

    async fn compress(
        &self,
        messages: &[Arc<Message>],
        context: &CompressContext,
    ) -> Result<CompressAction, CompressError> {
        if self.left_out.load(Ordering::Relaxed) {
            return Ok(CompressAction::None);
        }
        let bytes = messages.iter().map(|message| convert::content_bytes(message.content())).sum();
        if bytes > self.extension.limits(Role::Compressor).input_bytes {
            // No doing of the guest, and nothing that a shorter conversation would not mend: so it stays in.
            let message = format!("the conversation has {bytes} bytes, more than a compressor is given");
            return Err(CompressError { name: self.name.clone(), message, source: None });
        }
        let told = wit::Context {
            session_id: context.session_id.to_string(),
            window_tokens: context.window_tokens,
            used_tokens: match context.reason {
                // The provider knows better than the estimate: what it refused does not fit.
                CompressReason::Overflow => context.used_tokens.max(context.window_tokens),
                CompressReason::BeforeModel | CompressReason::Manual => context.used_tokens,
            },
            reserve_tokens: context.reserve_tokens,
            instructions: context.instructions.clone(),
        };
        let forms: Vec<_> = messages.iter().map(|message| convert::message_to_guest(message)).collect();
        let strategy = self.strategy.clone();
        let caller = of_session(&context.session_id, bytes);
        let answer = self.extension.call(Role::Compressor, caller, |store, instance, code| {
            Box::pin(async move {
                let Some(indices) = &code.indices.compressor else { return Ok(None) };
                let guest = indices.load(&mut *store, instance)?;
                guest.call_compress(store, &strategy, &forms, &told).await.map(Some)
            })
        });
        let action = match answer.await {
            Ok(Some(Ok(action))) => self.action(action, messages),
            Ok(Some(Err(text))) => {
                let message = printable(&text, MAX_REASON_BYTES);
                return Err(CompressError { name: self.name.clone(), message, source: None });
            }
            Ok(None) => Err(CallError::NotExported(Interface::Compressor)),
            Err(source) => Err(source),
        };
        action.map_err(|source| self.error(source))
    }
}
