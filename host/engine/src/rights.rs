//! What is in force for an extension beside its WASI world, in the form in which host functions look at it.
//!
//! Made once, when the extension is put into force, so that no host function interprets a grant a second time.

use crate::error::LoadProblem;
use crate::import::BoundSecrets;
use capstan_policy::{Effective, HttpRule, HttpRules, SecretBinding};
use capstan_ports::extension::Capability;

/// Rights of one extension. The default is none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rights {
    /// Bytes of storage; `None`: no storage.
    pub(crate) storage_bytes: Option<u64>,
    /// Whether it sees and sets the session's facts.
    pub(crate) session_memory: bool,
    /// Tokens that it may have the model read and write in one turn; `None`: no model.
    pub(crate) model_tokens: Option<u64>,
    /// Globs over programs.
    pub(crate) programs: Vec<String>,
    /// Which requests it may make.
    pub(crate) http: HttpRules,
    /// Which secrets go along with them.
    pub(crate) secrets: BoundSecrets,
}

impl Rights {
    /// Interprets grants.
    pub(crate) fn of(effective: &Effective) -> Result<Self, LoadProblem> {
        let mut rights = Self::default();
        for capability in effective.iter() {
            match capability {
                Capability::KeyValue { bytes } => {
                    rights.storage_bytes = rights.storage_bytes.max(Some(u64::from(*bytes)));
                }
                Capability::SessionMemory => rights.session_memory = true,
                Capability::Model { tokens } => {
                    rights.model_tokens = rights.model_tokens.max(Some(u64::from(*tokens)));
                }
                Capability::Process { program } => rights.programs.push(program.clone()),
                Capability::Http { pattern, methods } => {
                    let rule =
                        HttpRule::new(pattern, methods).map_err(|source| LoadProblem::Endpoint { source })?;
                    rights.http.push(rule);
                }
                Capability::Secret { name, endpoint } => {
                    let binding = SecretBinding::new(name, endpoint)
                        .map_err(|source| LoadProblem::Secret { source })?;
                    rights.secrets.push(binding);
                }
                // Part of the WASI world.
                Capability::Directory { .. } | Capability::Environment { .. } => {}
                // Looked up where the answer is judged.
                Capability::Power { .. } => {}
            }
        }
        Ok(rights)
    }
}
