//! A memory in the process, and the tool through which the model reaches a memory.

use async_trait::async_trait;
use capstan_ports::tool::ToolContext;
use capstan_ports::{
    CallAccess, Execution, MemoryEntry, MemoryError, MemoryPort, MemoryQuery, Tool, ToolCall, ToolDefinition,
    ToolError, ToolOutcome,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Entries that one search by the model gives at most; more would crowd its window.
const MAX_ENTRIES: u64 = 20;

/// Remembers until the process ends. An entry's score is the share of the query's words that it holds.
#[derive(Debug, Default)]
pub struct InMemory {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_id: BTreeMap<String, MemoryEntry>,
    next: u64,
}

impl InMemory {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl MemoryPort for InMemory {
    async fn store(&self, mut entry: MemoryEntry) -> Result<String, MemoryError> {
        let mut entries = self.lock();
        let id = entry.id.take().unwrap_or_else(|| {
            entries.next += 1;
            format!("m{}", entries.next)
        });
        entry.id = Some(id.clone());
        entry.score = None;
        entries.by_id.insert(id.clone(), entry);
        Ok(id)
    }

    async fn search(&self, query: &MemoryQuery) -> Result<Vec<MemoryEntry>, MemoryError> {
        let wanted = words(&query.query);
        let entries = self.lock();
        let mut found: Vec<(f64, &MemoryEntry)> = entries
            .by_id
            .values()
            .filter(|entry| query.filter.iter().all(|(key, value)| entry.metadata.get(key) == Some(value)))
            .map(|entry| (score(&wanted, &words(&entry.content)), entry))
            .filter(|(score, _)| *score > 0.0 && query.threshold.is_none_or(|least| *score >= least))
            .collect();
        // Stable, so that equal scores stay in the order of their ids.
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        found.truncate(query.top_k);
        Ok(found
            .into_iter()
            .map(|(score, entry)| MemoryEntry { score: Some(score), ..entry.clone() })
            .collect())
    }

    async fn delete(&self, id: &str) -> Result<(), MemoryError> {
        match self.lock().by_id.remove(id) {
            Some(_) => Ok(()),
            None => {
                let (id, message) = (id.to_owned(), "there is no such entry".to_owned());
                Err(MemoryError::Delete { id, message, source: None })
            }
        }
    }
}

fn words(text: &str) -> HashSet<String> {
    let split = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    split.map(str::to_lowercase).collect()
}

fn score(wanted: &HashSet<String>, held: &HashSet<String>) -> f64 {
    if wanted.is_empty() {
        return 0.0;
    }
    wanted.intersection(held).count() as f64 / wanted.len() as f64
}

/// Lets the model search a memory (003-079).
pub struct RetrieveTool {
    definition: ToolDefinition,
    memory: Arc<dyn MemoryPort>,
}

impl RetrieveTool {
    /// The tool `retrieve` over this memory.
    pub fn new(memory: Arc<dyn MemoryPort>) -> Self {
        let definition = ToolDefinition {
            name: "retrieve".to_owned(),
            label: "Retrieve".to_owned(),
            description: "Search what was remembered in earlier conversations.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "Words to look for" },
                    "top_k": { "type": "integer", "minimum": 1, "maximum": MAX_ENTRIES },
                },
                "required": ["query"],
            }),
            execution: Execution::Parallel,
        };
        Self { definition, memory }
    }

    /// The same with other words for the model on what is searched.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.definition.description = description.into();
        self
    }
}

#[async_trait]
impl Tool for RetrieveTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn access(&self, _arguments: &Value) -> CallAccess {
        CallAccess::Nothing
    }

    async fn execute(&self, call: &ToolCall, _context: &ToolContext) -> Result<ToolOutcome, ToolError> {
        let mut query = MemoryQuery::new(call.arguments["query"].as_str().unwrap_or_default());
        if let Some(top_k) = call.arguments["top_k"].as_u64() {
            query.top_k = usize::try_from(top_k.min(MAX_ENTRIES)).unwrap_or(1);
        }
        let found = self.memory.search(&query).await.map_err(|error| ToolError::Failed {
            message: error.to_string(),
            source: Some(Box::new(error)),
        })?;
        if found.is_empty() {
            return Ok(ToolOutcome::text("Nothing was found."));
        }
        let lines: Vec<String> = found
            .iter()
            .map(|entry| match &entry.id {
                Some(id) => format!("- {} (id {id})", entry.content),
                None => format!("- {}", entry.content),
            })
            .collect();
        Ok(ToolOutcome::text(lines.join("\n")))
    }
}

#[cfg(test)]
#[path = "recall_tests.rs"]
mod tests;
