//! What the user can set.

use capstan_sdk::prelude::*;

/// What is recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct Config {
    /// Entries that are kept; the oldest make room.
    #[schemars(range(min = 1, max = 5000))]
    pub(crate) entries: usize,
    /// Globs over the names of the tools to record. Empty: all of them.
    pub(crate) tools: Vec<String>,
    /// Also the beginning of the arguments, which can hold what was read or written.
    pub(crate) arguments: bool,
    /// Also the beginning of the results.
    pub(crate) results: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { entries: 1000, tools: Vec::new(), arguments: false, results: false }
    }
}
