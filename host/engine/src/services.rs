//! What the host lends to extensions beyond the sandbox: storage, programs, a model, the session's facts, an ear for events.
//!
//! An extension reaches a service only through a host function that looks at its [`crate::rights::Rights`] first. Where the
//! program around the engine lends none, the host function answers `failed` and says so.

use crate::network::Network;
use capstan_ports::{Model, ProgramRunner, SessionMemoryPort, StoragePort, TurnEventSink};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Services of the host. The default lends nothing but the network, which is reached with a grant only.
#[derive(Clone, Default)]
pub struct Services {
    /// Keeps what extensions keep of their own.
    pub storage: Option<Arc<dyn StoragePort>>,
    /// Runs programs.
    pub programs: Option<Arc<dyn ProgramRunner>>,
    /// Answers sub-completions.
    pub model: Option<Arc<dyn Model>>,
    /// The facts of sessions.
    pub session_memory: Option<Arc<dyn SessionMemoryPort>>,
    /// Hears events of extensions.
    pub events: Option<Arc<dyn TurnEventSink>>,
    /// The way to the network, for extensions with a grant of HTTP.
    pub network: Network,
    /// The user's secrets by name. They are put into requests by the host and never reach a guest.
    pub secrets: Secrets,
}

/// Secrets by name. Never shown: not by `Debug`, not in errors.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Arc<BTreeMap<String, String>>,
}

impl Secrets {
    /// These secrets.
    pub fn new(values: BTreeMap<String, String>) -> Self {
        Self { values: Arc::new(values) }
    }

    /// The value of a name, for the host's own use.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Services")
            .field("storage", &self.storage.is_some())
            .field("programs", &self.programs.is_some())
            .field("model", &self.model.as_ref().map(|model| model.info().full_name()))
            .field("session_memory", &self.session_memory.is_some())
            .field("events", &self.events.is_some())
            .field("network", &self.network)
            .field("secrets", &self.secrets)
            .finish()
    }
}
