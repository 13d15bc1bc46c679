//! The facts of the running session: the capability `session-memory`.

use crate::bindings::capstan::extension::session_memory;
use crate::bindings::capstan::extension::types::HostError;
use crate::state::State;

impl session_memory::Host for State {
    async fn get(&mut self, _key: String) -> wasmtime::Result<Result<Option<String>, HostError>> {
        super::denied("session-memory")
    }

    async fn set(&mut self, _key: String, _value: String) -> wasmtime::Result<Result<(), HostError>> {
        super::denied("session-memory")
    }

    async fn remove(&mut self, _key: String) -> wasmtime::Result<Result<(), HostError>> {
        super::denied("session-memory")
    }

    async fn snapshot(&mut self) -> wasmtime::Result<Result<String, HostError>> {
        super::denied("session-memory")
    }
}
