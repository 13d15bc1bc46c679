//! What the user can set.

use capstan_sdk::prelude::*;

/// When a summary is made, and of what.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// The share of the room (the model's window less what its answer needs) above which old messages are summarized.
    #[schemars(range(min = 0.05, max = 1.0))]
    pub(crate) start: f64,
    /// The share of the room that may stay as it is. Less than `start`.
    #[schemars(range(min = 0.01, max = 0.95))]
    pub(crate) keep: f64,
    /// Turns that stay as they are, the present one among them, as far as `keep` has room for them.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) turns: usize,
    /// The model's window in tokens, where the host does not know it.
    pub(crate) window_tokens: u32,
    /// What the summary is to keep in mind beside what it keeps in mind anyway.
    pub(crate) instructions: String,
}

impl Default for Config {
    fn default() -> Self {
        Self { start: 0.7, keep: 0.3, turns: 2, window_tokens: 0, instructions: String::new() }
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
