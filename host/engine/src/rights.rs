//! What is in force for an extension beside its WASI world, in the form in which host functions look at it.
//!
//! Made once, when the extension is put into force, so that no host function interprets a grant a second time.

use crate::error::LoadProblem;
use crate::import::BoundSecrets;
use crate::wasi::World;
use capstan_policy::program::ProgramRule;
use capstan_policy::{Effective, HttpRule, HttpRules, ResolvedDirectory, SecretBinding};
use capstan_ports::extension::Capability;
use std::collections::BTreeSet;

/// Rights of one extension. The default is none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rights {
    /// Bytes of storage; `None`: no storage.
    pub(crate) storage_bytes: Option<u64>,
    /// Whether it sees and sets the session's facts.
    pub(crate) session_memory: bool,
    /// Tokens that it may have the model read and write in one turn; `None`: no model.
    pub(crate) model_tokens: Option<u64>,
    /// Rules for programs.
    pub(crate) programs: Vec<ProgramRule>,
    /// Granted directories: where programs may start.
    pub(crate) directories: Vec<ResolvedDirectory>,
    /// Names of granted variables: what programs may be handed.
    pub(crate) variables: BTreeSet<String>,
    /// Which requests it may make.
    pub(crate) http: HttpRules,
    /// Which secrets go along with them.
    pub(crate) secrets: BoundSecrets,
}

impl Rights {
    /// Interprets grants. `world` holds what those to directories came to.
    pub(crate) fn of(effective: &Effective, world: &World) -> Result<Self, LoadProblem> {
        let mut rights = Self { directories: world.directories().to_vec(), ..Self::default() };
        for capability in effective.iter() {
            match capability {
                Capability::KeyValue { bytes } => {
                    rights.storage_bytes = rights.storage_bytes.max(Some(u64::from(*bytes)));
                }
                Capability::SessionMemory => rights.session_memory = true,
                Capability::Model { tokens } => {
                    rights.model_tokens = rights.model_tokens.max(Some(u64::from(*tokens)));
                }
                Capability::Process { program } => {
                    let rule = ProgramRule::parse(program).map_err(|source| LoadProblem::Grant { source })?;
                    rights.programs.push(rule);
                }
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
                Capability::Environment { name } => {
                    rights.variables.insert(name.clone());
                }
                // Part of the WASI world.
                Capability::Directory { .. } => {}
                // Looked up where the answer is judged.
                Capability::Power { .. } => {}
            }
        }
        Ok(rights)
    }
}
