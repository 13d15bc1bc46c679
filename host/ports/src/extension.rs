//! What an extension declares about itself: the contract's descriptor as plain data.

use crate::tool::ToolDefinition;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// An extension's name: `[a-z0-9-]{1,48}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExtensionId(String);

/// Not an extension id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no extension id: use 1 to 48 of a-z, 0-9 and -")]
pub struct InvalidExtensionId(String);

impl ExtensionId {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ExtensionId {
    type Err = InvalidExtensionId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = (1..=48).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        // Only the beginning is quoted: the text comes from an untrusted file.
        if fits {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidExtensionId(text.chars().take(60).collect()))
        }
    }
}

impl TryFrom<String> for ExtensionId {
    type Error = InvalidExtensionId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ExtensionId> for String {
    fn from(id: ExtensionId) -> Self {
        id.0
    }
}

impl fmt::Display for ExtensionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// SHA-256 of an extension's bytes. Grants and cached code are bound to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The first twelve hexadecimal digits, for people.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{self}")
    }
}

/// Not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 digest: expected 64 hexadecimal digits")]
pub struct InvalidDigest;

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = text.strip_prefix("sha256:").unwrap_or(text).as_bytes();
        let digit = |b: u8| (b as char).to_digit(16).ok_or(InvalidDigest);
        let mut bytes = [0; 32];
        if hex.len() != 64 {
            return Err(InvalidDigest);
        }
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("sha256:{self}"))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What may be done in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Open and list.
    ReadOnly,
    /// Also create, change and delete.
    ReadWrite,
}

/// A right over the conversation rather than over the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// A gate may change arguments.
    RewriteArguments,
    /// A hook may change results.
    RewriteResult,
    /// A hook may change messages on their way to and from the model.
    RewriteContext,
    /// A compressor may replace messages.
    Compress,
    /// The component may be the agent's memory.
    Remember,
}

/// One thing that an extension can be allowed.
///
/// Fields that nobody knows are refused: one of them might have been meant as a restriction.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Capability {
    /// Files below a directory of the host.
    Directory {
        /// Absolute, `~/…`, or `.` and below for the workspace.
        path: String,
        /// How far it goes.
        access: Access,
    },
    /// Outgoing HTTP.
    Http {
        /// `scheme://host[:port]`.
        pattern: String,
        /// Upper-case; empty means `GET` and `HEAD`.
        #[serde(default)]
        methods: Vec<String>,
    },
    /// A credential put in by the host.
    Secret {
        /// The name under which the user stored it.
        name: String,
        /// The only endpoint that gets it.
        endpoint: String,
    },
    /// One environment variable.
    Environment {
        /// Its name.
        name: String,
    },
    /// A program of the host.
    Process {
        /// A glob over its file name or absolute path.
        program: String,
    },
    /// Calls of the host's model.
    Model {
        /// Tokens a turn.
        tokens: u32,
    },
    /// Persistent storage of its own.
    KeyValue {
        /// Bytes.
        bytes: u32,
    },
    /// The session's shared facts.
    SessionMemory,
    /// A right over the conversation.
    Power {
        /// Which.
        power: Power,
    },
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { path, access: Access::ReadOnly } => write!(f, "read files in {path}"),
            Self::Directory { path, access: Access::ReadWrite } => {
                write!(f, "read and write files in {path}")
            }
            Self::Http { pattern, methods } if methods.is_empty() => write!(f, "GET and HEAD {pattern}"),
            Self::Http { pattern, methods } => write!(f, "{} {pattern}", methods.join(", ")),
            Self::Secret { name, endpoint } => write!(f, "use the secret {name} toward {endpoint}"),
            Self::Environment { name } => write!(f, "read the environment variable {name}"),
            Self::Process { program } => write!(f, "run the program {program}"),
            Self::Model { tokens } => write!(f, "call the model, up to {tokens} tokens a turn"),
            Self::KeyValue { bytes } => write!(f, "keep up to {bytes} bytes of its own"),
            Self::SessionMemory => f.write_str("read and change the session's facts"),
            Self::Power { power: Power::RewriteArguments } => f.write_str("rewrite tool arguments"),
            Self::Power { power: Power::RewriteResult } => f.write_str("rewrite tool results"),
            Self::Power { power: Power::RewriteContext } => {
                f.write_str("rewrite messages to and from the model")
            }
            Self::Power { power: Power::Compress } => f.write_str("replace old messages"),
            Self::Power { power: Power::Remember } => f.write_str("keep the agent's memories"),
        }
    }
}

/// A wish and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapabilityRequest {
    /// What it wants.
    pub capability: Capability,
    /// One sentence, shown word for word before anything is granted.
    pub reason: String,
    /// False: the extension works without it, only less.
    pub required: bool,
}

/// A point of the turn at which hooks run. The names are those of the WIT interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookStage {
    /// Before a turn starts.
    BeforeTurn,
    /// Before a model call.
    BeforeModel,
    /// After a model call.
    AfterModel,
    /// A model call failed for good.
    ModelError,
    /// Before a tool call: the gate.
    BeforeToolCall,
    /// After a tool call that ran.
    AfterToolCall,
    /// A tool call failed.
    ToolError,
    /// After a turn that ended well.
    AfterTurn,
    /// After a turn that failed.
    TurnError,
    /// A step of a plan changed its status.
    PlanStep,
    /// The session began, changed or ended.
    SessionLifecycle,
}

/// What a failing hook means for what it was called about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureRule {
    /// The rule of the stage: a gate denies, a rewriter leaves its input unchanged, an observer is ignored.
    #[default]
    Standard,
    /// Also a rewriter's failure becomes an error.
    Closed,
}

/// How the host uses one hook of an extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookDeclaration {
    /// Which hook.
    pub stage: HookStage,
    /// Globs over tool names; empty means every tool.
    pub tools: Vec<String>,
    /// Lower runs earlier.
    pub priority: i32,
    /// What a failure means.
    pub on_failure: FailureRule,
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandDeclaration {
    /// Without the slash.
    pub name: String,
    /// One line.
    pub description: String,
}

/// How long an instance lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lifetime {
    /// A fresh instance for every call.
    #[default]
    Call,
    /// One instance a session.
    Session,
}

/// What an extension is and asks for, read once for each digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Descriptor {
    /// What the user calls it.
    pub id: ExtensionId,
    /// A semantic version, for people.
    pub version: String,
    /// One line for lists.
    pub summary: String,
    /// Tools for the model.
    pub tools: Vec<ToolDefinition>,
    /// Limits and order of its hooks.
    pub hooks: Vec<HookDeclaration>,
    /// Plan formats it reads.
    pub plan_parsers: Vec<String>,
    /// Compaction strategies it offers.
    pub compressors: Vec<String>,
    /// Slash commands.
    pub commands: Vec<CommandDeclaration>,
    /// What it asks for.
    pub requests: Vec<CapabilityRequest>,
    /// JSON Schema of its configuration table.
    pub config_schema: Option<Value>,
    /// How long an instance lives.
    pub lifetime: Lifetime,
}
