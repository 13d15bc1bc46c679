//! The models that a program can choose from.

use crate::error::AgentError;
use capstan_ports::Model;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Models by a name of the program's choice.
#[derive(Default, Clone)]
pub struct ProviderRegistry {
    models: BTreeMap<String, Arc<dyn Model>>,
}

impl ProviderRegistry {
    /// A registry without models.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a model.
    ///
    /// # Errors
    /// [`AgentError::Config`] when the name is taken; the model that has it stays.
    pub fn register(&mut self, name: impl Into<String>, model: Arc<dyn Model>) -> Result<(), AgentError> {
        let name = name.into();
        if self.models.contains_key(&name) {
            return Err(AgentError::Config(format!(
                "a provider named `{name}` is registered already; choose another name"
            )));
        }
        self.models.insert(name, model);
        Ok(())
    }

    /// The model of this name.
    ///
    /// # Errors
    /// [`AgentError::Config`], which says which names there are.
    pub fn get(&self, name: &str) -> Result<Arc<dyn Model>, AgentError> {
        self.models.get(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.names().collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            AgentError::Config(format!("there is no provider named `{name}`; registered: {known}"))
        })
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }
}

#[cfg(test)]
#[path = "provider_tests.rs"]
mod tests;
