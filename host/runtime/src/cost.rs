//! What model calls cost.

use capstan_ports::{Model, ModelEvent, ModelInfo, ModelRequest, ModelStream, Price, PriceTable, Usage};
use futures::StreamExt;
use std::sync::{Arc, Mutex, PoisonError};

/// Sums of tokens and money. Plain numbers; a copy does not change any more.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct CostTracker {
    /// Model calls that were answered.
    pub calls: u64,
    /// Tokens read that no cache served.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens read from the provider's cache.
    pub cache_read_tokens: u64,
    /// Tokens written to it.
    pub cache_write_tokens: u64,
    /// US dollars, of the calls with a known price.
    pub dollars: f64,
    /// Calls of models without a known price; with any of these, the cost was more than `dollars` says.
    pub unpriced_calls: u64,
}

impl CostTracker {
    /// Adds one call. A cost that the provider gave counts; else the price says it, which may be zero; without a price only
    /// the tokens are known.
    pub fn add(&mut self, usage: &Usage, price: Option<&Price>) {
        self.calls = self.calls.saturating_add(1);
        self.input_tokens = self.input_tokens.saturating_add(usage.input);
        self.output_tokens = self.output_tokens.saturating_add(usage.output);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(usage.cache_read);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(usage.cache_write);
        match price {
            _ if usage.cost.total > 0.0 => self.dollars += usage.cost.total,
            Some(price) => self.dollars += price.cost(usage).total,
            None => self.unpriced_calls = self.unpriced_calls.saturating_add(1),
        }
    }

    /// All tokens.
    pub fn total_tokens(&self) -> u64 {
        let read = self.input_tokens.saturating_add(self.cache_read_tokens);
        read.saturating_add(self.output_tokens).saturating_add(self.cache_write_tokens)
    }
}

/// A sum that a session and its model share.
#[derive(Debug, Default)]
pub(crate) struct Meter(Mutex<CostTracker>);

impl Meter {
    pub(crate) fn read(&self) -> CostTracker {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, usage: &Usage, price: Option<&Price>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(usage, price);
    }
}

/// A model whose answers are counted as they come in: also those of a turn that fails or is dropped afterwards, and those
/// of summaries, which no turn has as messages.
pub(crate) struct Metered {
    model: Arc<dyn Model>,
    prices: Arc<dyn PriceTable>,
    meter: Arc<Meter>,
}

impl Metered {
    pub(crate) fn new(model: Arc<dyn Model>, prices: Arc<dyn PriceTable>, meter: Arc<Meter>) -> Self {
        Self { model, prices, meter }
    }
}

impl Model for Metered {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let price = self.prices.price(self.model.info());
        let meter = self.meter.clone();
        let counted = self.model.stream(request).inspect(move |event| {
            if let ModelEvent::Done(answer) = event {
                meter.add(&answer.usage, price.as_ref());
            }
        });
        counted.boxed()
    }
}

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;
