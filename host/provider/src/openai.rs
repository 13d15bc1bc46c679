//! OpenAI chat completions: the format that most servers speak, exactly or nearly.

mod request;
mod stream;

use crate::error::ProviderError;
use crate::exchange;
use crate::http::Endpoint;
use crate::{ProviderConfig, catalog};
use capstan_ports::{Model, ModelInfo, ModelRequest, ModelStream};
use std::sync::Arc;

pub(crate) struct OpenAiModel {
    endpoint: Arc<Endpoint>,
}

impl OpenAiModel {
    pub(crate) fn new(config: &ProviderConfig, model: &str) -> Result<Self, ProviderError> {
        let endpoint = Endpoint::new(config, catalog::info(config, model))?;
        Ok(Self { endpoint: Arc::new(endpoint) })
    }
}

impl Model for OpenAiModel {
    fn info(&self) -> &ModelInfo {
        &self.endpoint.info
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let body = request::body(&self.endpoint.info, self.endpoint.is_vendor, &request);
        let decoder = Box::new(stream::OpenAiDecoder::new(&self.endpoint.info));
        exchange::run(Arc::clone(&self.endpoint), &request, &body, decoder)
    }
}

#[cfg(test)]
pub(crate) fn decoder_for_tests(info: &ModelInfo) -> Box<dyn exchange::Decoder> {
    Box::new(stream::OpenAiDecoder::new(info))
}
