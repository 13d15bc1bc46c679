//! What the user can set.

use capstan_sdk::prelude::*;

/// When the window moves, and how far.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// The share of the room (the model's window less what its answer needs) above which messages are left out.
    #[schemars(range(min = 0.05, max = 1.0))]
    pub(crate) start: f64,
    /// The share of the room that the conversation may take afterwards. Less than `start`.
    #[schemars(range(min = 0.01, max = 0.95))]
    pub(crate) keep: f64,
    /// The model's window in tokens, where the host does not know it.
    pub(crate) window_tokens: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { start: 0.8, keep: 0.5, window_tokens: 0 }
    }
}

impl Config {
    /// What a schema cannot say.
    pub(crate) fn checked(self) -> Result<Self> {
        if self.keep < self.start && self.keep > 0.0 && self.start <= 1.0 {
            return Ok(self);
        }
        Err(Error::new(format!(
            "the configuration has `keep` = {} and `start` = {}: `keep` must be less than `start`, and both between 0 and 1",
            self.keep, self.start
        )))
    }
}
