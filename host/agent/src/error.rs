//! Why a run could not begin or ended early.

use capstan_ports::{Failure, FailureKind, MemoryError, ModelError, RuntimeError, SessionError};

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
    /// The session was closed in this program.
    #[error("the session is closed here; open it again to go on with it")]
    Closed,
    /// The model did not summarize the branch that was to be left, so nothing moved.
    #[error(
        "the branch was not summarized, so the session stays where it was: {0}; try again, or move without a summary"
    )]
    BranchSummary(#[source] ModelError),
    /// What was said could not be kept. The run ends at once, so that nothing happens that is not on record.
    #[error("the session could not be written, so the run was ended: {0}")]
    Session(#[from] SessionError),
    /// The model asked for tools more often than one turn allows.
    #[error("the turn used all of its {limit} tool rounds; raise max_tool_rounds or ask for a smaller step")]
    ToolLoopExceeded {
        /// The limit that was hit.
        limit: u32,
    },
    /// The model was not answered for good. [`Agent`](crate::Agent) keeps this as its last message instead of an error;
    /// [`RuntimeBundle::run_turn`](crate::RuntimeBundle::run_turn) has no other way to say it.
    #[error("{0}")]
    Model(#[source] ModelError),
    /// The turn was aborted by the program or a person; only where no message can say so.
    #[error("Operation aborted")]
    Aborted,
    /// A tool did not run. Never ends a turn: the model reads it as the call's result (003-122).
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The model made the same failing call again and again.
    #[error(
        "the model made the same failing call of {tool} {times} times, so the turn was ended; tell it another way"
    )]
    RepeatedFailure {
        /// The tool.
        tool: String,
        /// How often.
        times: u32,
    },
    /// There is no such call to approve or deny.
    #[error("no call {call_id} waits for approval in this session")]
    NotDeferred {
        /// What was asked for.
        call_id: String,
    },
    /// A hook ended the turn on purpose.
    #[error("{reason}")]
    HookAborted {
        /// Whose hook.
        hook: String,
        /// The hook's own words, unchanged (X17).
        reason: String,
    },
    /// Nothing was said since the conversation was compacted last.
    #[error("Already compacted")]
    AlreadyCompacted,
    /// All of the conversation is recent enough to be kept.
    #[error("Nothing to compact (session too small)")]
    NothingToCompact,
    /// A person ended the compaction.
    #[error("Compaction cancelled")]
    CompactionCancelled,
    /// A hook did not want the conversation to be compacted now.
    #[error("Compaction cancelled by {hook}: {reason}")]
    CompactionRefused {
        /// Whose hook.
        hook: String,
        /// The hook's own words.
        reason: String,
    },
    /// The model could not write the summary; the conversation is as it was.
    #[error("the conversation could not be summarized: {0}")]
    Compaction(#[source] ModelError),
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
    /// An extension did not start, so there is no session.
    #[error("extension {name}: {source}")]
    Extension {
        /// Which.
        name: String,
        /// Its own words.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Two extensions want one name, or one has none.
    #[error("extension {name:?}: the name is empty or taken; give every extension a name of its own")]
    ExtensionName {
        /// The name.
        name: String,
    },
    /// Two tools want one name.
    #[error("a tool named `{name}` is registered already; unregister that one first or rename this one")]
    DuplicateTool {
        /// The name.
        name: String,
    },
}

impl AgentError {
    /// The part of the agent that failed, for hooks and observers.
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::Model(_) | Self::BranchSummary(_) | Self::Compaction(_) => FailureKind::Model,
            Self::Session(_) => FailureKind::Session,
            Self::Runtime(_) => FailureKind::Tool,
            Self::Memory(_) => FailureKind::Memory,
            Self::ToolLoopExceeded { .. } | Self::RepeatedFailure { .. } => FailureKind::Limit,
            Self::HookAborted { .. } | Self::CompactionRefused { .. } => FailureKind::Hook,
            Self::DuplicateTool { .. } | Self::ExtensionName { .. } => FailureKind::Config,
            Self::AlreadyRunning
            | Self::Closed
            | Self::ContinueWithoutMessages
            | Self::ContinueFromAssistant
            | Self::Aborted
            | Self::NotDeferred { .. }
            | Self::AlreadyCompacted
            | Self::NothingToCompact
            | Self::CompactionCancelled
            | Self::Context { .. }
            | Self::Extension { .. }
            | Self::Listener { .. } => FailureKind::Other,
        }
    }

    pub(crate) fn failure(&self) -> Failure {
        Failure::new(self.kind(), self.to_string())
    }
}

/// The text of a panic, as far as it has one.
pub(crate) fn panic_text(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
