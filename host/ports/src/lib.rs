//! The nouns and the port traits of Capstan.
//!
//! Everything meets here: the agent loop sees only these traits, and the crates that read files, speak HTTP or run
//! WebAssembly implement them. The crate performs no I/O and knows nothing of wasmtime, so that a test can stand in
//! for any part.
//!
//! Reading order: [`message`] (what is said), [`event`] (what a screen sees), [`model`], [`tool`], [`hook`],
//! [`permission`], [`session`] (the ports), [`extension`] (what a component declares).

pub mod event;
pub mod extension;
pub mod hook;
pub mod message;
pub mod model;
pub mod permission;
pub mod session;
pub mod tool;

pub use event::{AgentEvent, AssistantEvent, EventSink};
pub use extension::{
    Access, Capability, CapabilityRequest, Descriptor, Digest, ExtensionId, HookStage, Lifetime, Power,
};
pub use hook::{Amendment, GateVerdict, Hook, HookError};
pub use message::{AssistantMessage, Content, Message, StopReason, ToolCall, ToolResultMessage, Usage};
pub use model::{
    Model, ModelError, ModelErrorKind, ModelEvent, ModelInfo, ModelRequest, ModelStream, ThinkingLevel,
};
pub use permission::{CallAccess, Permission, PermissionPort};
pub use session::{EntryId, SessionError, SessionId, SessionLog};
pub use tool::{Execution, Progress, Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome, TurnContext};
