//! The sandbox in process, as the product sets it up.

use anyhow::{Context, Result};
use capstan_engine::cache::CacheOptions;
use capstan_engine::{Extension, ExtensionSettings, Sandbox, SandboxOptions};
use capstan_policy::{Effective, Places};
use capstan_ports::hook::HookContext;
use capstan_ports::message::ToolCall;
use capstan_tests::sandboxed;
use serde_json::json;
use std::path::Path;
use tempfile::TempDir;

/// A folder for the cache of compiled code and a workspace.
pub(crate) struct Place {
    root: TempDir,
}

impl Place {
    pub(crate) fn new() -> Result<Self> {
        let root = tempfile::tempdir()?;
        std::fs::create_dir(root.path().join("workspace"))?;
        Ok(Self { root })
    }

    /// A sandbox that keeps compiled code here.
    pub(crate) fn sandbox(&self) -> Result<Sandbox> {
        let cache = CacheOptions {
            directory: self.root.path().join("cache/code"),
            key_file: self.root.path().join("data/cache.key"),
        };
        Ok(Sandbox::new(&SandboxOptions { cache: Some(cache), ..SandboxOptions::default() })?)
    }

    /// Puts a file into force with everything that it asks for.
    pub(crate) async fn extension(&self, sandbox: &Sandbox, file: &Path) -> Result<Extension> {
        let inspected = sandbox.inspect(file).await?;
        let requests = &inspected.surface.descriptor.requests;
        let held = requests.iter().map(|request| request.capability.clone()).collect();
        let effective = Effective::of(requests, &held);
        let root = self.root.path().canonicalize()?;
        let places =
            Places { workspace: root.join("workspace"), home: None, protected: vec![root.join("data")] };
        Ok(sandbox.extension(inspected, effective, &ExtensionSettings::new(places))?)
    }

    /// Writes a component here.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> Result<std::path::PathBuf> {
        let path = self.root.path().join(name);
        std::fs::write(&path, bytes).with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(path)
    }
}

/// A component with a custom section more, and so with another digest.
pub(crate) fn variant(original: &Path, number: usize) -> Result<Vec<u8>> {
    let missing = || format!("{} is missing; `cargo xtask setup` builds it", original.display());
    let mut bytes = std::fs::read(original).with_context(missing)?;
    let name = format!("variant-{number:05}");
    // A section: its kind, its length, the length of its name, its name. All lengths are below 128, one byte each.
    bytes.extend([0, name.len() as u8 + 1, name.len() as u8]);
    bytes.extend(name.as_bytes());
    Ok(bytes)
}

/// A runtime of one thread: what is measured is the call, not the change of threads.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// A shell call with about 200 bytes of arguments, as a model makes them.
pub(crate) fn shell_call() -> ToolCall {
    let command = "cd crates/server && cargo test --quiet --package server --lib -- handlers::upload --nocapture \
                   2>&1 | tail -n 40 && git status --short && git diff --stat HEAD~1 -- crates/server/src";
    sandboxed::call("bash", json!({ "command": command }))
}

/// On whose behalf.
pub(crate) fn context() -> HookContext {
    sandboxed::hook_context()
}
