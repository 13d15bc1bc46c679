//! The strategy that is in force where no other was chosen, or where the chosen one failed.

use crate::compaction::CompactionSettings;
use crate::compaction::cut::{carried, cut_point};
use crate::compaction::estimate::total;
use crate::compaction::shorten::is_shortened;
use async_trait::async_trait;
use capstan_ports::{
    CompressAction, CompressContext, CompressError, CompressReason, CompressorPort, Message,
};
use std::sync::Arc;

/// Fewer tokens are not summarized unless a person asks for it: a summary is about as long itself, so a conversation that
/// is too long for another reason (a long system prompt, many tools) would be summarized again and again for nothing.
const MIN_SUMMARIZED_TOKENS: usize = 500;

/// Has old messages summarized when a conversation takes more than the window less a reserve, and keeps about the newest
/// [`CompactionSettings::keep_recent_tokens`].
#[derive(Debug, Clone, Copy, Default)]
pub struct ThresholdCompressor {
    settings: CompactionSettings,
}

impl ThresholdCompressor {
    /// One with these numbers. What they say of being enabled is the host's affair.
    pub fn new(settings: CompactionSettings) -> Self {
        Self { settings }
    }

    pub(crate) fn judge(&self, messages: &[Arc<Message>], context: &CompressContext) -> CompressAction {
        let is_asked = match context.reason {
            CompressReason::BeforeModel => self.settings.is_due(context.used_tokens, context.window_tokens),
            CompressReason::Overflow | CompressReason::Manual => true,
        };
        if !is_asked {
            return CompressAction::None;
        }
        let (keep, carried) = (kept_tokens(self.settings, context), carried(messages));
        let least = if context.reason == CompressReason::Manual { 1 } else { MIN_SUMMARIZED_TOKENS };
        let mut cut = cut_point(messages, carried, keep);
        if total(&messages[carried..cut]) < least {
            cut = carried;
        }
        if cut == carried && !is_shortened(&messages[cut..], keep) {
            return CompressAction::None;
        }
        let instructions = context.instructions.clone().unwrap_or_default();
        CompressAction::Summarize { first_kept: cut, instructions }
    }
}

/// About how many tokens stay. After a refusal the window is smaller than was thought, so it is at most a quarter of what was
/// sent.
pub(crate) fn kept_tokens(settings: CompactionSettings, context: &CompressContext) -> usize {
    let keep = settings.for_window(context.window_tokens).keep_recent_tokens;
    let keep = match context.reason {
        CompressReason::Overflow => keep.min(context.used_tokens / 4),
        CompressReason::BeforeModel | CompressReason::Manual => keep,
    };
    usize::try_from(keep).unwrap_or(usize::MAX)
}

#[async_trait]
impl CompressorPort for ThresholdCompressor {
    async fn compress(
        &self,
        messages: &[Arc<Message>],
        context: &CompressContext,
    ) -> Result<CompressAction, CompressError> {
        Ok(self.judge(messages, context))
    }
}

#[cfg(test)]
#[path = "threshold_tests.rs"]
mod tests;
