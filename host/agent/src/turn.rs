//! One turn for a program that keeps the conversation itself.

use crate::bundle::TurnResult;
use crate::config::{AgentContext, AgentLoopConfig};
use crate::error::AgentError;
use crate::run::{Opening, Run};
use capstan_ports::{EventSink, Message, SessionStore};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Runs one input to the model's final answer.
///
/// The conversation is that of the configuration's log; else, with a `store`, that of the configuration's session there,
/// which is saved once at the end; else that of `context`, and nothing is kept. Dropping the future ends the turn.
///
/// # Errors
/// When the turn failed, for whatever reason; the model's failure is [`AgentError::Model`] here and an abort
/// [`AgentError::Aborted`]. What was finished is on record nevertheless.
pub async fn run_agent_turn(
    input: Message,
    context: &AgentContext,
    config: &AgentLoopConfig,
    store: Option<Arc<dyn SessionStore>>,
    sink: &dyn EventSink,
    cancel: &CancellationToken,
) -> Result<TurnResult, AgentError> {
    // Ends tools and hooks, too, when this future is dropped.
    let cancel = cancel.child_token();
    let _ended = cancel.clone().drop_guard();
    let run = Run::new(context, config, sink, &cancel);
    let run = match store {
        Some(store) if config.log.is_none() => run.over(store),
        Some(_) | None => run,
    };
    TurnResult::of(run.run(Opening::Prompts(vec![Arc::new(input)])).await)
}
