//! What the user can set.

use capstan_sdk::prelude::*;

/// The schema of [`Config`], written down: made by the program itself it would be a fifth of the component. A test compares.
pub(crate) const SCHEMA: &str = include_str!("config.schema.json");

/// Which output is shortened.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct Config {
    /// Output of fewer bytes stays as it is.
    pub(crate) shortest: usize,
    /// What is never left out, by the words of the line that says so: `passing tests`, `build progress`, ….
    pub(crate) keep: Vec<String>,
    /// Programs whose output stays as it is.
    pub(crate) skip: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self { shortest: 1000, keep: Vec::new(), skip: Vec::new() }
    }
}
