//! What the built-in tools may do in which mode. Sandboxed extension tools are bounded by their grants instead.

use capstan_ports::permission::CallAccess;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The user's choice for calls that touch the machine directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PermissionMode {
    /// Reading runs; changes and commands are denied. The default where nobody can be asked.
    ReadOnly,
    /// Reading runs; changes and commands are asked about. The interactive default.
    Ask,
    /// Reading and changes inside the workspace run; commands are asked about, and denied where nobody can be asked.
    Workspace,
    /// Everything runs.
    All,
}

impl PermissionMode {
    /// All modes, from the strictest to the widest.
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Ask, Self::Workspace, Self::All];

    /// As it is written on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::Workspace => "workspace",
            Self::All => "all",
        }
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Not a permission mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no permission mode; use read-only, ask, workspace or all")]
pub struct UnknownMode(String);

impl FromStr for PermissionMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text).ok_or_else(|| UnknownMode(text.to_owned()))
    }
}

/// What a mode says of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// Run it.
    Allow,
    /// A person decides.
    Ask,
    /// Do not run it; the model reads this.
    Deny(String),
}

/// Rules on one call.
pub fn rule(mode: PermissionMode, tool: &str, access: &CallAccess) -> Ruling {
    let denied = |what: &str, flag: &str| {
        Ruling::Deny(format!(
            "Permission denied: {tool} would {what}, and permissions are {mode}. The user can allow it with \
             --permissions {flag}."
        ))
    };
    match (access, mode) {
        (CallAccess::Nothing | CallAccess::Sandboxed(_) | CallAccess::Read(_), _) => Ruling::Allow,
        (_, PermissionMode::All) => Ruling::Allow,
        (CallAccess::Write(_), PermissionMode::Workspace) => Ruling::Allow,
        (CallAccess::Write(_), PermissionMode::ReadOnly) => denied("change files", "workspace"),
        (CallAccess::Execute(_), PermissionMode::ReadOnly) => denied("run a command", "all"),
        (CallAccess::Outside(_), PermissionMode::ReadOnly) => denied("act outside of the sandbox", "all"),
        (CallAccess::Write(_) | CallAccess::Execute(_) | CallAccess::Outside(_), PermissionMode::Ask)
        | (CallAccess::Execute(_) | CallAccess::Outside(_), PermissionMode::Workspace) => Ruling::Ask,
    }
}

#[cfg(test)]
#[path = "permission_tests.rs"]
mod tests;
