//! The guest `tests/guests/services` in force: tests send it steps and read what the host answered.

use crate::probe::built_guest;
use crate::sandboxed::{Place, call, in_force, tool_context};
use anyhow::{Context, Result, bail};
use capstan_engine::{Extension, ExtensionSettings, Services};
use capstan_ports::extension::Capability;
use capstan_ports::message::text_of;
use capstan_ports::tool::{Tool, ToolContext};
use serde_json::{Value, json};
use std::sync::Arc;

/// The guest with grants and services of the test's choice.
pub struct Guest {
    /// As the host sees it.
    pub extension: Extension,
    tool: Arc<dyn Tool>,
}

impl Guest {
    /// Puts it into force with exactly these grants, whatever it asks for itself.
    pub async fn load(place: &Place, services: Services, granted: &[Capability]) -> Result<Self> {
        Self::load_configured(place, services, granted, json!({})).await
    }

    /// The same with a configuration table.
    pub async fn load_configured(
        place: &Place,
        services: Services,
        granted: &[Capability],
        config: Value,
    ) -> Result<Self> {
        // Compiled once for all test processes.
        let sandbox = crate::probe::sandbox()?;
        let inspected = sandbox.inspect(&built_guest("services")?).await?;
        let effective = in_force(granted);
        let settings = ExtensionSettings { config, services, ..ExtensionSettings::new(place.places()) };
        let extension = sandbox.extension(inspected, effective, &settings)?;
        let tool = extension.tools().into_iter().next().context("the guest has a tool")?;
        extension.prepare().await?;
        Ok(Self { extension, tool })
    }

    /// Runs steps in one instance; what came of each.
    pub async fn steps(&self, steps: Value) -> Result<Vec<Value>> {
        self.steps_in(steps, &tool_context()).await
    }

    /// The same in a call of the test's own.
    pub async fn steps_in(&self, steps: Value, context: &ToolContext) -> Result<Vec<Value>> {
        let outcome = self.tool.execute(&call("services", json!({ "steps": steps })), context).await?;
        let text = text_of(&outcome.content);
        if outcome.is_error {
            bail!("the guest failed: {text}");
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// Runs one step.
    pub async fn step(&self, step: Value) -> Result<Value> {
        Ok(self.steps(json!([step])).await?.pop().unwrap_or(Value::Null))
    }
}

/// The kind of error that a step came to; empty where it succeeded.
pub fn kind(outcome: &Value) -> &str {
    outcome["error"]["kind"].as_str().unwrap_or_default()
}
