//! What the user can set.

use capstan_sdk::prelude::*;

/// What is taken out of tool results, and what is not.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct Config {
    /// Globs over what was found: what matches one of them stays.
    pub(crate) allow: Vec<String>,
    /// More names whose values are secret, as globs without regard to case: `x-acme-*`.
    pub(crate) names: Vec<String>,
    /// More forms of tokens.
    pub(crate) pattern: Vec<Pattern>,
    /// Globs over the names of tools whose results are not looked at.
    pub(crate) skip_tools: Vec<String>,
    /// Also takes out what stands under no name and has no known form, but looks as random as a key: 32 or more letters and
    /// digits of both cases. Finds more, and hits harmless ids too.
    pub(crate) unnamed: bool,
}

/// A form of tokens: a beginning, and letters, digits, `_` and `-` behind it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Pattern {
    /// What the placeholder calls it.
    pub(crate) kind: String,
    /// The beginning, a letter or a digit first.
    pub(crate) starts_with: String,
    /// How many characters must follow.
    #[serde(default = "usual_length")]
    pub(crate) shortest: usize,
}

const fn usual_length() -> usize {
    16
}
