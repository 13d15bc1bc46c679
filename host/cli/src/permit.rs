//! The last word before a built-in tool touches the machine: the permission mode, and a person where there is one.

use async_trait::async_trait;
use capstan_policy::permission::{PermissionMode, Ruling, rule};
use capstan_ports::message::ToolCall;
use capstan_ports::permission::{CallAccess, Permission, PermissionPort};
use capstan_ports::tool::TurnContext;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// What a person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// This call.
    Once,
    /// This and every like it in this session.
    Always,
    /// Not this call.
    No,
}

/// Somebody who can be asked.
#[async_trait]
pub(crate) trait Person: Send + Sync {
    /// Shows what is about to happen and waits for the reply.
    async fn reply(&self, question: &str, call: &ToolCall) -> Reply;

    /// The same where a yes counts for this call only.
    async fn confirm(&self, question: &str, call: &ToolCall) -> Reply {
        self.reply(question, call).await
    }
}

/// The permissions of a session.
pub(crate) struct Permits {
    mode: PermissionMode,
    person: Option<Arc<dyn Person>>,
    /// What the person allowed for the session: a tool, and for commands the exact command.
    always: Mutex<HashSet<String>>,
}

impl Permits {
    pub(crate) fn new(mode: PermissionMode, person: Option<Arc<dyn Person>>) -> Self {
        Self { mode, person, always: Mutex::default() }
    }
}

#[async_trait]
impl PermissionPort for Permits {
    async fn decide(&self, _turn: &TurnContext, call: &ToolCall, access: &CallAccess) -> Permission {
        match rule(self.mode, &call.name, access) {
            Ruling::Allow => return Permission::Allow,
            Ruling::Deny(reason) => return Permission::Deny(reason),
            Ruling::Ask => {}
        }
        let kind = match access {
            CallAccess::Execute(command) => format!("{}\0{command}", call.name),
            CallAccess::Write(_)
            | CallAccess::Read(_)
            | CallAccess::Outside(_)
            | CallAccess::Sandboxed(_)
            | CallAccess::Nothing => call.name.clone(),
        };
        let allowed_before = self.always.lock().unwrap_or_else(PoisonError::into_inner).contains(&kind);
        if allowed_before {
            return Permission::Allow;
        }
        let Some(person) = &self.person else {
            return Permission::Deny(format!(
                "Permission denied: {} needs a person's answer, and there is nobody to ask. The user can allow it with \
                 --permissions all.",
                call.name
            ));
        };
        let question = match access {
            CallAccess::Execute(command) => format!("run this command?\n{command}"),
            CallAccess::Write(path) => format!("change {}?", path.display()),
            CallAccess::Outside(call) => format!("call this, outside of the sandbox?\n{call}"),
            CallAccess::Read(path) => format!("read {}?", path.display()),
            CallAccess::Sandboxed(_) | CallAccess::Nothing => "run this?".to_owned(),
        };
        match person.reply(&question, call).await {
            Reply::Once => Permission::Allow,
            Reply::Always => {
                self.always.lock().unwrap_or_else(PoisonError::into_inner).insert(kind);
                Permission::Allow
            }
            Reply::No => Permission::Deny("Permission denied: the user said no.".to_owned()),
        }
    }

    async fn ask(&self, _turn: &TurnContext, call: &ToolCall, asked_by: &str, question: &str) -> Permission {
        let Some(person) = &self.person else {
            return Permission::Deny(format!(
                "{asked_by} wants a person to decide, and there is nobody to ask: {question}"
            ));
        };
        // A gate's question is about this very call; an answer to it is no rule for later ones.
        match person.confirm(&format!("{asked_by} asks: {question}"), call).await {
            Reply::Once | Reply::Always => Permission::Allow,
            Reply::No => {
                Permission::Deny(format!("The user said no to the question of {asked_by}: {question}"))
            }
        }
    }
}

#[cfg(test)]
#[path = "permit_tests.rs"]
mod tests;
