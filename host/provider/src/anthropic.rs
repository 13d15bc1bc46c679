//! Anthropic Messages.

mod request;
mod stream;

use crate::ProviderConfig;
use crate::catalog::{self, ThinkingStyle};
use crate::error::ProviderError;
use crate::exchange;
use crate::http::Endpoint;
use capstan_ports::{Model, ModelInfo, ModelRequest, ModelStream};
use std::sync::Arc;

pub(crate) struct AnthropicModel {
    endpoint: Arc<Endpoint>,
    thinking: ThinkingStyle,
}

impl AnthropicModel {
    pub(crate) fn new(config: &ProviderConfig, model: &str) -> Result<Self, ProviderError> {
        let endpoint = Endpoint::new(config, catalog::info(config, model))?;
        Ok(Self { endpoint: Arc::new(endpoint), thinking: catalog::thinking_style(config, model) })
    }
}

impl Model for AnthropicModel {
    fn info(&self) -> &ModelInfo {
        &self.endpoint.info
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let body = request::body(&self.endpoint.info, self.thinking, &request);
        let decoder = Box::new(stream::AnthropicDecoder::new(&self.endpoint.info));
        exchange::run(Arc::clone(&self.endpoint), &request, &body, decoder)
    }
}

#[cfg(test)]
pub(crate) fn decoder_for_tests(info: &ModelInfo) -> Box<dyn exchange::Decoder> {
    Box::new(stream::AnthropicDecoder::new(info))
}
