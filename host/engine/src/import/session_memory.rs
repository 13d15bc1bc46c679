//! The facts of the running session: the capability `session-memory`.

use crate::bindings::capstan::extension::session_memory;
use crate::bindings::capstan::extension::types::HostError;
use crate::state::State;
use capstan_ports::{MemoryError, SessionMemoryPort};
use std::sync::Arc;

impl State {
    fn facts(&self) -> Result<Arc<dyn SessionMemoryPort>, HostError> {
        let identity = &self.scope.identity;
        if !identity.rights.session_memory {
            return Err(super::not_granted("session-memory"));
        }
        identity.services.session_memory.clone().ok_or_else(|| super::not_lent("session memory"))
    }
}

fn failed(source: MemoryError) -> HostError {
    HostError::Failed(super::printable(&source.to_string(), 1000))
}

impl session_memory::Host for State {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<String>, HostError>> {
        match self.facts() {
            Ok(facts) => Ok(facts.get(&self.scope.session, &key).await.map_err(failed)),
            Err(reason) => Ok(Err(reason)),
        }
    }

    async fn set(&mut self, key: String, value: String) -> wasmtime::Result<Result<(), HostError>> {
        match self.facts() {
            Ok(facts) => Ok(facts.set(&self.scope.session, &key, &value).await.map_err(failed)),
            Err(reason) => Ok(Err(reason)),
        }
    }

    async fn remove(&mut self, key: String) -> wasmtime::Result<Result<(), HostError>> {
        match self.facts() {
            Ok(facts) => Ok(facts.remove(&self.scope.session, &key).await.map_err(failed)),
            Err(reason) => Ok(Err(reason)),
        }
    }

    async fn snapshot(&mut self) -> wasmtime::Result<Result<String, HostError>> {
        match self.facts() {
            Ok(facts) => Ok(facts.snapshot(&self.scope.session).await.map_err(failed)),
            Err(reason) => Ok(Err(reason)),
        }
    }
}
