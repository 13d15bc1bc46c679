//! The guest `tests/guests/probe` in force: tests send it steps and read what came of each.

use crate::sandboxed::{Place, call, in_force, tool_context};
use anyhow::{Context, Result, ensure};
use capstan_engine::cache::CacheOptions;
use capstan_engine::{Extension, ExtensionSettings, Inspected, Sandbox, SandboxOptions, Services};
use capstan_policy::Places;
use capstan_ports::extension::{Access, Capability};
use capstan_ports::message::text_of;
use capstan_ports::tool::{Tool, ToolContext, ToolError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// Tests run as many processes; compiled code is shared between them, as between runs of the product.
static SANDBOX: LazyLock<Result<Sandbox, String>> = LazyLock::new(|| {
    let folder = target().join("tmp");
    let cache =
        CacheOptions { directory: folder.join("probe-code"), key_file: folder.join("probe-code.key") };
    let options = SandboxOptions { cache: Some(cache), ..SandboxOptions::default() };
    Sandbox::new(&options).map_err(|error| error.to_string())
});

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target")
}

/// The built guest of this name below `tests/guests`.
///
/// # Errors
/// When it is not built; the error says how to.
pub fn built_guest(name: &str) -> Result<PathBuf> {
    let path = target().join("guests").join(name).with_extension("wasm");
    ensure!(path.is_file(), "the test guest {} is missing: run `cargo xtask setup`", path.display());
    Ok(path)
}

/// The probe, granted something.
pub struct Probe {
    /// As the host sees it.
    pub extension: Extension,
    tool: Arc<dyn Tool>,
}

impl Probe {
    /// Loads it into a place and grants it exactly these, whatever it asks for itself.
    pub async fn load(place: &Place, granted: &[Capability]) -> Result<Self> {
        Self::load_from(place.places(), granted).await
    }

    /// The same, lent something by the host.
    pub async fn load_with(place: &Place, granted: &[Capability], services: Services) -> Result<Self> {
        Self::lent(place.places(), granted, services).await
    }

    /// The same with other places.
    pub async fn load_from(places: Places, granted: &[Capability]) -> Result<Self> {
        Self::lent(places, granted, Services::default()).await
    }

    async fn lent(places: Places, granted: &[Capability], services: Services) -> Result<Self> {
        let sandbox = sandbox()?;
        let effective = in_force(granted);
        let config = json!({ "greeting": "hello" });
        let settings = ExtensionSettings { config, services, ..ExtensionSettings::new(places) };
        let extension = sandbox.extension(inspect().await?, effective, &settings)?;
        let tool = extension.tools().into_iter().next().context("the probe has a tool")?;
        // So that loading code is no part of what a test measures.
        extension.prepare().await?;
        Ok(Self { extension, tool })
    }

    /// Runs steps in one instance; what came of each.
    ///
    /// # Errors
    /// When the call itself failed: a trap, an exit, a limit.
    pub async fn steps(&self, steps: Value) -> Result<Vec<Value>, ToolError> {
        self.steps_in(steps, &tool_context()).await
    }

    /// The same in a call of the test's own.
    ///
    /// # Errors
    /// When the call itself failed.
    pub async fn steps_in(&self, steps: Value, context: &ToolContext) -> Result<Vec<Value>, ToolError> {
        let outcome = self.tool.execute(&call("probe", json!({ "steps": steps })), context).await?;
        let text = text_of(&outcome.content);
        if outcome.is_error {
            return Err(ToolError::failed(text));
        }
        serde_json::from_str(&text).map_err(|error| ToolError::failed(format!("{error} in {text}")))
    }

    /// Runs one step.
    ///
    /// # Errors
    /// When the call itself failed.
    pub async fn step(&self, step: Value) -> Result<Value, ToolError> {
        let mut outcomes = self.steps(json!([step])).await?;
        Ok(outcomes.pop().unwrap_or(Value::Null))
    }
}

/// The sandbox that all probes of a process share.
///
/// # Errors
/// When it cannot be set up on this machine.
pub fn sandbox() -> Result<Sandbox> {
    SANDBOX.as_ref().cloned().map_err(|error| anyhow::anyhow!("{error}"))
}

/// The probe, inspected.
///
/// # Errors
/// When it is not built, or does not load.
pub async fn inspect() -> Result<Inspected> {
    Ok(sandbox()?.inspect(&built_guest("probe")?).await?)
}

/// A grant of HTTP.
pub fn http(pattern: &str, methods: &[&str]) -> Capability {
    let methods = methods.iter().map(|method| (*method).to_owned()).collect();
    Capability::Http { pattern: pattern.to_owned(), methods }
}

/// A grant of a secret.
pub fn secret(name: &str, endpoint: &str) -> Capability {
    Capability::Secret { name: name.to_owned(), endpoint: endpoint.to_owned() }
}

/// A directory grant.
pub fn directory(path: &str, access: Access) -> Capability {
    Capability::Directory { path: path.to_owned(), access }
}

/// Read and list.
pub fn read_only(path: &str) -> Capability {
    directory(path, Access::ReadOnly)
}

/// Everything in a directory.
pub fn read_write(path: &str) -> Capability {
    directory(path, Access::ReadWrite)
}
