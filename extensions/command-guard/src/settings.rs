//! What the user can set.

use capstan_sdk::prelude::*;

/// Rules for the commands of an agent.
///
/// Patterns are globs (`*` and `?`) over one simple command: its words with one space between, without quotes, without
/// the path of the program. For each command `block` comes first, then `allow`, then `ask`, then the built-in rules.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct Config {
    /// Commands to block, with the reason that the model reads.
    pub(crate) block: Vec<Rule>,
    /// Commands that neither `ask` nor the built-in rules may stop.
    pub(crate) allow: Vec<String>,
    /// Commands about which a person decides.
    pub(crate) ask: Vec<Rule>,
    /// Globs over the names of the tools to look at. Empty: every tool that takes a command.
    pub(crate) tools: Vec<String>,
    /// What happens to commands that cannot be read with certainty.
    pub(crate) unreadable: Unreadable,
}

/// A pattern and why it stands there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// The glob.
    pub(crate) pattern: String,
    /// One sentence.
    pub(crate) reason: String,
}

/// What to do about a command that cannot be read with certainty.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unreadable {
    /// A person decides; where there is none, it is blocked.
    #[default]
    Ask,
    /// It is blocked.
    Block,
}
