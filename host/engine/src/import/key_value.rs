//! Persistent storage of an extension of its own: the capability `key-value`.

use crate::bindings::capstan::extension::key_value;
use crate::bindings::capstan::extension::types::HostError;
use crate::state::State;

impl key_value::Host for State {
    async fn get(&mut self, _key: String) -> wasmtime::Result<Result<Option<Vec<u8>>, HostError>> {
        super::denied("key-value")
    }

    async fn set(&mut self, _key: String, _value: Vec<u8>) -> wasmtime::Result<Result<(), HostError>> {
        super::denied("key-value")
    }

    async fn remove(&mut self, _key: String) -> wasmtime::Result<Result<(), HostError>> {
        super::denied("key-value")
    }

    async fn list_keys(&mut self, _prefix: String) -> wasmtime::Result<Result<Vec<String>, HostError>> {
        super::denied("key-value")
    }
}
