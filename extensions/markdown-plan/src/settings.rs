//! The extension's configuration.

use capstan_sdk::prelude::*;

/// How plans are read.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// What becomes of the items below an item.
    pub(crate) nested: Nested,
    /// What becomes of items that are checked off.
    pub(crate) done: Done,
}

/// What becomes of the items below an item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Nested {
    /// They are part of its text: one step.
    #[default]
    Fold,
    /// Each is a step, named after it.
    Steps,
}

/// What becomes of items that are checked off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Done {
    /// They are left out.
    #[default]
    Skip,
    /// They are steps like the others.
    Keep,
}
