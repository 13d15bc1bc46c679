//! The tools that the model can call.

use crate::arguments::ArgumentSchema;
use crate::error::AgentError;
use async_trait::async_trait;
use capstan_ports::tool::ToolContext;
use capstan_ports::{
    CallAccess, RuntimeError, Tool, ToolCall, ToolDefinition, ToolError, ToolOutcome, ToolProvider,
    ToolRuntime,
};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

/// Tools by unique name. It may change at any time, also during a run: each round works with the tools that were
/// there when the round began.
#[derive(Default)]
pub struct ToolRegistry {
    current: RwLock<Arc<ToolSet>>,
}

/// One tool and its compiled schema.
pub(crate) struct ToolEntry {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) schema: ArgumentSchema,
}

/// The tools of one moment, in the order of their registration.
#[derive(Default)]
pub(crate) struct ToolSet {
    entries: Vec<Arc<ToolEntry>>,
    by_name: HashMap<String, usize>,
    definitions: Arc<[ToolDefinition]>,
}

impl ToolSet {
    fn new(entries: Vec<Arc<ToolEntry>>) -> Self {
        let definitions: Arc<[ToolDefinition]> =
            entries.iter().map(|entry| entry.tool.definition().clone()).collect();
        let by_name =
            definitions.iter().enumerate().map(|(at, definition)| (definition.name.clone(), at)).collect();
        Self { entries, by_name, definitions }
    }

    /// By exact name (000-010).
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<ToolEntry>> {
        self.by_name.get(name).and_then(|at| self.entries.get(*at))
    }

    pub(crate) fn definitions(&self) -> Arc<[ToolDefinition]> {
        self.definitions.clone()
    }
}

impl ToolRegistry {
    /// A registry of these tools.
    ///
    /// # Errors
    /// [`AgentError::DuplicateTool`] when two share a name.
    pub fn with_tools(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Self, AgentError> {
        let registry = Self::default();
        for tool in tools {
            registry.register(tool)?;
        }
        Ok(registry)
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// [`AgentError::DuplicateTool`] when the name is taken; the tool that has it stays.
    pub fn register(&self, tool: Arc<dyn Tool>) -> Result<(), AgentError> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let name = &tool.definition().name;
        if current.get(name).is_some() {
            return Err(AgentError::DuplicateTool { name: name.clone() });
        }
        let mut entries = current.entries.clone();
        entries.push(entry(tool));
        *current = Arc::new(ToolSet::new(entries));
        Ok(())
    }

    /// Puts a tool in the place of the one with its name, or adds it. A reload uses this, so that the name is never
    /// missing in between.
    pub fn replace(&self, tool: Arc<dyn Tool>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let mut entries = current.entries.clone();
        match current.by_name.get(&tool.definition().name).and_then(|at| entries.get_mut(*at)) {
            Some(place) => *place = entry(tool),
            None => entries.push(entry(tool)),
        }
        *current = Arc::new(ToolSet::new(entries));
    }

    /// Puts these tools in the place of all others at once: whoever looks sees all of the old ones or all of the new ones. A
    /// round in progress ends with the set that it began with. A tool object that was there before keeps its compiled schema.
    ///
    /// # Errors
    /// [`AgentError::DuplicateTool`] when two share a name; then nothing changes.
    pub fn replace_all(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<(), AgentError> {
        let before = self.snapshot();
        let mut names = HashSet::new();
        let mut entries = Vec::new();
        for tool in tools {
            let name = &tool.definition().name;
            if !names.insert(name.clone()) {
                return Err(AgentError::DuplicateTool { name: name.clone() });
            }
            let kept = before.get(name).filter(|held| Arc::ptr_eq(&held.tool, &tool));
            entries.push(kept.cloned().unwrap_or_else(|| entry(tool)));
        }
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ToolSet::new(entries));
        Ok(())
    }

    /// Removes the tool of this name and hands it back.
    pub fn unregister(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let at = *current.by_name.get(name)?;
        let mut entries = current.entries.clone();
        let removed = entries.remove(at);
        *current = Arc::new(ToolSet::new(entries));
        Some(removed.tool.clone())
    }

    /// The tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.snapshot().get(name).map(|entry| entry.tool.clone())
    }

    /// The tools themselves, in order of registration: what a second registry is made of that must not change with this
    /// one.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.snapshot().entries.iter().map(|entry| entry.tool.clone()).collect()
    }

    /// What is registered, in order of registration.
    pub fn list(&self) -> Arc<[ToolDefinition]> {
        self.snapshot().definitions()
    }

    pub(crate) fn snapshot(&self) -> Arc<ToolSet> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The tools of a registry as seed 003's provider and runtime, so that a tool written once serves both.
impl ToolProvider for ToolRegistry {
    fn list_tools(&self) -> Vec<ToolDefinition> {
        self.list().to_vec()
    }
}

#[async_trait]
impl ToolRuntime for ToolRegistry {
    /// The loop has validated the arguments against the schema; what a tool maps in `prepare` is mapped here.
    async fn execute(
        &self,
        name: &str,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<ToolOutcome, RuntimeError> {
        let Some(entry) = self.snapshot().get(name).cloned() else {
            return Err(RuntimeError::UnknownTool { name: name.to_owned() });
        };
        let failed = |error: ToolError| RuntimeError::InvocationFailed {
            message: error.to_string(),
            source: Some(Box::new(error)),
        };
        let arguments = entry.tool.prepare(call.arguments.clone()).await.map_err(failed)?;
        let call = ToolCall { arguments, ..call.clone() };
        entry.tool.execute(&call, context).await.map_err(failed)
    }

    fn access(&self, name: &str, arguments: &Value) -> CallAccess {
        self.snapshot().get(name).map_or(CallAccess::Nothing, |entry| entry.tool.access(arguments))
    }
}

fn entry(tool: Arc<dyn Tool>) -> Arc<ToolEntry> {
    Arc::new(ToolEntry { tool, schema: ArgumentSchema::default() })
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
