//! Host functions whose capability this version cannot grant yet. They answer `denied`, so that a component that imports its
//! whole world loads and works without them.

use crate::bindings::capstan::extension::types::{Message, ModelResponse};
use crate::bindings::capstan::extension::{key_value, model, process, session_memory, types::HostError};
use crate::state::State;

fn denied<T>(capability: &str) -> wasmtime::Result<Result<T, HostError>> {
    Ok(Err(HostError::Denied(format!("the capability `{capability}` is not granted"))))
}

impl key_value::Host for State {
    fn get(&mut self, _key: String) -> wasmtime::Result<Result<Option<Vec<u8>>, HostError>> {
        denied("key-value")
    }

    fn set(&mut self, _key: String, _value: Vec<u8>) -> wasmtime::Result<Result<(), HostError>> {
        denied("key-value")
    }

    fn remove(&mut self, _key: String) -> wasmtime::Result<Result<(), HostError>> {
        denied("key-value")
    }

    fn list_keys(&mut self, _prefix: String) -> wasmtime::Result<Result<Vec<String>, HostError>> {
        denied("key-value")
    }
}

impl session_memory::Host for State {
    fn get(&mut self, _key: String) -> wasmtime::Result<Result<Option<String>, HostError>> {
        denied("session-memory")
    }

    fn set(&mut self, _key: String, _value: String) -> wasmtime::Result<Result<(), HostError>> {
        denied("session-memory")
    }

    fn remove(&mut self, _key: String) -> wasmtime::Result<Result<(), HostError>> {
        denied("session-memory")
    }

    fn snapshot(&mut self) -> wasmtime::Result<Result<String, HostError>> {
        denied("session-memory")
    }
}

impl process::Host for State {
    fn run(&mut self, _command: process::Command) -> wasmtime::Result<Result<process::Outcome, HostError>> {
        denied("process")
    }
}

impl model::Host for State {
    fn complete(
        &mut self,
        _messages: Vec<Message>,
        _max_tokens: u32,
    ) -> wasmtime::Result<Result<ModelResponse, HostError>> {
        denied("model")
    }
}
