//! The contract's interfaces by name and version: what a component exports and imports, and what that means here.

use serde::{Deserialize, Serialize};

/// The contract's package.
pub(crate) const PACKAGE: &str = "capstan:extension";

/// The contract's version that this host speaks. For `0.x` a different minor number is a different contract.
pub(crate) const VERSION: &str = "0.1.0";

macro_rules! interfaces {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// An interface of the contract that a component can export.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Interface {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Interface {
            /// Every interface, in the contract's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name without package and version.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

interfaces! {
    /// Says what the extension is. Every extension has it.
    Extension => "extension",
    /// Tools for the model.
    Tools => "tools",
    /// Maps sloppy arguments to the schema.
    ToolArguments => "tool-arguments",
    /// Hook before a turn.
    BeforeTurn => "before-turn",
    /// Hook before a model call.
    BeforeModel => "before-model",
    /// Hook after a model call.
    AfterModel => "after-model",
    /// Hook on a failed model call.
    ModelError => "model-error",
    /// Gate before a tool call.
    BeforeToolCall => "before-tool-call",
    /// Rewriter after a tool call.
    AfterToolCall => "after-tool-call",
    /// Hook on a failed tool call.
    ToolError => "tool-error",
    /// Hook after a good turn.
    AfterTurn => "after-turn",
    /// Hook after a failed turn.
    TurnError => "turn-error",
    /// Hook on a plan step.
    PlanStep => "plan-step",
    /// Hook on the session.
    SessionLifecycle => "session-lifecycle",
    /// Plan formats.
    PlanParser => "plan-parser",
    /// Compaction strategies.
    Compressor => "compressor",
    /// Watches turns.
    Observer => "observer",
    /// Memories.
    Memory => "memory",
    /// Slash commands.
    Commands => "commands",
}

impl Interface {
    /// The full export name.
    pub(crate) fn export_name(self) -> String {
        format!("{PACKAGE}/{}@{VERSION}", self.name())
    }
}

/// An interface name taken apart: `package/interface@version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Named<'a> {
    pub(crate) package: &'a str,
    pub(crate) interface: &'a str,
    pub(crate) version: Option<&'a str>,
}

impl<'a> Named<'a> {
    /// `None` for names that are no interface names, such as a plain function's.
    pub(crate) fn parse(name: &'a str) -> Option<Self> {
        let (path, version) = match name.split_once('@') {
            Some((path, version)) => (path, Some(version)),
            None => (name, None),
        };
        let (package, interface) = path.split_once('/')?;
        Some(Self { package, interface, version })
    }

    /// Whether it is of this contract, in a version that this host speaks.
    pub(crate) fn is_spoken(&self) -> bool {
        self.package == PACKAGE && self.version.is_some_and(|version| compatible(version, VERSION))
    }
}

/// Whether two versions are of one line: the rule of the component model's linker (for `0.x` the minor number counts).
pub(crate) fn compatible(found: &str, wanted: &str) -> bool {
    let (Ok(found), Ok(wanted)) = (semver::Version::parse(found), semver::Version::parse(wanted)) else {
        return false;
    };
    match (found.major, wanted.major) {
        (0, 0) => found.minor == wanted.minor && (found.minor != 0 || found.patch == wanted.patch),
        (found_major, wanted_major) => found_major == wanted_major,
    }
}

#[cfg(test)]
#[path = "abi_tests.rs"]
mod tests;
