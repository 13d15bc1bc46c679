//! Limits as the user wants them, up to a ceiling.

use super::{Limits, MAX_MEMORY, Role};
use serde::Deserialize;
use std::time::Duration;

/// A user's wishes for one role: `[limits.tool]` in the configuration. What is absent stays at its default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitChange {
    /// Wall time of one call, in milliseconds.
    pub deadline_ms: Option<u64>,
    /// Memory of one instance, in MiB.
    pub memory_mb: Option<u64>,
    /// What one call may be handed, in MiB.
    pub input_mb: Option<u64>,
    /// What one call may write to files, in MiB.
    pub written_mb: Option<u64>,
    /// Lines that one call may log.
    pub log_lines: Option<u32>,
    /// Host functions that one call may call.
    pub host_calls: Option<u64>,
}

/// A limit that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// No such role.
    #[error(
        "`[limits.{0}]`: there is no such role; use tool, hook, plan-parser, compressor, observer, memory or command"
    )]
    Role(String),
    /// Outside of what is possible.
    #[error("`[limits.{role}]`: {key} must be from 1 to {ceiling}")]
    Range {
        /// The role's name.
        role: &'static str,
        /// The key in the configuration.
        key: &'static str,
        /// The largest value.
        ceiling: u64,
    },
}

/// The limits in force, by role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitTable {
    roles: [Limits; Role::ALL.len()],
}

impl Default for LimitTable {
    fn default() -> Self {
        Self { roles: Role::ALL.map(Limits::of) }
    }
}

impl LimitTable {
    /// Changes the limits of the role of this name. `describe` cannot be changed: its answer is kept under the digest of the
    /// bytes, and may depend on nothing else.
    ///
    /// # Errors
    /// [`LimitError`]; nothing is changed then.
    pub fn change(&mut self, role: &str, change: &LimitChange) -> Result<(), LimitError> {
        let known = Role::ALL.into_iter().enumerate().find(|(_, known)| known.name() == role);
        let Some((at, role)) = known.filter(|(_, role)| *role != Role::Describe) else {
            return Err(LimitError::Role(role.chars().take(60).collect()));
        };
        let within = |key: &'static str, wanted: Option<u64>, default: u64, ceiling: u64| match wanted {
            None => Ok(default),
            Some(wanted) if (1..=ceiling).contains(&wanted) => Ok(wanted),
            Some(_) => Err(LimitError::Range { role: role.name(), key, ceiling }),
        };
        let now = &mut self.roles[at];
        let changed = Limits {
            deadline: Duration::from_millis(within(
                "deadline_ms",
                change.deadline_ms,
                u64::try_from(now.deadline.as_millis()).unwrap_or(u64::MAX),
                u64::try_from(longest(role).as_millis()).unwrap_or(u64::MAX),
            )?),
            memory_bytes: mib(within(
                "memory_mb",
                change.memory_mb,
                (now.memory_bytes >> 20) as u64,
                (MAX_MEMORY >> 20) as u64,
            )?),
            input_bytes: mib(within("input_mb", change.input_mb, (now.input_bytes >> 20) as u64, 64)?),
            written_bytes: within("written_mb", change.written_mb, now.written_bytes >> 20, 16 << 10)? << 20,
            log_lines: u32::try_from(within(
                "log_lines",
                change.log_lines.map(u64::from),
                now.log_lines.into(),
                10_000,
            )?)
            .unwrap_or(u32::MAX),
            host_calls: within("host_calls", change.host_calls, now.host_calls, 1_000_000_000)?,
            ..*now
        };
        *now = changed;
        Ok(())
    }

    /// The limits of a role.
    pub fn of(&self, role: Role) -> &Limits {
        // A role's place is its number: `ALL` lists them in the order of their declaration.
        &self.roles[role as usize]
    }
}

/// A turn waits for most roles, so a longer wait than this would be a hang to whoever sits before it.
fn longest(role: Role) -> Duration {
    match role {
        Role::Tool | Role::Command => Duration::from_secs(600),
        Role::Describe | Role::Hook => Duration::from_secs(10),
        Role::PlanParser | Role::Compressor => Duration::from_secs(30),
        Role::Observer | Role::Memory => Duration::from_secs(60),
    }
}

fn mib(count: u64) -> usize {
    usize::try_from(count << 20).unwrap_or(usize::MAX)
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
