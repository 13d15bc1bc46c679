//! A sandbox in a temporary place, and what a test needs to call into it.

use crate::guest::Guest;
use anyhow::Result;
use capstan_engine::{Extension, ExtensionSettings, LoadError, Sandbox, SandboxOptions};
use capstan_policy::{Effective, Places};
use capstan_ports::extension::{Capability, CapabilityRequest};
use capstan_ports::hook::HookContext;
use capstan_ports::message::ToolCall;
use capstan_ports::session::SessionId;
use capstan_ports::tool::{NoProgress, ToolContext, TurnContext};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// One engine serves all tests of the binary: its pool reserves much address space.
static SANDBOX: LazyLock<Result<Sandbox, String>> =
    LazyLock::new(|| Sandbox::new(&SandboxOptions::default()).map_err(|error| error.to_string()));

/// A folder with a workspace in it, and the shared sandbox.
pub struct Place {
    /// The sandbox.
    pub sandbox: Sandbox,
    root: TempDir,
}

impl Place {
    /// A new, empty place.
    pub fn new() -> Result<Self> {
        let sandbox = SANDBOX.as_ref().map_err(|error| anyhow::anyhow!("{error}"))?.clone();
        let root = tempfile::tempdir()?;
        std::fs::create_dir(root.path().join("workspace"))?;
        std::fs::create_dir(root.path().join("own"))?;
        Ok(Self { sandbox, root })
    }

    /// A new, empty place for a built guest, whose compiled code is kept for the next test.
    pub fn with_cache() -> Result<Self> {
        Ok(Self { sandbox: crate::probe::sandbox()?, ..Self::new()? })
    }

    /// The workspace, canonical.
    pub fn workspace(&self) -> PathBuf {
        self.places().workspace
    }

    /// What grants are relative to.
    pub fn places(&self) -> Places {
        let root = self.root.path().canonicalize().unwrap_or_else(|_missing| self.root.path().to_owned());
        Places {
            workspace: root.join("workspace"),
            home: Some(root.clone()),
            protected: vec![root.join("own")],
        }
    }

    /// Writes a file beside the workspace and answers its path.
    pub fn file(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.root.path().join(name);
        std::fs::write(&path, bytes)?;
        Ok(path)
    }

    /// Inspects these bytes as a file of this name.
    pub async fn inspect(&self, name: &str, bytes: &[u8]) -> Result<capstan_engine::Inspected, LoadError> {
        let path = self.file(name, bytes).map_err(|reason| LoadError {
            file: PathBuf::from(name),
            problem: capstan_engine::LoadProblem::Unreadable { source: std::io::Error::other(reason) },
        })?;
        self.sandbox.inspect(&path).await
    }

    /// Loads a guest with nothing granted.
    pub async fn load(&self, guest: &Guest) -> Result<Extension> {
        self.load_granted(guest, Granted::Nothing).await
    }

    /// Loads a guest with all or nothing of what it asks for.
    pub async fn load_granted(&self, guest: &Guest, granted: Granted) -> Result<Extension> {
        let inspected = self.inspect(&format!("{}.wasm", guest.id), &guest.build()?).await?;
        self.put_in_force(inspected, granted)
    }

    /// Puts an inspected extension into force.
    pub fn put_in_force(&self, inspected: capstan_engine::Inspected, granted: Granted) -> Result<Extension> {
        let requests = &inspected.surface.descriptor.requests;
        let held: BTreeSet<_> = match granted {
            Granted::Nothing => BTreeSet::new(),
            Granted::Everything => requests.iter().map(|request| request.capability.clone()).collect(),
        };
        let effective = Effective::of(requests, &held);
        let settings = ExtensionSettings::new(self.places());
        Ok(self.sandbox.extension(inspected, effective, &settings)?)
    }
}

/// How much of what a guest asks for it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Granted {
    /// None of it.
    Nothing,
    /// All of it.
    Everything,
}

/// Exactly these capabilities, as if an extension had asked for them and got them.
pub fn in_force(granted: &[Capability]) -> Effective {
    let asked = |capability: &Capability| CapabilityRequest {
        capability: capability.clone(),
        reason: "to test".to_owned(),
        required: true,
    };
    let requests: Vec<_> = granted.iter().map(asked).collect();
    Effective::of(&requests, &granted.iter().cloned().collect())
}

/// A turn of a test.
pub fn turn() -> TurnContext {
    TurnContext { session_id: SessionId::new("test"), turn: 0, round: 0, model: Arc::from("scripted/test") }
}

/// What a tool gets in a test.
pub fn tool_context() -> ToolContext {
    ToolContext { turn: turn(), cancel: CancellationToken::new(), progress: Arc::new(NoProgress) }
}

/// What a hook gets in a test.
pub fn hook_context() -> HookContext {
    HookContext::new(turn(), CancellationToken::new())
}

/// A call as the model makes it.
pub fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall { id: "call-1".to_owned(), name: name.to_owned(), arguments, malformed: None }
}
