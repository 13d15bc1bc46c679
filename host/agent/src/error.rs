//! Why a run could not begin or ended early.

use capstan_ports::SessionError;

/// Why a run could not begin or ended early. A failed model request is not among these: it becomes an answer with
/// [`StopReason::Error`](capstan_ports::StopReason::Error), so that screens and session files see it too (000-150).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A second run was asked for, or state was to be replaced, during a run.
    #[error(
        "the agent is busy: queue the message with steer() or follow_up(), or call wait_for_idle() first"
    )]
    AlreadyRunning,
    /// There is nothing to continue from.
    #[error("there is no message to continue from: start with prompt()")]
    ContinueWithoutMessages,
    /// The model has already answered.
    #[error("the last message is the model's answer: send a prompt, or queue a message and continue then")]
    ContinueFromAssistant,
    /// What was said could not be kept. The run ends at once, so that nothing happens that is not on record.
    #[error("the session could not be written, so the run was ended: {0}")]
    Session(#[from] SessionError),
    /// The model asked for tools more often than one turn allows.
    #[error("the turn used all of its {limit} tool rounds; raise max_tool_rounds or ask for a smaller step")]
    ToolLoopExceeded {
        /// The limit that was hit.
        limit: u32,
    },
    /// A hook ended the turn on purpose.
    #[error("{reason}")]
    HookAborted {
        /// Whose hook.
        hook: String,
        /// The hook's own words, unchanged (X17).
        reason: String,
    },
    /// The function that prepares messages for a request failed.
    #[error("the context of the request could not be prepared: {source}")]
    Context {
        /// What it said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A subscriber panicked while it handled an event.
    #[error("an event listener failed, so the run was ended: {message}; unsubscribe it or fix it")]
    Listener {
        /// The panic's text.
        message: String,
    },
    /// Two tools want one name.
    #[error("a tool named `{name}` is registered already; unregister that one first or rename this one")]
    DuplicateTool {
        /// The name.
        name: String,
    },
}

/// The text of a panic, as far as it has one.
pub(crate) fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
