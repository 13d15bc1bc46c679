//! A tool call that no model of this program made: another program's agent asks for it.
//!
//! It takes the way of every other call: prepare, validate, gates, permission, execute, amend. What is missing is only what
//! belongs to a conversation: no session keeps it, and nobody counts how often the same call failed before.

use crate::config::AgentLoopConfig;
use crate::emitter::Emitter;
use crate::execute::Batch;
use crate::journal::Journal;
use crate::registry::ToolRegistry;
use crate::repeats::Repeats;
use crate::result::{ABORTED, failure};
use capstan_ports::hook::HookContext;
use capstan_ports::{EventSink, Message, ToolCall, ToolOutcome, TurnContext};
use tokio_util::sync::CancellationToken;

/// Executes one call with the hooks, permissions, limits and observers of `config`. The sink is told of its start, its
/// partial results and its end.
///
/// Whatever goes wrong is an outcome with [`ToolOutcome::is_error`], as a model would read it: an unknown tool, arguments that
/// do not fit, a gate that objects. A call that a gate puts off is one, too: `deferred` in its details is true, nothing
/// was done, and nobody can agree to it later.
///
/// Cancelling `cancel` ends the call within [`abort_grace`](crate::Limits::abort_grace), also while its tool computes.
///
/// ```
/// use capstan_agent::{AgentLoopConfig, ToolRegistry, run_tool_call};
/// use capstan_ports::event::NoEvents;
/// use capstan_ports::{SessionId, ToolCall, TurnContext};
/// use capstan_provider::ScriptedModel;
/// use serde_json::json;
/// use std::sync::Arc;
/// use tokio_util::sync::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let config = AgentLoopConfig::new(Arc::new(ScriptedModel::new([])));
/// let turn = TurnContext { session_id: SessionId::new("elsewhere"), turn: 0, round: 0, model: "none/none".into() };
/// let call = ToolCall { id: "1".into(), name: "weather".into(), arguments: json!({}), malformed: None };
/// let tools = ToolRegistry::default();
/// let outcome = run_tool_call(&call, turn, &tools, &config, &NoEvents, &CancellationToken::new()).await;
/// assert!(outcome.is_error);
/// # }
/// ```
pub async fn run_tool_call(
    call: &ToolCall,
    turn: TurnContext,
    tools: &ToolRegistry,
    config: &AgentLoopConfig,
    sink: &dyn EventSink,
    cancel: &CancellationToken,
) -> ToolOutcome {
    let events = Emitter::new(sink).observed_by(&config.observers);
    let (mut journal, mut repeats) = (Journal::Nothing, Repeats::default());
    let mut context = HookContext::new(turn, cancel.clone());
    context.agent = config.agent_name.clone();
    let batch = Batch::new(config, &events, &mut journal, &mut repeats, tools.snapshot(), context);
    let finished = batch.execute(vec![call], None).await;
    match finished.results.first().map(|message| &**message) {
        Some(Message::ToolResult(result)) => ToolOutcome {
            content: result.content.clone(),
            details: result.details.clone(),
            is_error: result.is_error,
            terminate: false,
        },
        // Every call has a result; this is for a batch that was dropped on the way.
        _ => failure(ABORTED),
    }
}

#[cfg(test)]
#[path = "one_call_tests.rs"]
mod tests;
