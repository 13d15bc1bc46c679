//! What the user says about a server: how to reach it, what of it to offer, how long it may take.

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Longest name of a server. With the two underscores it leaves thirty characters for the tool's own name, of the sixty-four that
/// models take.
const MAX_NAME_CHARS: usize = 32;

/// How long one call may take where nothing else is said: long for a look-up, short enough that nobody takes it for a hang.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a start may take where nothing else is said. The first prompt waits for it, so it is short.
const DEFAULT_START_TIMEOUT: Duration = Duration::from_secs(10);

/// The name of a server: the first part of the names of its tools. It has no underscore, so that `server__tool` can be read in one
/// way only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(String);

impl ServerName {
    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ServerName {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let fits = (1..=MAX_NAME_CHARS).contains(&text.len())
            && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        if fits { Ok(Self(text.to_owned())) } else { Err(SettingsError::Name { name: text.to_owned() }) }
    }
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Not a name for a server.
    #[error(
        "`{name}` is no name for an MCP server: use up to {MAX_NAME_CHARS} of a-z, 0-9 and -. An underscore would make the names of \
         its tools ambiguous"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// It is not clear how to reach the server.
    #[error(
        "[mcp.{server}] needs either `command`, for a program to start, or `url`, for one that runs; it has {has}"
    )]
    Way {
        /// The server.
        server: ServerName,
        /// Which of them there are.
        has: &'static str,
    },
    /// A key that means nothing for the way the server is reached.
    #[error("[mcp.{server}] has `{key}`, which means nothing for {way}")]
    Misplaced {
        /// The server.
        server: ServerName,
        /// The key.
        key: &'static str,
        /// `a program` or `a url`.
        way: &'static str,
    },
    /// A value out of form.
    #[error("[mcp.{server}] {key}: {reason}")]
    Value {
        /// The server.
        server: ServerName,
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

/// The table `[mcp.NAME]` as it is written. Unknown keys are refused: a misspelt limit would be no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// The program to start; looked up in `PATH` unless it is a path.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that it gets besides the few that every program needs.
    pub env: BTreeMap<String, String>,
    /// Names of variables that it gets with the value that they have for Capstan. For keys, which have no place in a file that
    /// gets copied around.
    pub pass_env: Vec<String>,
    /// Where it starts; default: the working directory.
    pub cwd: Option<PathBuf>,
    /// The address of a server that speaks streamable HTTP.
    pub url: Option<String>,
    /// Headers of every request to it.
    pub headers: BTreeMap<String, String>,
    /// The variable that holds its bearer token.
    pub bearer_token_env: Option<String>,
    /// How long one call may take, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// How long a start may take, in milliseconds. The first prompt waits no longer for it.
    pub start_timeout_ms: Option<u64>,
    /// False: it is not started.
    pub enabled: Option<bool>,
    /// Patterns of the tools to offer, by their own names; default: all.
    pub tools: Option<Vec<String>>,
    /// Patterns of tools that only read, by the user's word. The server's own word for it counts for nothing.
    pub read_only: Vec<String>,
}

/// A server that can be connected to.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its name.
    pub name: ServerName,
    /// How it is reached.
    pub reach: Reach,
    /// How long one call may take.
    pub timeout: Duration,
    /// How long a start may take.
    pub start_timeout: Duration,
    /// False: it is not started.
    pub enabled: bool,
    offered: Option<GlobSet>,
    read_only: GlobSet,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A program that is started, and spoken to by its standard input and output.
    Program(Program),
    /// An address that is spoken to by streamable HTTP.
    Url(Url),
}

/// A server that is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables besides the few that every program needs.
    pub env: BTreeMap<String, String>,
    /// Names of variables that are passed on.
    pub pass_env: Vec<String>,
    /// Where it starts.
    pub cwd: Option<PathBuf>,
}

/// A server at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The address.
    pub url: String,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// The variable that holds the bearer token.
    pub bearer_token_env: Option<String>,
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(program) => {
                f.write_str(&program.command)?;
                program.args.iter().try_for_each(|argument| write!(f, " {argument}"))
            }
            Self::Url(url) => f.write_str(&url.url),
        }
    }
}

impl Server {
    /// Makes sense of a table.
    ///
    /// # Errors
    /// [`SettingsError`], which names the key.
    pub fn new(name: &str, settings: ServerSettings) -> Result<Self, SettingsError> {
        let name = ServerName::from_str(name)?;
        let (offered, read_only) = (settings.tools.as_deref(), settings.read_only.as_slice());
        let offered = offered.map(|patterns| globs(&name, "tools", patterns)).transpose()?;
        let read_only = globs(&name, "read_only", read_only)?;
        let timeout = duration(&name, "timeout_ms", settings.timeout_ms, DEFAULT_TIMEOUT)?;
        let start_timeout =
            duration(&name, "start_timeout_ms", settings.start_timeout_ms, DEFAULT_START_TIMEOUT)?;
        let enabled = settings.enabled.unwrap_or(true);
        let reach = reach(&name, settings)?;
        Ok(Self { name, reach, timeout, start_timeout, enabled, offered, read_only })
    }

    /// Whether the user wants the tool of this name, which is the server's own for it.
    pub fn offers(&self, tool: &str) -> bool {
        self.offered.as_ref().is_none_or(|patterns| patterns.is_match(tool))
    }

    /// Whether the tool of this name only reads, by the user's word.
    pub fn is_read_only(&self, tool: &str) -> bool {
        self.read_only.is_match(tool)
    }
}

fn reach(name: &ServerName, settings: ServerSettings) -> Result<Reach, SettingsError> {
    let misplaced = |is_there: bool, key, way| {
        if is_there { Err(SettingsError::Misplaced { server: name.clone(), key, way }) } else { Ok(()) }
    };
    let way = |has| SettingsError::Way { server: name.clone(), has };
    match (settings.command, settings.url) {
        (Some(_), Some(_)) => Err(way("both")),
        (None, None) => Err(way("neither")),
        (Some(command), None) => {
            misplaced(!settings.headers.is_empty(), "headers", "a program")?;
            misplaced(settings.bearer_token_env.is_some(), "bearer_token_env", "a program")?;
            if command.trim().is_empty() {
                return Err(way("an empty `command`"));
            }
            let (args, env, pass_env, cwd) = (settings.args, settings.env, settings.pass_env, settings.cwd);
            Ok(Reach::Program(Program { command, args, env, pass_env, cwd }))
        }
        (None, Some(url)) => {
            misplaced(!settings.args.is_empty(), "args", "a url")?;
            misplaced(!settings.env.is_empty(), "env", "a url")?;
            misplaced(!settings.pass_env.is_empty(), "pass_env", "a url")?;
            misplaced(settings.cwd.is_some(), "cwd", "a url")?;
            if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
                let reason = format!("`{url}` begins neither with https:// nor with http://");
                return Err(SettingsError::Value { server: name.clone(), key: "url", reason });
            }
            let (headers, bearer_token_env) = (settings.headers, settings.bearer_token_env);
            Ok(Reach::Url(Url { url, headers, bearer_token_env }))
        }
    }
}

fn globs(name: &ServerName, key: &'static str, patterns: &[String]) -> Result<GlobSet, SettingsError> {
    let refused = |reason: globset::Error| SettingsError::Value {
        server: name.clone(),
        key,
        reason: format!("no pattern: {reason}"),
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(refused)?);
    }
    set.build().map_err(refused)
}

fn duration(
    name: &ServerName,
    key: &'static str,
    milliseconds: Option<u64>,
    default: Duration,
) -> Result<Duration, SettingsError> {
    match milliseconds {
        None => Ok(default),
        Some(0) => {
            let reason = "must be at least 1".to_owned();
            Err(SettingsError::Value { server: name.clone(), key, reason })
        }
        Some(milliseconds) => Ok(Duration::from_millis(milliseconds)),
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
