//! Persistent storage of an extension of its own: the capability `key-value`.

use crate::bindings::capstan::extension::key_value;
use crate::bindings::capstan::extension::types::HostError;
use crate::state::State;
use capstan_ports::extension::ExtensionId;
use capstan_ports::storage::{StorageError, StoragePort};
use std::sync::Arc;

/// Longest key, in bytes.
const MAX_KEY_BYTES: usize = 256;

/// What a call needs to reach its storage.
struct Room {
    storage: Arc<dyn StoragePort>,
    owner: ExtensionId,
    quota: u64,
}

impl State {
    fn room(&self) -> Result<Room, HostError> {
        let identity = &self.scope.identity;
        let Some(quota) = identity.rights.storage_bytes else { return Err(super::not_granted("key-value")) };
        let storage = identity.services.storage.clone().ok_or_else(|| super::not_lent("storage"))?;
        let owner = identity.extension.parse();
        // An extension in force has an id; the unnamed one that describes itself has no grant either.
        let owner = owner.map_err(|reason| HostError::Failed(format!("{reason}")))?;
        Ok(Room { storage, owner, quota })
    }
}

fn checked(key: &str) -> Result<(), HostError> {
    match key.len() {
        1..=MAX_KEY_BYTES => Ok(()),
        length => Err(HostError::Failed(format!(
            "a key must have 1 to {MAX_KEY_BYTES} bytes, this one has {length}"
        ))),
    }
}

fn failed(source: StorageError) -> HostError {
    match source {
        StorageError::Full { .. } => HostError::Exhausted(source.to_string()),
        StorageError::Unusable { .. } => {
            // The log names the file; the guest learns no path of the host.
            tracing::warn!(target: "capstan::extension", "{source}");
            HostError::Failed("the storage cannot be used; the host's log says why".to_owned())
        }
    }
}

impl key_value::Host for State {
    async fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Vec<u8>>, HostError>> {
        let room = match self.room().and_then(|room| checked(&key).map(|()| room)) {
            Ok(room) => room,
            Err(reason) => return Ok(Err(reason)),
        };
        Ok(room.storage.get(&room.owner, &key).await.map_err(failed))
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<(), HostError>> {
        let room = match self.room().and_then(|room| checked(&key).map(|()| room)) {
            Ok(room) => room,
            Err(reason) => return Ok(Err(reason)),
        };
        Ok(room.storage.set(&room.owner, &key, &value, room.quota).await.map_err(failed))
    }

    async fn remove(&mut self, key: String) -> wasmtime::Result<Result<(), HostError>> {
        let room = match self.room().and_then(|room| checked(&key).map(|()| room)) {
            Ok(room) => room,
            Err(reason) => return Ok(Err(reason)),
        };
        Ok(room.storage.remove(&room.owner, &key).await.map_err(failed))
    }

    async fn list_keys(&mut self, prefix: String) -> wasmtime::Result<Result<Vec<String>, HostError>> {
        let room = match self.room() {
            Ok(room) => room,
            Err(reason) => return Ok(Err(reason)),
        };
        Ok(room.storage.list_keys(&room.owner, &prefix).await.map_err(failed))
    }
}
