//! Builds the request of a round from the transcript.

use crate::error::AgentError;
use crate::run::Run;
use crate::transcript::{repair, repaired};
use capstan_ports::ModelRequest;

/// The request for the transcript as it is now: transformed, then repaired, so that nothing a transformation cut apart
/// reaches the provider.
pub(crate) async fn build(run: &mut Run<'_>) -> Result<ModelRequest, AgentError> {
    let config = run.config;
    let messages = match &config.transform {
        Some(transform) => {
            let changed = transform.transform(run.transcript.to_vec()).await;
            repair(&changed.map_err(|source| AgentError::Context { source })?).into()
        }
        None => repaired(&run.transcript, &mut run.sound),
    };
    Ok(ModelRequest {
        system: run.context.system_prompt.clone(),
        messages,
        tools: run.context.tools.snapshot().definitions(),
        thinking: config.thinking,
        max_output_tokens: config.max_output_tokens,
        temperature: config.temperature,
        tool_choice: config.tool_choice.clone(),
        session_id: config.session().map(|_| run.session_id.clone()),
    })
}
