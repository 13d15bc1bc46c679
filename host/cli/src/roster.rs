//! The one list in which native extensions and components stand.

use crate::catalog::Catalog;
use crate::config::Config;
use crate::home::Home;
use anyhow::Result;
use capstan_agent::{Extension, ExtensionRuntime, ProcessHookHost, ProcessHooks, Rtk};
use capstan_ports::{Hook, ProgramRunner, Tool};
use std::sync::Arc;

/// A component as an extension of the agent.
struct Component(capstan_engine::Extension);

impl Extension for Component {
    fn name(&self) -> &str {
        self.0.id().as_str()
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.0.tools()
    }

    fn hooks(&self, _place: i32) -> Vec<Arc<dyn Hook>> {
        self.0.hook().into_iter().collect()
    }
}

/// Gates that are closed at the moment; see [`crate::reload::ClosedGates`].
struct ClosedGates(Vec<Arc<dyn Hook>>);

impl Extension for ClosedGates {
    /// No component can have a name with a space.
    fn name(&self) -> &str {
        "closed gates"
    }

    fn hooks(&self, _place: i32) -> Vec<Arc<dyn Hook>> {
        self.0.clone()
    }
}

/// What the configuration switches on beside components. It is made once for a session.
///
/// # Errors
/// When the configuration has a hook that cannot be one.
pub(crate) fn natives(
    home: &Home,
    config: &Config,
    programs: Arc<dyn ProgramRunner>,
) -> Result<Vec<Arc<dyn Extension>>> {
    let mut natives: Vec<Arc<dyn Extension>> = Vec::new();
    let host = ProcessHookHost {
        runner: programs,
        directory: home.workspace.clone(),
        // What is no text cannot be passed on as text; nothing that hooks get is of that kind.
        environment: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
    };
    let hooks = ProcessHooks::new(config.hooks.clone(), &host)?;
    if !hooks.is_empty() {
        natives.push(Arc::new(hooks));
    }
    if let Some(rtk) = config.rtk.clone().filter(|rtk| rtk.enabled) {
        natives.push(Arc::new(Rtk::new(rtk, host)));
    }
    Ok(natives)
}

/// What takes part in a session: components in the order of their ids, then the others. Where an extension stands in the list
/// decides nothing about its hooks; their priorities do.
///
/// # Errors
/// When two share a name.
pub(crate) fn runtime(
    catalog: &Catalog,
    natives: &[Arc<dyn Extension>],
    closed: &[Arc<dyn Hook>],
) -> Result<ExtensionRuntime> {
    let mut runtime = ExtensionRuntime::new();
    for extension in &catalog.active {
        runtime.register(Arc::new(Component(extension.clone())))?;
    }
    for native in natives {
        runtime.register(native.clone())?;
    }
    if !closed.is_empty() {
        runtime.register(Arc::new(ClosedGates(closed.to_vec())))?;
    }
    Ok(runtime)
}
