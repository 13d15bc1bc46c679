//! The compressor port: shortens a conversation that no longer fits.

use crate::message::Message;
use crate::session::SessionId;
use async_trait::async_trait;
use std::sync::Arc;

/// Why the compressor is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CompressReason {
    /// A model call is about to be made; nothing is wrong.
    #[default]
    BeforeModel,
    /// The provider refused the conversation as too long. Leaving everything as it is lets the host shorten it by its own
    /// means.
    Overflow,
    /// A person asked for it. Leaving everything as it is lets the host compact by its own means.
    Manual,
}

/// What a compressor gets besides the messages.
#[derive(Debug, Clone, PartialEq)]
pub struct CompressContext {
    /// Whose conversation.
    pub session_id: SessionId,
    /// The model's context window in tokens; zero when it is not known.
    pub window_tokens: u32,
    /// What the messages are estimated to take, in tokens.
    pub used_tokens: u32,
    /// What must stay free for the answer, in tokens.
    pub reserve_tokens: u32,
    /// What the user wants kept, when compaction was asked for by hand.
    pub instructions: Option<String>,
    /// Why now.
    pub reason: CompressReason,
}

/// What to do with the conversation. Indices count the messages of the input.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum CompressAction {
    /// Leave everything.
    #[default]
    None,
    /// Go on with these in place of the input. A call without its result, or the reverse, is refused.
    Replace(Vec<Arc<Message>>),
    /// Let the host's model summarize.
    Summarize {
        /// The first message that stays as it is; all before it go into the summary. A cut never separates a call from
        /// its result; the host moves it earlier if it would.
        first_kept: usize,
        /// What the summary should keep in mind.
        instructions: String,
    },
    /// Go on in a new session.
    NewSession {
        /// Its first messages.
        messages: Vec<Arc<Message>>,
        /// Its id; the host makes one when it is absent.
        session_id: Option<SessionId>,
    },
}

/// A compressor that did not answer. The host's own compaction takes its place.
#[derive(Debug, thiserror::Error)]
#[error("the compressor {name} failed: {message}")]
pub struct CompressError {
    /// Whose compressor.
    pub name: String,
    /// What happened.
    pub message: String,
    /// What lies beneath.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Looks at a conversation before each model call and says what to do with it. It changes nothing itself.
#[async_trait]
pub trait CompressorPort: Send + Sync {
    /// Whether it broke and is not worth asking any more. The host then compacts as if none had been chosen.
    fn is_left_out(&self) -> bool {
        false
    }

    /// Judges `messages`.
    ///
    /// # Errors
    /// The host reports it and uses its own compaction, if compaction is needed.
    async fn compress(
        &self,
        messages: &[Arc<Message>],
        context: &CompressContext,
    ) -> Result<CompressAction, CompressError>;
}

/// Leaves everything (003-110).
#[derive(Debug, Clone, Copy, Default)]
pub struct NoopCompressor;

#[async_trait]
impl CompressorPort for NoopCompressor {
    async fn compress(
        &self,
        _messages: &[Arc<Message>],
        _context: &CompressContext,
    ) -> Result<CompressAction, CompressError> {
        Ok(CompressAction::None)
    }
}
