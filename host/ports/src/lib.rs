//! The nouns and the port traits of Capstan.
//!
//! Everything meets here: the agent loop sees only these traits, and the crates that read files, speak HTTP or run
//! WebAssembly implement them. The crate performs no I/O and knows nothing of wasmtime, so that a test can stand in
//! for any part.
//!
//! Reading order: [`message`] (what is said), [`event`] and [`turn_event`] (what a screen and an observer see), then the
//! ports: [`model`] and [`chat`], [`tool`] and [`provided`], [`hook`], [`permission`], [`session`] with [`entry`] and [`store`],
//! [`compressor`], [`memory`], [`memory_store`], [`session_memory`] and [`storage`], [`plan`], [`command`], [`program`], [`price`]; last
//! [`extension`] (what a component declares).

#![deny(missing_docs)]

pub mod chat;
pub mod command;
pub mod compressor;
pub mod entry;
pub mod event;
pub mod extension;
pub mod failure;
pub mod hook;
pub mod memory;
pub mod memory_store;
pub mod message;
pub mod model;
pub mod permission;
pub mod plan;
pub mod price;
pub mod program;
pub mod provided;
pub mod session;
pub mod session_memory;
pub mod storage;
pub mod store;
pub mod tool;
pub mod turn_event;

pub use chat::{ChatAdapter, ChatModel, FinishReason, ModelResponse, TokenCounts};
pub use command::{CommandError, CommandPort};
pub use compressor::{
    CompressAction, CompressContext, CompressError, CompressReason, CompressorPort, NoopCompressor,
};
pub use entry::{BashExecution, Entry, EntryKind, SessionContext};
pub use event::{AgentEvent, AssistantEvent, CompactionReason, CompactionResult, EventSink};
pub use extension::{
    Access, Capability, CapabilityRequest, Descriptor, Digest, ExtensionId, HookStage, Lifetime, Power,
};
pub use failure::{Failure, FailureKind};
pub use hook::{
    Amendment, GateVerdict, Hook, HookError, NoopHook, PlanStepStatus, SessionLifecycle, Verdict,
};
pub use memory::{MemoryEntry, MemoryError, MemoryPort, MemoryQuery, NoopMemory};
pub use memory_store::{MemoryHit, MemoryRecord, MemoryStore};
pub use message::{
    AssistantMessage, Content, CustomMessage, Message, StopReason, ToolCall, ToolResultMessage, Usage,
};
pub use model::{
    Messages, Model, ModelCatalog, ModelError, ModelErrorKind, ModelEvent, ModelInfo, ModelRequest,
    ModelStream, ThinkingLevel, ToolChoice,
};
pub use permission::{CallAccess, Permission, PermissionPort};
pub use plan::{Plan, PlanParseError, PlanParser, PlanProblem, Step};
pub use price::{NoPrices, Price, PriceTable};
pub use program::{ProgramError, ProgramOutcome, ProgramRequest, ProgramRunner};
pub use provided::{
    CompositeToolProvider, ProvidedTool, RuntimeError, ToolProvider, ToolRuntime, build_error_message,
    build_tool_result_message,
};
pub use session::{EntryId, SessionError, SessionId, SessionLog};
pub use session_memory::SessionMemoryPort;
pub use storage::{StorageError, StoragePort};
pub use store::{Session, SessionStore};
pub use tool::{Execution, Progress, Tool, ToolContext, ToolDefinition, ToolError, ToolOutcome, TurnContext};
pub use turn_event::{NoopObserver, ObserverPort, TurnEvent, TurnEventSink};
