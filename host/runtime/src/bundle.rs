//! What an agent works with.

use crate::config::{AgentConfig, Clock};
use crate::retriever::MemoryRetriever;
use capstan_agent::{HookRegistry, RetryPolicy, ToolRegistry};
use capstan_ports::{MemoryStore, Model, PermissionPort, PriceTable};
use std::sync::Arc;

/// Everything that the turns of a session depend on, handed in and never looked up anywhere. Share it behind an `Arc`;
/// bundles do not know of each other.
///
/// Only [`AgentBuilder`](crate::AgentBuilder) makes one, so that one that exists is complete (X20):
///
/// ```compile_fail,E0639
/// # fn parts(bundle: capstan_runtime::RuntimeBundle) {
/// let second = capstan_runtime::RuntimeBundle {
///     provider: bundle.provider,
///     tool_registry: bundle.tool_registry,
///     hook_executor: bundle.hook_executor,
///     memory_store: None,
///     retriever: None,
///     session_memory_backend: None,
///     config: bundle.config,
/// };
/// # }
/// ```
#[non_exhaustive]
pub struct RuntimeBundle {
    /// Who answers.
    pub provider: Arc<dyn Model>,
    /// What the model can call, as far as the role exposes it. With a retriever this is a copy of the registry that the
    /// builder was given, with the tool `retrieve` added.
    pub tool_registry: Arc<ToolRegistry>,
    /// Who watches and judges turns, model calls and tool calls.
    pub hook_executor: Arc<HookRegistry>,
    /// For the program's own use, for example from a hook after a turn; no turn reads or writes it.
    pub memory_store: Option<Arc<dyn MemoryStore>>,
    /// What the tool `retrieve` searches.
    pub retriever: Option<Arc<MemoryRetriever>>,
    /// Where sessions keep their facts; without one each session keeps its own in memory.
    pub session_memory_backend: Option<Arc<dyn MemoryStore>>,
    /// Bounds.
    pub config: AgentConfig,
    pub(crate) permissions: Arc<dyn PermissionPort>,
    pub(crate) prices: Arc<dyn PriceTable>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) retry: RetryPolicy,
}
