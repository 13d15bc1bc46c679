//! What tests use in the place of a store that works and of a loop.

use async_trait::async_trait;
use capstan_ports::memory_store::{MemoryHit, MemoryRecord, MemoryStore};
use capstan_ports::tool::{NoProgress, ToolContext, TurnContext};
use capstan_ports::{MemoryError, SessionId, Tool, ToolCall, ToolError, ToolOutcome};
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// One call of a tool, as the loop would make it.
pub(crate) async fn call(tool: &dyn Tool, arguments: Value) -> Result<ToolOutcome, ToolError> {
    let turn = TurnContext { session_id: SessionId::new("s"), turn: 0, round: 0, model: Arc::from("m") };
    let context = ToolContext { turn, cancel: CancellationToken::new(), progress: Arc::new(NoProgress) };
    let name = tool.definition().name.clone();
    tool.execute(&ToolCall { id: "1".to_owned(), name, arguments, malformed: None }, &context).await
}

/// A store that fails at everything.
pub(crate) struct FailingStore;

fn no_search<T>() -> Result<T, MemoryError> {
    Err(MemoryError::Search { message: "out of order".to_owned(), source: None })
}

#[async_trait]
impl MemoryStore for FailingStore {
    async fn save(&self, _record: MemoryRecord) -> Result<(), MemoryError> {
        Err(MemoryError::Store { message: "out of order".to_owned(), source: None })
    }

    async fn load(&self, _namespace: &str, _key: &str) -> Result<Option<MemoryRecord>, MemoryError> {
        no_search()
    }

    async fn list(&self, _namespace: &str) -> Result<Vec<MemoryRecord>, MemoryError> {
        no_search()
    }

    async fn search(
        &self,
        _namespace: &str,
        _words: &str,
        _limit: usize,
    ) -> Result<Vec<MemoryHit>, MemoryError> {
        no_search()
    }

    async fn delete(&self, _namespace: &str, key: &str) -> Result<bool, MemoryError> {
        Err(MemoryError::Delete { id: key.to_owned(), message: "out of order".to_owned(), source: None })
    }

    async fn clear(&self, namespace: &str) -> Result<(), MemoryError> {
        let (id, message) = (namespace.to_owned(), "out of order".to_owned());
        Err(MemoryError::Delete { id, message, source: None })
    }
}
