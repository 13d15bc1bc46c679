//! The list of a session's extensions: native ones and components side by side. It opens the session with their tools and
//! hooks in place and starts them.

use crate::config::AgentLoopConfig;
use crate::error::{AgentError, panic_text};
use crate::extension::{Extension, ExtensionContext, StartError};
use crate::hooks::HookChain;
use crate::registry::ToolRegistry;
use crate::session::AgentSession;
use crate::trace::HookTrace;
use capstan_policy::name::skeleton;
use capstan_ports::{SessionLog, Tool};
use futures::FutureExt;
use std::collections::HashMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

/// What follows when an extension does not start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StartFailure {
    /// The session is not opened.
    #[default]
    FailSession,
    /// The session is opened without the tools and hooks of that extension, and a [`Notice`] says so. Only for programs
    /// whose user reads notices: a gate that did not start is a gate that is missing.
    DisableExtension,
}

/// Something about an extension that its user should read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A tool whose name is taken, or cannot be told from one that is taken.
    ToolLeftOut {
        /// Whose.
        extension: String,
        /// Its name.
        tool: String,
        /// Who has the name: another extension, or `the host`.
        holder: String,
    },
    /// The extension did not start and takes no part in the session.
    Disabled {
        /// Which.
        extension: String,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToolLeftOut { extension, tool, holder } => write!(
                formatter,
                "extension {extension}: its tool {tool} is left out, because {holder} has a tool of that name; rename one"
            ),
            Self::Disabled { extension, reason } => {
                write!(formatter, "extension {extension}: {reason}; it takes no part in this session")
            }
        }
    }
}

/// A session with its extensions started.
pub struct Opened {
    /// The session, ready for its first prompt.
    pub session: AgentSession,
    /// Its tools.
    pub tools: Arc<ToolRegistry>,
    /// What the user should read.
    pub notices: Vec<Notice>,
}

/// Extensions in the order of their registration.
///
/// A tool name belongs to the host if it has a tool of that name, and else to the extension that was registered first; a
/// name that only looks the same counts as the same. Every tool that is left out for that is reported.
#[derive(Default, Clone)]
pub struct ExtensionRuntime {
    extensions: Vec<Arc<dyn Extension>>,
    start_failure: StartFailure,
    trace: Option<Arc<HookTrace>>,
    hook_timeout: Option<Duration>,
}

impl ExtensionRuntime {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides what follows when an extension does not start.
    #[must_use]
    pub fn with_start_failure(mut self, start_failure: StartFailure) -> Self {
        self.start_failure = start_failure;
        self
    }

    /// Records what each hook does; see [`HookChain::with_trace`].
    #[must_use]
    pub fn with_trace(mut self, trace: Arc<HookTrace>) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Gives up on a hook that does not answer for this long; see [`HookChain::with_timeout`].
    #[must_use]
    pub fn with_hook_timeout(mut self, timeout: Duration) -> Self {
        self.hook_timeout = Some(timeout);
        self
    }

    /// Adds an extension at the end of the list.
    ///
    /// # Errors
    /// [`AgentError::ExtensionName`] when its name is empty or taken; the list stays as it was.
    pub fn register(&mut self, extension: Arc<dyn Extension>) -> Result<(), AgentError> {
        let name = extension.name();
        let taken = self.extensions.iter().any(|other| other.name() == name);
        if taken || name.trim().is_empty() {
            return Err(AgentError::ExtensionName { name: name.to_owned() });
        }
        self.extensions.push(extension);
        Ok(())
    }

    /// The names, in the order of registration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.extensions.iter().map(|extension| extension.name())
    }

    /// The chain of all hooks.
    pub fn chain(&self) -> HookChain {
        let placed = self.extensions.iter().zip(0_i32..);
        let mut chain = HookChain::new(placed.flat_map(|(extension, place)| extension.hooks(place)));
        if let Some(trace) = &self.trace {
            chain = chain.with_trace(trace.clone());
        }
        if let Some(timeout) = self.hook_timeout {
            chain = chain.with_timeout(timeout);
        }
        chain
    }

    /// The tools of the host and of all extensions, each name once, with a notice about each that is left out.
    pub fn tools(&self, host: Vec<Arc<dyn Tool>>) -> (Vec<Arc<dyn Tool>>, Vec<Notice>) {
        let key = |tool: &Arc<dyn Tool>| skeleton(&tool.definition().name);
        let mut holders: HashMap<String, &str> = host.iter().map(|tool| (key(tool), "the host")).collect();
        let mut tools = host;
        let mut notices = Vec::new();
        for extension in &self.extensions {
            for tool in extension.tools() {
                if let Some(holder) = holders.get(&key(&tool)) {
                    notices.push(Notice::ToolLeftOut {
                        extension: extension.name().to_owned(),
                        tool: tool.definition().name.clone(),
                        holder: (*holder).to_owned(),
                    });
                } else {
                    holders.insert(key(&tool), extension.name());
                    tools.push(tool);
                }
            }
        }
        (tools, notices)
    }

    /// Takes up the conversation in `log` with the tools of the host and of the extensions, and all their hooks, then
    /// starts the extensions one after another. The chain in `config` is replaced.
    ///
    /// # Errors
    /// Those of [`AgentSession::open`], [`AgentError::DuplicateTool`] when two tools of the host share a name, and
    /// [`AgentError::Extension`] when an extension does not start and the runtime is not told to go on without it.
    pub async fn open(
        mut self,
        config: AgentLoopConfig,
        log: Arc<dyn SessionLog>,
        host_tools: Vec<Arc<dyn Tool>>,
    ) -> Result<Opened, AgentError> {
        let hooks = config.hooks.clone();
        let session = AgentSession::open(config, log)?;
        let context = ExtensionContext { agent: session.agent().clone(), session };
        // All gates stand before the first extension runs: one that prompts the model from its start is gated, too.
        let (tools, mut notices) = self.tools(host_tools.clone());
        hooks.replace(self.chain());
        let mut registry = Arc::new(ToolRegistry::with_tools(tools)?);
        context.agent.set_tool_registry(registry.clone());

        let mut disabled = Vec::new();
        let mut started = Vec::with_capacity(self.extensions.len());
        for extension in &self.extensions {
            match (start(extension.as_ref(), &context).await, self.start_failure) {
                (Ok(()), _) => started.push(extension.clone()),
                (Err(source), StartFailure::FailSession) => {
                    return Err(AgentError::Extension { name: extension.name().to_owned(), source });
                }
                (Err(source), StartFailure::DisableExtension) => disabled.push(Notice::Disabled {
                    extension: extension.name().to_owned(),
                    reason: source.to_string(),
                }),
            }
        }
        if !disabled.is_empty() {
            self.extensions = started;
            let (tools, left_out) = self.tools(host_tools);
            notices = left_out;
            notices.append(&mut disabled);
            hooks.replace(self.chain());
            registry = Arc::new(ToolRegistry::with_tools(tools)?);
            context.agent.set_tool_registry(registry.clone());
        }
        Ok(Opened { session: context.session, tools: registry, notices })
    }
}

/// Starts one extension; a panic is its error.
async fn start(extension: &dyn Extension, context: &ExtensionContext) -> Result<(), StartError> {
    match AssertUnwindSafe(extension.on_start(context)).catch_unwind().await {
        Ok(started) => started,
        Err(payload) => Err(format!("it panicked ({})", panic_text(payload.as_ref())).into()),
    }
}

#[cfg(test)]
#[path = "extension_runtime_tests.rs"]
mod tests;
