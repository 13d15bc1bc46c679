//! Builds the request of a round from the transcript.

use crate::error::AgentError;
use crate::run::Run;
use crate::transcript::{repair, repaired};
use capstan_ports::{Message, Messages, ModelRequest};
use std::sync::Arc;

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
        system: system(run).await?,
        messages,
        tools: run.context.tools.snapshot().definitions(),
        thinking: config.thinking,
        max_output_tokens: config.max_output_tokens,
        temperature: config.temperature,
        tool_choice: config.tool_choice.clone(),
        transport: config.transport.clone(),
        session_id: config.session().map(|_| run.session_id.clone()),
    })
}

/// The system prompt, and after it the facts of the session as they are now (seed 004, 3.2.8).
async fn system(run: &Run<'_>) -> Result<String, AgentError> {
    let mut text = run.context.system_prompt.clone();
    if let Some(memory) = &run.config.session_memory {
        let facts = memory.snapshot(&run.session_id).await?;
        if !facts.is_empty() {
            text.push_str(if text.is_empty() { "" } else { "\n\n" });
            text.push_str(&facts);
        }
    }
    Ok(text)
}

/// The messages as models know them: a custom message becomes one of the user. All that a model is asked about the
/// conversation passes here, after everybody who may look at it or change it.
///
/// `plain` counts the leading messages of `transcript` that are known to be no custom ones, so that a round of a
/// conversation without any does not look through all of it again.
pub(crate) fn for_model(messages: Messages, transcript: &Messages, plain: &mut usize) -> Messages {
    let is_plain = |message: &Arc<Message>| !matches!(message.as_ref(), Message::Custom(_));
    let known = if messages.is_same_list(transcript) { *plain } else { 0 };
    if messages.iter().skip(known).all(is_plain) {
        if messages.is_same_list(transcript) {
            *plain = messages.len();
        }
        return messages;
    }
    let convert = |message: &Arc<Message>| match message.as_ref() {
        Message::Custom(custom) => Arc::new(Message::User(custom.to_user())),
        Message::User(_) | Message::Assistant(_) | Message::ToolResult(_) => message.clone(),
    };
    messages.iter().map(convert).collect()
}
