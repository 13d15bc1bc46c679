//! What was denied to other programs, told to the user.

use crate::live::Live;
use crate::screen::{self, WARN};
use async_trait::async_trait;
use capstan_agent::trace::{HookEffect, HookRecord};
use capstan_ports::extension::HookStage;
use capstan_ports::message::ToolCall;
use capstan_ports::{CallAccess, Permission, PermissionPort, TurnContext};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedReceiver;

/// Characters of a reason in a line on stderr.
const REASON_CHARS: usize = 400;

/// Calls whose denials are kept: more than can be on at a time.
const MAX_CALLS: usize = 1024;

/// What was denied, said on stderr, and kept until the call is over.
pub(super) struct Denials {
    records: Mutex<Option<UnboundedReceiver<HookRecord>>>,
    by_call: Mutex<HashMap<String, Vec<String>>>,
    live: Arc<Live>,
}

impl Denials {
    /// `records` are those of all hooks of the session.
    pub(super) fn new(records: Option<UnboundedReceiver<HookRecord>>, live: Arc<Live>) -> Self {
        Self { records: Mutex::new(records), by_call: Mutex::default(), live }
    }

    /// One line on stderr; answers the same line for the client's log. `hook` is who denied it.
    pub(super) fn say(&self, tool: &str, reason: &str, hook: Option<&str>) -> String {
        let remedy = match hook {
            Some(hook)
                if lock(&self.live.running()).iter().any(|extension| extension.id().as_str() == hook) =>
            {
                format!(" (hook {hook}; to go on without it: capstan ext revoke {hook})")
            }
            Some(hook) => format!(" (hook {hook}; it is set up in config.toml)"),
            None => String::new(),
        };
        let line =
            format!("denied {}: {}{remedy}", screen::visible(tool), screen::brief(reason, REASON_CHARS));
        screen::note(&format!("{WARN}capstan:{WARN:#} {line}"));
        line
    }

    fn keep(&self, call: &str, line: String) {
        let mut by_call = lock(&self.by_call);
        // Nobody comes for those of a call whose client hung up.
        if by_call.len() >= MAX_CALLS {
            by_call.clear();
        }
        by_call.entry(call.to_owned()).or_default().push(line);
    }

    /// What was denied of a call that is over.
    pub(super) fn of(&self, call: &str) -> Vec<String> {
        // What hooks did is on record before the call is over.
        while let Some(record) = lock(&self.records).as_mut().and_then(|records| records.try_recv().ok()) {
            self.note(&record);
        }
        lock(&self.by_call).remove(call).unwrap_or_default()
    }

    fn note(&self, record: &HookRecord) {
        if record.stage != HookStage::BeforeToolCall || record.tool_call_id.is_empty() {
            return;
        }
        let reason = match &record.effect {
            HookEffect::Blocked(reason)
            | HookEffect::Deferred(reason)
            | HookEffect::Aborted(reason)
            | HookEffect::Failed(reason) => reason.as_str(),
            HookEffect::Asked { allowed: false } => "it wants a person to decide, and there is nobody to ask",
            HookEffect::Asked { allowed: true }
            | HookEffect::Passed
            | HookEffect::Changed(_)
            | HookEffect::NotAsked(_) => return,
        };
        let line = self.say(&record.tool, reason, Some(&record.hook));
        self.keep(&record.tool_call_id, line);
    }
}

/// Permissions whose denials are told.
pub(super) struct Told {
    permissions: Arc<dyn PermissionPort>,
    denials: Arc<Denials>,
}

impl Told {
    pub(super) fn new(permissions: Arc<dyn PermissionPort>, denials: Arc<Denials>) -> Self {
        Self { permissions, denials }
    }
}

#[async_trait]
impl PermissionPort for Told {
    async fn decide(&self, turn: &TurnContext, call: &ToolCall, access: &CallAccess) -> Permission {
        let decided = self.permissions.decide(turn, call, access).await;
        if let Permission::Deny(reason) = &decided {
            let line = self.denials.say(&call.name, reason, None);
            self.denials.keep(&call.id, line);
        }
        decided
    }

    async fn ask(&self, turn: &TurnContext, call: &ToolCall, asked_by: &str, question: &str) -> Permission {
        // Told by the record of the gate that asks.
        self.permissions.ask(turn, call, asked_by, question).await
    }
}

/// Nothing under these locks is left by halves, so a panic under one changes nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
