//! Tools of this host, for other clients.
//!
//! A [`ToolHost`] lists tools and executes calls; [`serve_stdio`] and [`serve_http`] offer them to whatever speaks the
//! protocol. What a call may do is decided behind the port, by the same gates, permissions and grants as in a session of
//! one's own. Nothing here can grant anything, and no question is put to the client: a model sits behind it.
//!
//! Reading order: `handler` (what is answered to which request), `offer` and `answer` (tools and results in the protocol's
//! words), `progress`, then the transports: `stdio`, `http` with `token`.

mod answer;
mod handler;
mod http;
mod offer;
mod progress;
mod stdio;
mod token;

use async_trait::async_trait;
use capstan_ports::tool::Progress;
use capstan_ports::{ToolDefinition, ToolOutcome};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use http::{HttpOptions, PATH, serve_http};
pub use stdio::serve_stdio;
pub use token::{Token, WeakToken};

/// Largest message that a client may send. A file's text fits; a client that sends more is not one of ours.
pub const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// A tool as it is offered, with what it can reach.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// As a model of one's own would see it.
    pub definition: ToolDefinition,
    /// What clients are told as hints. Of a component it follows from its grants, not from what it says of itself.
    pub reach: Reach,
}

/// What a tool can reach outside of its sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reach {
    /// It can change files, run programs or send something somewhere.
    pub changes: bool,
    /// What it can change may be lost: files that are overwritten, programs that do anything.
    pub destroys: bool,
    /// It can reach other machines.
    pub network: bool,
}

/// A call of a client.
pub struct ClientCall {
    /// The tool's name.
    pub tool: String,
    /// The arguments as the client sent them; not yet validated.
    pub arguments: Map<String, Value>,
    /// Takes partial results.
    pub progress: Arc<dyn Progress>,
    /// Fires when the client cancels the call, or is gone.
    pub cancel: CancellationToken,
}

/// What a call came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Called {
    /// What the client reads.
    pub outcome: ToolOutcome,
    /// What was denied on the way, a line each. The client's user finds them in the client's log.
    pub denied: Vec<String>,
}

/// Who has the tools and executes calls.
#[async_trait]
pub trait ToolHost: Send + Sync {
    /// The tools on offer at the moment, names unique.
    fn tools(&self) -> Vec<OfferedTool>;

    /// Executes one call. `None` when there is no tool of this name.
    async fn call(&self, call: ClientCall) -> Option<Called>;

    /// Told whenever [`ToolHost::tools`] may have a new answer.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// Why serving ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The client did not follow the protocol from its first message on.
    #[error("the client did not open the conversation as the protocol wants it: {0}")]
    Opening(#[source] Box<rmcp::service::ServerInitializeError>),
    /// The task that served ended by a panic.
    #[error("serving the client ended: {0}")]
    Stopped(#[from] tokio::task::JoinError),
    /// The listening socket failed.
    #[error("connections cannot be accepted: {0}")]
    Listening(#[from] std::io::Error),
}
