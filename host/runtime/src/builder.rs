//! Puts a bundle together.

use crate::bundle::RuntimeBundle;
use crate::config::{AgentConfig, Clock, SystemClock};
use crate::error::AgentError;
use crate::retriever::MemoryRetriever;
use crate::session_memory_tool::SessionMemorySetTool;
use capstan_agent::{HookRegistry, RetrieveTool, RetryPolicy, ToolRegistry};
use capstan_ports::permission::AllowAll;
use capstan_ports::{MemoryStore, Model, NoPrices, PermissionPort, PriceTable, Tool};
use std::sync::Arc;

/// Collects the parts of a [`RuntimeBundle`]. Model, tools and hooks are needed; of a part that is set twice the last
/// counts.
#[derive(Default)]
#[must_use]
pub struct AgentBuilder {
    provider: Option<Arc<dyn Model>>,
    tool_registry: Option<Arc<ToolRegistry>>,
    hook_executor: Option<Arc<HookRegistry>>,
    memory_store: Option<Arc<dyn MemoryStore>>,
    retriever: Option<Arc<MemoryRetriever>>,
    session_memory_backend: Option<Arc<dyn MemoryStore>>,
    session_memory_tool: bool,
    config: AgentConfig,
    permissions: Option<Arc<dyn PermissionPort>>,
    prices: Option<Arc<dyn PriceTable>>,
    clock: Option<Arc<dyn Clock>>,
    retry: RetryPolicy,
}

impl AgentBuilder {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Who answers. Needed.
    pub fn provider(mut self, provider: Arc<dyn Model>) -> Self {
        self.provider = Some(provider);
        self
    }

    /// What the model can call; an empty registry for none. Needed. It may be shared with other bundles and is not changed.
    pub fn tool_registry(mut self, tools: Arc<ToolRegistry>) -> Self {
        self.tool_registry = Some(tools);
        self
    }

    /// Who watches and judges; an empty registry for nobody. Needed.
    pub fn hook_executor(mut self, hooks: Arc<HookRegistry>) -> Self {
        self.hook_executor = Some(hooks);
        self
    }

    /// A store for the program's own use.
    pub fn memory_store(mut self, store: Arc<dyn MemoryStore>) -> Self {
        self.memory_store = Some(store);
        self
    }

    /// What the model can search, through the tool `retrieve`.
    pub fn retriever(mut self, retriever: Arc<MemoryRetriever>) -> Self {
        self.retriever = Some(retriever);
        self
    }

    /// Where sessions keep their facts, for sessions that are continued elsewhere.
    pub fn session_memory_backend(mut self, store: Arc<dyn MemoryStore>) -> Self {
        self.session_memory_backend = Some(store);
        self
    }

    /// Lets the model set facts of its session itself, through the tool `session_memory_set`; it needs a
    /// [`session_memory_backend`](Self::session_memory_backend). Unset, only the program sets them.
    pub fn session_memory_tool(mut self) -> Self {
        self.session_memory_tool = true;
        self
    }

    /// Bounds in place of the default ones.
    pub fn config(mut self, config: AgentConfig) -> Self {
        self.config = config;
        self
    }

    /// Who has the last word on tool calls, after all hooks. Unset, every call is allowed: whoever builds the agent chose
    /// its tools.
    pub fn permissions(mut self, permissions: Arc<dyn PermissionPort>) -> Self {
        self.permissions = Some(permissions);
        self
    }

    /// What model calls cost. Unset, no price is known.
    pub fn prices(mut self, prices: Arc<dyn PriceTable>) -> Self {
        self.prices = Some(prices);
        self
    }

    /// The clock for [`AgentConfig::session_ttl`]. Unset, the machine's.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// When and how often a failed model call is made again, in place of the default ways.
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// The bundle.
    ///
    /// # Errors
    /// [`AgentError::Config`], which names the part that is missing or does not fit: no model, tools or hooks, bounds with
    /// which no turn could run, a retriever beside a tool of the name `retrieve`, or the tool `session_memory_set` beside one
    /// of that name or without a backend.
    pub fn build(self) -> Result<RuntimeBundle, AgentError> {
        self.config.check()?;
        let tools = needed(self.tool_registry, "tool_registry")?;
        let mut tool_registry = match &self.retriever {
            Some(retriever) => with_added(&tools, Arc::new(RetrieveTool::new(retriever.clone())))?,
            None => tools,
        };
        if self.session_memory_tool {
            // A store that only the session itself knows cannot be reached from a tool that all sessions share.
            let backend = needed(self.session_memory_backend.clone(), "session_memory_backend")?;
            tool_registry = with_added(&tool_registry, Arc::new(SessionMemorySetTool::new(backend)))?;
        }
        Ok(RuntimeBundle {
            provider: needed(self.provider, "provider")?,
            tool_registry,
            hook_executor: needed(self.hook_executor, "hook_executor")?,
            memory_store: self.memory_store,
            retriever: self.retriever,
            session_memory_backend: self.session_memory_backend,
            config: self.config,
            permissions: self.permissions.unwrap_or_else(|| Arc::new(AllowAll)),
            prices: self.prices.unwrap_or_else(|| Arc::new(NoPrices)),
            clock: self.clock.unwrap_or_else(|| Arc::new(SystemClock::default())),
            retry: self.retry,
        })
    }
}

fn needed<T>(part: Option<T>, name: &str) -> Result<T, AgentError> {
    part.ok_or_else(|| AgentError::Config(format!("{name} is missing; call AgentBuilder::{name}")))
}

/// A copy with the tool added: other bundles over the same registry have not asked for it (X21).
fn with_added(tools: &ToolRegistry, tool: Arc<dyn Tool>) -> Result<Arc<ToolRegistry>, AgentError> {
    let name = tool.definition().name.clone();
    let all = tools.tools().into_iter().chain([tool]);
    let copy = ToolRegistry::with_tools(all)
        .map_err(|error| AgentError::Config(format!("the memory needs the tool name `{name}`: {error}")))?;
    Ok(Arc::new(copy))
}

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;
