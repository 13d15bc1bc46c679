//! Keeps a conversation within the model's window: old messages are replaced by a summary, recent ones stay.
//!
//! Who decides is a [`CompressorPort`](capstan_ports::CompressorPort): the one that was chosen, or else
//! [`ThresholdCompressor`]. What it decides is carried out here and, where a session is kept, becomes an entry of it, so
//! that the next run and the next program go on from the same summary. Nothing is ever removed from a session.
//!
//! Reading order: `estimate` (tokens), `cut` (where the kept part begins), [`threshold`] (the native strategy),
//! `conversation`, `files` and `summary` (what the model is asked), `shorten` (results that are too large to keep),
//! `record` (the entry), `flow` (one compaction, with its events), `control` (what outlives one), `trim` (the last
//! resort, which asks no model).

pub(crate) mod control;
pub(crate) mod conversation;
pub(crate) mod cut;
pub(crate) mod estimate;
pub(crate) mod files;
pub(crate) mod flow;
pub(crate) mod record;
pub(crate) mod shorten;
pub(crate) mod summary;
pub mod threshold;
pub(crate) mod trim;

pub use flow::is_usable;
pub use threshold::ThresholdCompressor;

use capstan_ports::Message;
use std::sync::Arc;

/// What a conversation takes, as compressors are told: what the provider counted, and an estimate of what came after that.
pub fn estimated_tokens(messages: &[Arc<Message>]) -> u32 {
    estimate::Tally::default().count(messages, 0)
}

/// When a conversation is compacted, and how much of it stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionSettings {
    /// Whether conversations are compacted without anybody asking: before a model call or after a run when they have
    /// grown, and when the model refused one as too long. Off, that refusal ends the turn.
    pub enabled: bool,
    /// Tokens of the window that are kept free. A conversation that leaves less is compacted. Summaries may take eight
    /// tenths of it. Symptom of too little: the model's answers are cut off at the end of long conversations.
    pub reserve_tokens: u32,
    /// About how many tokens of the newest messages stay as they are. Symptom of too little: the model reads files again
    /// that it has just read.
    pub keep_recent_tokens: u32,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self { enabled: true, reserve_tokens: 16_384, keep_recent_tokens: 20_000 }
    }
}

impl CompactionSettings {
    /// The same for a window of this size; zero stands for one that is not known. At most half of it is reserved and at
    /// most half of the rest is kept, so that small windows are not compacted over and over without gaining anything.
    #[must_use]
    pub fn for_window(self, window_tokens: u32) -> Self {
        if window_tokens == 0 {
            return self;
        }
        let reserve_tokens = self.reserve_tokens.min(window_tokens / 2);
        let keep_recent_tokens = self.keep_recent_tokens.min((window_tokens - reserve_tokens) / 2);
        Self { reserve_tokens, keep_recent_tokens, ..self }
    }

    /// Whether a conversation of this size is to be compacted. One that leaves exactly the reserve is not; where the window
    /// is not known, none is.
    pub fn is_due(self, used_tokens: u32, window_tokens: u32) -> bool {
        let reserve = self.for_window(window_tokens).reserve_tokens;
        window_tokens > 0 && used_tokens > window_tokens - reserve
    }
}

#[cfg(test)]
pub(crate) mod talk_tests;
