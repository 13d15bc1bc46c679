//! Builds the request of a round from the transcript.

use crate::config::{AgentContext, AgentLoopConfig};
use crate::error::AgentError;
use crate::registry::ToolSet;
use crate::transcript::repair;
use capstan_ports::{Message, ModelRequest};
use std::sync::Arc;

/// The request for `transcript` as it is now: transformed, then repaired, so that nothing a transformation cut apart
/// reaches the provider.
pub(crate) async fn build(
    transcript: &[Arc<Message>],
    tools: &ToolSet,
    context: &AgentContext,
    config: &AgentLoopConfig,
) -> Result<ModelRequest, AgentError> {
    let messages = match &config.transform {
        Some(transform) => {
            let changed = transform.transform(transcript.to_vec()).await;
            repair(&changed.map_err(|source| AgentError::Context { source })?)
        }
        None => repair(transcript),
    };
    Ok(ModelRequest {
        system: context.system_prompt.clone(),
        messages,
        tools: tools.definitions(),
        thinking: config.thinking,
        max_output_tokens: config.max_output_tokens,
        session_id: config.session(),
    })
}
