//! What follows when another set of extensions takes the place of the one in force: gates that stay closed, and what the user is
//! told.

use crate::catalog::{Catalog, Found, State};
use crate::ext::stage_name;
use crate::load::InForce;
use async_trait::async_trait;
use capstan_engine::{Extension, Guarded, Interface};
use capstan_ports::extension::{Descriptor, ExtensionId, FailureRule, HookStage};
use capstan_ports::hook::{Amendment, GateVerdict, Hook, HookContext, HookError, Verdict};
use capstan_ports::message::{AssistantMessage, Message, ToolCall};
use capstan_ports::tool::ToolOutcome;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Gates that are to guard something and are not in force: those whose new bytes wait for the user, and those that cannot be used,
/// because of their configuration for example. What they guard stays denied: whoever can replace a file must not be able to open a
/// gate with it, and a slip of the pen must not either.
#[derive(Default)]
pub(crate) struct ClosedGates {
    gates: BTreeMap<ExtensionId, (PathBuf, Arc<dyn Hook>)>,
}

impl ClosedGates {
    /// Closes the gates that a session begins without although the user has not switched them off.
    pub(crate) fn begin(catalog: &Catalog) -> Self {
        let mut closed = Self::default();
        for found in &catalog.found {
            if let (State::Broken(reason), Some(about)) = (&found.state, &found.about) {
                let why = Why::Unfit(reason.clone());
                closed.close(&found.path, &about.descriptor, why);
            }
        }
        closed
    }

    fn close(&mut self, path: &Path, descriptor: &Descriptor, why: Why) {
        let strict = descriptor
            .hooks
            .iter()
            .filter(|hook| hook.stage == HookStage::BeforeToolCall || hook.on_failure == FailureRule::Closed);
        let stages: HashSet<HookStage> = strict.map(|hook| hook.stage).collect();
        if !stages.is_empty() {
            let id = descriptor.id.clone();
            let hook = Closed { id: id.to_string(), why, stages, guarded: Guarded::of(descriptor) };
            self.gates.insert(id, (path.to_owned(), Arc::new(hook)));
        }
    }

    /// Closes the gates of those that were in force `before` and lost it without an act of the user, and forgets those about
    /// which the user has decided. Answers a line for each that is lifted and not followed by another.
    pub(crate) fn follow(&mut self, before: &[InForce], catalog: &Catalog) -> Vec<String> {
        for held in before {
            if is_undecided(held.extension.id(), &held.path, catalog) {
                self.close(&held.path, held.extension.descriptor(), Why::Changed);
            }
        }
        let mut lifted = Vec::new();
        self.gates.retain(|id, (path, _)| {
            let stays = is_undecided(id, path, catalog);
            if !stays && catalog.active.iter().all(|extension| extension.id() != id) {
                lifted.push(format!("- {id}: what it guarded is open again"));
            }
            stays
        });
        lifted
    }

    /// As hooks for the chain.
    pub(crate) fn hooks(&self) -> Vec<Arc<dyn Hook>> {
        self.gates.values().map(|(_, hook)| hook.clone()).collect()
    }
}

/// Whether an extension is there, is not in force, and the user has not said that it should be so.
fn is_undecided(id: &ExtensionId, path: &PathBuf, catalog: &Catalog) -> bool {
    if catalog.active.iter().any(|extension| extension.id() == id) {
        return false;
    }
    let waits = |found: &Found| match &found.about {
        Some(about) => {
            about.descriptor.id == *id
                && matches!(
                    found.state,
                    State::Waiting { .. } | State::Modified { .. } | State::Broken(_) | State::Compiling(_)
                )
        }
        None => found.path == *path && matches!(found.state, State::Broken(_) | State::Compiling(_)),
    };
    catalog.found.iter().any(waits)
}

/// Why a gate is closed.
enum Why {
    /// Its bytes are others.
    Changed,
    /// It cannot be used, with the reason.
    Unfit(String),
}

/// Stands where a gate stood, or was to stand.
struct Closed {
    id: String,
    why: Why,
    /// At which it denies: the gate's own, and those at which it had asked not to be skipped.
    stages: HashSet<HookStage>,
    guarded: Guarded,
}

impl Closed {
    fn reason(&self) -> String {
        match &self.why {
            Why::Changed => format!(
                "the extension {0} has changed and waits for your answer; what it guards stays denied. To allow the new one: \
                 capstan ext allow {0}; to go on without it: capstan ext revoke {0}",
                self.id
            ),
            Why::Unfit(reason) => format!(
                "the extension {0} cannot be used, and what it guards stays denied: {reason}. To go on without it: \
                 capstan ext revoke {0}",
                self.id
            ),
        }
    }

    fn denied(&self) -> HookError {
        HookError::Failed { hook: self.id.clone(), message: self.reason(), source: None }
    }

    fn ended(&self) -> HookError {
        HookError::Aborted { reason: self.reason() }
    }
}

#[async_trait]
impl Hook for Closed {
    fn name(&self) -> &str {
        &self.id
    }

    fn handles(&self, stage: HookStage, tool: Option<&str>) -> bool {
        self.stages.contains(&stage) && self.guarded.handles(stage, tool)
    }

    fn priority(&self, stage: HookStage) -> i32 {
        self.guarded.priority(stage)
    }

    async fn before_turn(
        &self,
        _context: &HookContext,
        _input: &Message,
    ) -> Result<Verdict<Message>, HookError> {
        Err(self.ended())
    }

    async fn before_model(
        &self,
        _context: &HookContext,
        _messages: &[Arc<Message>],
    ) -> Result<Verdict<Vec<Arc<Message>>>, HookError> {
        Err(self.ended())
    }

    async fn after_model(
        &self,
        _context: &HookContext,
        _answer: &AssistantMessage,
    ) -> Result<Verdict<AssistantMessage>, HookError> {
        Err(self.ended())
    }

    async fn before_tool_call(
        &self,
        _context: &HookContext,
        _call: &ToolCall,
    ) -> Result<GateVerdict, HookError> {
        Err(self.denied())
    }

    async fn after_tool_call(
        &self,
        _context: &HookContext,
        _call: &ToolCall,
        _outcome: &ToolOutcome,
    ) -> Result<Option<Amendment>, HookError> {
        Err(self.denied())
    }
}

/// What is different between two sets of extensions, one line for each.
pub(crate) fn changes(before: &[InForce], catalog: &Catalog) -> Vec<String> {
    let mut lines = Vec::new();
    for extension in &catalog.active {
        let (id, version) = (extension.id(), &extension.descriptor().version);
        let offers = offers(extension);
        let Some(old) = before.iter().map(|held| &held.extension).find(|old| old.id() == id) else {
            lines.push(format!("+ {id} {version}: {offers}"));
            continue;
        };
        if old.inspected().digest == extension.inspected().digest {
            if !old.is_same(extension) {
                lines.push(format!("~ {id} {version}: its grants, limits or configuration changed"));
            }
            continue;
        }
        let old_version = &old.descriptor().version;
        let versions =
            if old_version == version { version.clone() } else { format!("{old_version} → {version}") };
        lines.push(format!("~ {id} {versions}: {offers}"));
    }
    for old in before.iter().map(|held| &held.extension) {
        let id = old.id();
        if catalog.active.iter().any(|extension| extension.id() == id) {
            continue;
        }
        let now = catalog
            .found
            .iter()
            .find(|found| found.about.as_ref().is_some_and(|about| about.descriptor.id == *id));
        let why = match now.map(|found| (&found.state, found.notice())) {
            None => "removed".to_owned(),
            Some((_, Some(notice))) => notice,
            Some((State::Disabled, None)) => format!("switched off; capstan ext allow {id} brings it back"),
            Some((state, None)) => state.word().to_owned(),
        };
        lines.push(format!("- {id} {}: {why}", old.descriptor().version));
    }
    lines
}

fn offers(extension: &Extension) -> String {
    let descriptor = extension.descriptor();
    let tools: Vec<_> = descriptor.tools.iter().map(|tool| tool.name.as_str()).collect();
    let stages: Vec<_> = descriptor.hooks.iter().map(|hook| stage_name(&hook.stage)).collect();
    let commands: Vec<_> = descriptor.commands.iter().map(|command| format!("/{}", command.name)).collect();
    let lists = [
        ("tools ", tools.join(", ")),
        ("hooks ", stages.join(", ")),
        ("commands ", commands.join(", ")),
        ("plans in ", descriptor.plan_parsers.join(", ")),
        ("compaction by ", descriptor.compressors.join(", ")),
    ];
    let exports = &extension.inspected().surface.exports;
    let others = [Interface::Observer, Interface::Memory].into_iter().filter(|part| exports.contains(part));
    let parts: Vec<_> = lists
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(kind, list)| format!("{kind}{list}"))
        .chain(others.map(|part| part.name().to_owned()))
        .collect();
    if parts.is_empty() { descriptor.summary.clone() } else { parts.join("; ") }
}
