//! What the user allowed: each tool with all that its server said of it at the time, and the way the server was reached.
//!
//! A server can change its mind at any time, and what it says goes to the model. So what counts is not the name of a tool but every
//! word about it.

use super::definition::Listed;
use super::settings::{Reach, Server};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The form of the file that this program writes.
const VERSION: u32 = 1;

/// Everything that the user allowed, of all servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approvals {
    version: u32,
    #[serde(default)]
    servers: BTreeMap<String, ApprovedServer>,
}

/// One server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovedServer {
    /// How it was reached. The same name for another program is another server.
    reach: Value,
    /// What it said of each tool, by the server's own names.
    tools: BTreeMap<String, Value>,
}

impl Default for Approvals {
    fn default() -> Self {
        Self { version: VERSION, servers: BTreeMap::new() }
    }
}

/// Approvals that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalsError {
    /// Not in form.
    #[error("it is not valid ({0}); mend it, or remove it and allow the tools again")]
    Form(#[from] serde_json::Error),
    /// From a later version of the program.
    #[error("it has version {0}, this program knows version {VERSION}; use the newer program")]
    Version(u32),
}

/// Where a tool stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// The user allowed it as it is now.
    Approved,
    /// The user never allowed it.
    New,
    /// The user allowed it when the server said something else about it, or was reached in another way.
    Modified {
        /// What changed, in lines of a unified difference.
        difference: String,
    },
}

impl Approvals {
    /// Reads what [`Approvals::to_json`] wrote.
    ///
    /// # Errors
    /// [`ApprovalsError`]; nothing of such a text counts.
    pub fn parse(text: &str) -> Result<Self, ApprovalsError> {
        let approvals: Self = serde_json::from_str(text)?;
        if approvals.version > VERSION {
            return Err(ApprovalsError::Version(approvals.version));
        }
        Ok(approvals)
    }

    /// As a file has it.
    ///
    /// # Errors
    /// [`ApprovalsError::Form`], which does not happen with what [`Approvals::parse`] takes.
    pub fn to_json(&self) -> Result<String, ApprovalsError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Whether the user allowed anything of a server.
    pub fn knows(&self, server: &str) -> bool {
        self.servers.get(server).is_some_and(|server| !server.tools.is_empty())
    }

    /// Takes everything back from a server. Answers whether there was anything.
    pub fn revoke(&mut self, server: &str) -> bool {
        self.servers.remove(server).is_some()
    }

    /// Allows these tools of a server as they are now. What was allowed of it when it was reached in another way is forgotten.
    pub(crate) fn allow<'t>(&mut self, server: &Server, tools: impl IntoIterator<Item = &'t Listed>) {
        let approved = self.servers.entry(server.name.to_string()).or_default();
        let reach = reach(&server.reach);
        if approved.reach != reach {
            *approved = ApprovedServer { reach, tools: BTreeMap::new() };
        }
        approved.tools.extend(tools.into_iter().map(|tool| (tool.own.clone(), tool.described.clone())));
    }

    pub(crate) fn standing(&self, server: &Server, tool: &Listed) -> Standing {
        let Some(approved) = self.servers.get(server.name.as_str()) else { return Standing::New };
        let Some(described) = approved.tools.get(&tool.own) else { return Standing::New };
        let reached = reach(&server.reach);
        if approved.reach != reached {
            return Standing::Modified { difference: difference(&approved.reach, &reached) };
        }
        if described != &tool.described {
            return Standing::Modified { difference: difference(described, &tool.described) };
        }
        Standing::Approved
    }
}

/// What makes a server the same server. Values of variables and headers are left out: keys have to be renewed.
fn reach(reach: &Reach) -> Value {
    match reach {
        Reach::Program(program) => serde_json::json!({
            "command": program.command,
            "args": program.args,
            "env": program.env.keys().collect::<Vec<_>>(),
            "passEnv": program.pass_env,
            "cwd": program.cwd,
        }),
        Reach::Url(url) => serde_json::json!({
            "url": url.url,
            "headers": url.headers.keys().collect::<Vec<_>>(),
            "bearerTokenEnv": url.bearer_token_env,
        }),
    }
}

/// Both as people read them: pretty JSON, with the line breaks of descriptions as such.
fn difference(before: &Value, now: &Value) -> String {
    let readable = |value: &Value| {
        let pretty = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
        pretty.replace("\\n", "\n") + "\n"
    };
    let (before, now) = (readable(before), readable(now));
    let difference = similar::TextDiff::from_lines(before.as_str(), now.as_str());
    difference.unified_diff().context_radius(1).to_string()
}

#[cfg(test)]
#[path = "approval_tests.rs"]
mod tests;
