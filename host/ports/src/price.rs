//! The price port: what a model call costs.

use crate::message::{Cost, Usage};
use crate::model::ModelInfo;
use serde::{Deserialize, Serialize};

/// US dollars for a million tokens. In a configuration a price that is not given is zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read from the provider's cache.
    pub cache_read: f64,
    /// Tokens written to it.
    pub cache_write: f64,
}

impl Price {
    /// Whether each part is a number that something can cost.
    pub fn is_valid(&self) -> bool {
        let parts = [self.input, self.output, self.cache_read, self.cache_write];
        parts.iter().all(|part| part.is_finite() && *part >= 0.0)
    }

    /// What `usage` costs.
    pub fn cost(&self, usage: &Usage) -> Cost {
        let of = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let (input, output) = (of(usage.input, self.input), of(usage.output, self.output));
        let cache_read = of(usage.cache_read, self.cache_read);
        let cache_write = of(usage.cache_write, self.cache_write);
        Cost { input, output, cache_read, cache_write, total: input + output + cache_read + cache_write }
    }
}

/// Knows prices.
pub trait PriceTable: Send + Sync {
    /// The price of this model, if it is known.
    fn price(&self, model: &ModelInfo) -> Option<Price>;
}

/// Knows none: every call costs zero.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPrices;

impl PriceTable for NoPrices {
    fn price(&self, _model: &ModelInfo) -> Option<Price> {
        None
    }
}
