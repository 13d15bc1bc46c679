//! What extensions are wired to in a running session.

use crate::catalog::Catalog;
use crate::commands::Commands;
use crate::config::Config;
use crate::explain::{self, Absent};
use crate::roles::{self, Roles, Wanted};
use crate::roster;
use crate::templates::Templates;
use anyhow::Result;
use capstan_agent::trace::HookTrace;
use capstan_agent::{AgentSession, ExtensionRuntime, HookRegistry, ObserverId, Observers, ToolRegistry};
use capstan_engine::Extension;
use capstan_ports::SessionId;
use capstan_ports::extension::Power;
use capstan_ports::hook::Hook;
use capstan_ports::tool::Tool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::watch;

/// Builds the system prompt around the tools that there are.
pub(crate) type PromptOf = Box<dyn Fn(&ToolRegistry) -> String + Send + Sync>;

/// The parts of a session that follow from its extensions.
pub(crate) struct Live {
    parts: LiveParts,
    chosen: Mutex<Option<Chosen>>,
    /// The tools in force but for those of the memory, which is one of each session.
    tools: Mutex<Vec<Arc<dyn Tool>>>,
    observing: Mutex<Vec<(Extension, ObserverId)>>,
    commands: CurrentCommands,
    running: Running,
    absent: AbsentNow,
    changes: watch::Sender<u64>,
    /// What the tools in force come from. Locked while anything is put into force, so that nothing older comes last.
    runtime: Mutex<ExtensionRuntime>,
}

/// What a [`Live`] works on.
pub(crate) struct LiveParts {
    pub(crate) session: AgentSession,
    /// Tools of the program itself.
    pub(crate) builtin: Vec<Arc<dyn Tool>>,
    /// Extensions that are no components. They were started with the session and stay for all of it.
    pub(crate) natives: Vec<Arc<dyn capstan_agent::Extension>>,
    pub(crate) tools: Arc<ToolRegistry>,
    pub(crate) hooks: Arc<HookRegistry>,
    pub(crate) observers: Arc<Observers>,
    /// What hooks do is recorded here, whichever chain they are in.
    pub(crate) trace: Arc<HookTrace>,
    /// Prompts that are called like commands.
    pub(crate) templates: Arc<Templates>,
    pub(crate) prompt: PromptOf,
    /// The tool that searches the user's own memory, if there is something in it.
    pub(crate) own_memory: Option<Arc<dyn Tool>>,
}

/// The extensions in force at the moment.
pub(crate) type Running = Arc<Mutex<Vec<Extension>>>;

/// The extensions that are there and not in force at the moment.
pub(crate) type AbsentNow = Arc<Mutex<Vec<Absent>>>;

/// The slash commands in force at the moment.
#[derive(Clone, Default)]
pub(crate) struct CurrentCommands(Arc<RwLock<Arc<Commands>>>);

impl CurrentCommands {
    /// As they are now.
    pub(crate) fn current(&self) -> Arc<Commands> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Who plays the parts that only one can play, and from what that followed. A compressor that failed is left out from then on,
/// so it must stay the same object while nothing about the choice changes.
struct Chosen {
    candidates: Vec<Extension>,
    wanted: Wanted,
    session: SessionId,
    roles: Roles,
}

impl Live {
    pub(crate) fn new(parts: LiveParts) -> Self {
        Self {
            parts,
            chosen: Mutex::default(),
            tools: Mutex::default(),
            observing: Mutex::default(),
            commands: CurrentCommands::default(),
            running: Running::default(),
            absent: AbsentNow::default(),
            changes: watch::Sender::default(),
            runtime: Mutex::default(),
        }
    }

    /// Counts how often something else was put into force.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The tools in force, each with the extension that it is of; a tool of the program has none. Tools of memories are left out:
    /// they are the session's own.
    pub(crate) fn tools(&self) -> Vec<(Arc<dyn Tool>, Option<Extension>)> {
        let active = lock(&self.running).clone();
        let builtin = |tool: &Arc<dyn Tool>| self.parts.builtin.iter().any(|own| Arc::ptr_eq(own, tool));
        let owner = |name: &str| {
            let has =
                |extension: &&Extension| extension.descriptor().tools.iter().any(|tool| tool.name == name);
            active.iter().find(has).cloned()
        };
        let tools = lock(&self.tools).clone().into_iter();
        tools
            .filter_map(|tool| match builtin(&tool) {
                true => Some((tool, None)),
                // What is neither is of a native extension, and those have no tools for other programs.
                false => owner(&tool.definition().name).map(|owner| (tool, Some(owner))),
            })
            .collect()
    }

    /// What is there and not in force, for those who explain.
    pub(crate) fn absent(&self) -> AbsentNow {
        self.absent.clone()
    }

    /// What is in force, for those who count at the end.
    pub(crate) fn running(&self) -> Running {
        self.running.clone()
    }

    /// The slash commands, as they change.
    pub(crate) fn commands(&self) -> CurrentCommands {
        self.commands.clone()
    }

    /// Puts everything into force that follows from a catalog, and closes what `closed` guards. Rounds in progress end with
    /// what they began with. Answers what the user should know about parts that are not used.
    ///
    /// # Errors
    /// When two tools or two extensions share a name; then nothing changes.
    pub(crate) fn apply(
        &self,
        catalog: &Catalog,
        config: &Config,
        closed: &[Arc<dyn Hook>],
    ) -> Result<Vec<String>> {
        let LiveParts { session, builtin, natives, hooks, prompt, tools: registry, .. } = &self.parts;
        let mut held = lock(&self.runtime);
        let runtime = roster::runtime(catalog, natives, closed)?.with_trace(self.parts.trace.clone());
        let (tools, left_out) = runtime.tools(builtin.clone());
        let mut notices: Vec<_> = left_out.iter().map(ToString::to_string).collect();
        self.play(tools, &catalog.active, Wanted::of(config), &mut notices)?;
        hooks.replace(runtime.chain());
        *held = runtime;
        self.observe(&catalog.active);
        let commands = Commands::of(catalog).with_templates(self.parts.templates.clone());
        notices.extend(commands.notices.iter().cloned());
        *self.commands.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(commands);
        session.agent().set_system_prompt(prompt(registry));
        warm_up(&catalog.active);
        lock(&self.running).clone_from(&catalog.active);
        *lock(&self.absent) = explain::absent(catalog);
        self.changes.send_modify(|count| *count += 1);
        Ok(notices)
    }

    /// Asks everything that takes part for its tools again, after some of them changed of themselves. Answers what the user should
    /// know about those that are not used.
    ///
    /// # Errors
    /// When two tools share a name; then nothing changes.
    pub(crate) fn renew_tools(&self) -> Result<Vec<String>> {
        let LiveParts { session, builtin, prompt, tools: registry, .. } = &self.parts;
        let runtime = lock(&self.runtime);
        let (tools, left_out) = runtime.tools(builtin.clone());
        let active = lock(&self.running).clone();
        let wanted = lock(&self.chosen).as_ref().map(|chosen| chosen.wanted.clone());
        // What is to be said about the parts was said when they were given away.
        self.play(tools, &active, wanted.unwrap_or_default(), &mut Vec::new())?;
        session.agent().set_system_prompt(prompt(registry));
        self.changes.send_modify(|count| *count += 1);
        Ok(left_out.iter().map(ToString::to_string).collect())
    }

    /// Puts the parts into force that extensions play for one session each, after the session became another one.
    ///
    /// # Errors
    /// When two tools share a name; then nothing changes.
    pub(crate) fn rebind(&self) -> Result<()> {
        let active = lock(&self.running).clone();
        let (tools, wanted) = {
            let chosen = lock(&self.chosen);
            (lock(&self.tools).clone(), chosen.as_ref().map(|chosen| chosen.wanted.clone()))
        };
        // What is to be said about the parts was said when the first session began.
        self.play(tools, &active, wanted.unwrap_or_default(), &mut Vec::new())?;
        self.unobserve();
        self.observe(&active);
        self.changes.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Gives the parts that only one can play to whom they belong, and the model its tools.
    fn play(
        &self,
        tools: Vec<Arc<dyn Tool>>,
        active: &[Extension],
        wanted: Wanted,
        notices: &mut Vec<String>,
    ) -> Result<()> {
        let mut chosen = lock(&self.chosen);
        let roles = self.choose(&mut chosen, active, wanted);
        let mut all = tools.clone();
        if let Some((owner, memory)) = &roles.memory {
            let taken: Vec<_> = tools.iter().map(|tool| tool.definition().clone()).collect();
            all.extend(roles::memory_tools(owner, memory, &taken));
        } else if let Some(own) = self.parts.own_memory.as_ref().filter(|_| roles.own_memory) {
            let taken: Vec<_> = tools.iter().map(|tool| tool.definition().clone()).collect();
            all.extend(roles::is_free(&own.definition().name, &taken).then(|| own.clone()));
        }
        self.parts.tools.replace_all(all)?;
        *lock(&self.tools) = tools;
        notices.extend(roles.notices.iter().cloned());
        let compressor = roles.compressor.clone();
        drop(chosen);
        self.parts.session.agent().configure(|config| config.compressor = compressor);
        Ok(())
    }

    fn choose<'c>(&self, chosen: &'c mut Option<Chosen>, active: &[Extension], wanted: Wanted) -> &'c Roles {
        let may = |extension: &&Extension| {
            [Power::Compress, Power::Remember].iter().any(|power| extension.effective().has_power(*power))
        };
        let candidates: Vec<_> = active.iter().filter(may).cloned().collect();
        let session = self.parts.session.id();
        let kept = chosen.take().filter(|chosen| {
            chosen.wanted == wanted
                && chosen.session == session
                && chosen.candidates.len() == candidates.len()
                && chosen.candidates.iter().zip(&candidates).all(|(was, is)| was.is_same(is))
        });
        let now = kept.unwrap_or_else(|| {
            let roles = roles::choose(active, &wanted, &session);
            Chosen { candidates, wanted, session, roles }
        });
        &chosen.insert(now).roles
    }

    /// Takes all observers away; those of the session that comes next are others.
    fn unobserve(&self) {
        for (_, id) in lock(&self.observing).drain(..) {
            self.parts.observers.remove(id);
        }
    }

    /// Lets new observers watch and old ones go. One that stays is left alone: it may have been left out for a failure.
    fn observe(&self, active: &[Extension]) {
        let observers = &self.parts.observers;
        let mut observing = lock(&self.observing);
        observing.retain(|(extension, id)| {
            let stays = active.iter().any(|active| active.is_same(extension));
            if !stays {
                observers.remove(*id);
            }
            stays
        });
        for extension in active {
            if observing.iter().any(|(known, _)| known.is_same(extension)) {
                continue;
            }
            if let Some(observer) = extension.observer(&self.parts.session.id()) {
                observing.push((extension.clone(), observers.add(observer)));
            }
        }
    }
}

/// Nothing under these locks is left by halves, so a panic under one changes nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Loads the code of hooks while the model thinks of its first answer, because every tool call will ask them: milliseconds
/// for a small component, many for one with a whole interpreter in it. Tools are loaded when they are called.
fn warm_up(active: &[Extension]) {
    for extension in active.iter().filter(|extension| !extension.descriptor().hooks.is_empty()) {
        let extension = extension.clone();
        tokio::spawn(async move {
            if let Err(reason) = extension.prepare().await {
                // The first call tries again, and its failure is the one that counts.
                tracing::debug!(extension = %extension.id(), %reason, "the code could not be loaded ahead");
            }
        });
    }
}
