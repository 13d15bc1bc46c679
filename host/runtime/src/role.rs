//! Who an agent is.

use crate::bundle::RuntimeBundle;
use capstan_ports::ToolDefinition;

/// A role: a name, a prompt, and what the model may call. It holds no conversation, so that many sessions share one; turns
/// are the business of [`AgentSession`](crate::AgentSession).
pub trait Agent: Send + Sync {
    /// Shown to hooks and in the log.
    fn name(&self) -> &str;

    /// What the model is told before the conversation; `None` sends nothing.
    fn system_prompt(&self) -> Option<&str>;

    /// The tools that the model may call, asked before each turn. Without an override these are all of the bundle's. A tool
    /// that is left out is neither shown to the model nor executed for it. A role may describe a tool in its own words; what
    /// arguments it takes stays the tool's own affair.
    fn tool_definitions(&self, bundle: &RuntimeBundle) -> Vec<ToolDefinition> {
        bundle.tool_registry.list().to_vec()
    }
}
