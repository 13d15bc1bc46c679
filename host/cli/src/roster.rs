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

/// What takes part in a session: components in the order of their ids, then what the configuration switches on. Where an
/// extension stands in the list decides nothing about its hooks; their priorities do.
///
/// # Errors
/// When the configuration has a hook that cannot be one.
pub(crate) fn extensions(
    home: &Home,
    config: &Config,
    catalog: &Catalog,
    programs: Arc<dyn ProgramRunner>,
) -> Result<ExtensionRuntime> {
    let mut runtime = ExtensionRuntime::new();
    for extension in &catalog.active {
        runtime.register(Arc::new(Component(extension.clone())))?;
    }
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
        runtime.register(Arc::new(hooks))?;
    }
    if let Some(rtk) = config.rtk.clone().filter(|rtk| rtk.enabled) {
        runtime.register(Arc::new(Rtk::new(rtk, host)))?;
    }
    Ok(runtime)
}
