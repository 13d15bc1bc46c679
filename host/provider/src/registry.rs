//! From configuration to a model that can be asked.

use crate::anthropic::AnthropicModel;
use crate::catalog;
use crate::config::{Api, ProviderConfig};
use crate::error::ProviderError;
use crate::openai::OpenAiModel;
use crate::scripted::ScriptedModel;
use capstan_ports::Model;
use std::sync::Arc;

/// Sets up the model `model_id` of a provider. Connects to nothing; certificates are read with the first request.
///
/// # Errors
/// When the vendor's own service is addressed without a key, the base URL is unusable, a header cannot be sent, or a
/// script cannot be read. Whether the server knows the model shows only when it is asked.
pub fn model(config: &ProviderConfig, model_id: &str) -> Result<Arc<dyn Model>, ProviderError> {
    Ok(match config.api {
        Api::OpenAiChat => Arc::new(OpenAiModel::new(config, model_id)?),
        Api::AnthropicMessages => Arc::new(AnthropicModel::new(config, model_id)?),
        Api::Scripted => {
            let script = ScriptedModel::from_file(config.base_url.as_ref())?;
            Arc::new(script.with_info(catalog::info(config, model_id)))
        }
    })
}
