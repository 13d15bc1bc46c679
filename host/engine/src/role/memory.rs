//! A component's store as the memory port.

use super::{MAX_REASON_BYTES, of_session};
use crate::abi::Interface;
use crate::bindings::exports::capstan::extension::memory as wit;
use crate::convert;
use crate::error::CallError;
use crate::extension::Extension;
use crate::import::printable;
use crate::limits::Role;
use async_trait::async_trait;
use capstan_ports::extension::Power;
use capstan_ports::memory::{MemoryEntry, MemoryError, MemoryPort, MemoryQuery};
use capstan_ports::session::SessionId;
use serde_json::{Map, Value};

/// Bytes of an entry's id: enough for any digest or address.
const MAX_ID_BYTES: usize = 256;

pub(super) struct ComponentMemory {
    extension: Extension,
    session: SessionId,
}

/// What did not work, in words and with what lies beneath.
type Failed = (String, Option<Box<dyn std::error::Error + Send + Sync>>);

/// Calls one function of the interface, answers its result, and makes a failure of everything else.
macro_rules! call {
    ($memory:expr, $bytes:expr, $function:ident, $argument:expr) => {{
        let memory: &ComponentMemory = $memory;
        memory.may_remember()?;
        // Owned, because the work may not borrow from its caller.
        let argument = $argument;
        let caller = of_session(&memory.session, $bytes);
        let answer = memory.extension.call(Role::Memory, caller, |store, instance, code| {
            Box::pin(async move {
                let Some(indices) = &code.indices.memory else { return Ok(None) };
                indices.load(&mut *store, instance)?.$function(store, &argument).await.map(Some)
            })
        });
        match answer.await.map_err(|source| memory.failed(source))? {
            Some(Ok(value)) => Ok(value),
            Some(Err(text)) => {
                Err((format!("{}: {}", memory.extension.id(), printable(&text, MAX_REASON_BYTES)), None))
            }
            None => Err(memory.failed(CallError::NotExported(Interface::Memory))),
        }
    }};
}

impl ComponentMemory {
    pub(super) fn new(extension: &Extension, session: &SessionId) -> Self {
        Self { extension: extension.clone(), session: session.clone() }
    }

    fn failed(&self, source: CallError) -> Failed {
        (format!("the extension {} failed: {source}", self.extension.id()), Some(Box::new(source)))
    }

    fn may_remember(&self) -> Result<(), Failed> {
        match self.extension.has_power(Power::Remember) {
            true => Ok(()),
            false => Err(self.failed(CallError::Powerless { action: "be the memory", power: "remember" })),
        }
    }

    async fn try_save(&self, entry: MemoryEntry) -> Result<String, Failed> {
        let metadata = Value::Object(entry.metadata).to_string();
        let bytes = entry.content.len() + metadata.len();
        let entry = wit::Entry { id: entry.id, content: entry.content, metadata, score: None };
        let id: String = call!(self, bytes, call_save, entry)?;
        checked_id(id).map_err(|source| self.failed(source))
    }

    async fn try_search(&self, query: &MemoryQuery) -> Result<Vec<MemoryEntry>, Failed> {
        let filter = match query.filter.is_empty() {
            true => None,
            false => Some(Value::Object(query.filter.clone()).to_string()),
        };
        let bytes = query.query.len() + filter.as_ref().map_or(0, String::len);
        let asked = wit::Query {
            text: query.query.clone(),
            top_k: u32::try_from(query.top_k).unwrap_or(u32::MAX),
            threshold: query.threshold,
            filter,
        };
        let found: Vec<wit::Entry> = call!(self, bytes, call_search, asked)?;
        let entries = found.into_iter().take(query.top_k).map(entry_from_guest);
        entries.collect::<Result<_, _>>().map_err(|source| self.failed(source))
    }

    async fn try_delete(&self, id: &str) -> Result<(), Failed> {
        call!(self, id.len(), call_delete, id.to_owned())
    }
}

fn checked_id(id: String) -> Result<String, CallError> {
    if id.is_empty() || id.len() > MAX_ID_BYTES || printable(&id, MAX_ID_BYTES) != id {
        let found = printable(&id, 60);
        let reason = format!("the id `{found}` is not 1 to {MAX_ID_BYTES} bytes of visible text");
        return Err(CallError::Garbage { reason });
    }
    Ok(id)
}

fn entry_from_guest(entry: wit::Entry) -> Result<MemoryEntry, CallError> {
    let metadata: Map<String, Value> = match convert::json(&entry.metadata, "the metadata of an entry")? {
        Value::Object(fields) => fields,
        _ => return Err(CallError::Garbage { reason: "the metadata of an entry is no object".to_owned() }),
    };
    if let Some(score) = entry.score.filter(|score| !(0.0..=1.0).contains(score)) {
        return Err(CallError::Garbage { reason: format!("the score {score} is not between 0 and 1") });
    }
    let id = entry.id.map(checked_id).transpose()?;
    Ok(MemoryEntry { id, content: entry.content, metadata, score: entry.score })
}

#[async_trait]
impl MemoryPort for ComponentMemory {
    async fn store(&self, entry: MemoryEntry) -> Result<String, MemoryError> {
        let saved = self.try_save(entry).await;
        saved.map_err(|(message, source)| MemoryError::Store { message, source })
    }

    async fn search(&self, query: &MemoryQuery) -> Result<Vec<MemoryEntry>, MemoryError> {
        let found = self.try_search(query).await;
        found.map_err(|(message, source)| MemoryError::Search { message, source })
    }

    async fn delete(&self, id: &str) -> Result<(), MemoryError> {
        let deleted = self.try_delete(id).await;
        deleted.map_err(|(message, source)| MemoryError::Delete { id: id.to_owned(), message, source })
    }
}
