//! The extension's table of the user's configuration, as a type of yours.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{Error, host, json};

/// Reads the table. Where the user wrote nothing it is empty, so give the fields defaults (`#[serde(default)]`).
///
/// # Errors
///
/// The table does not fit the type; the text names the key.
pub fn get<T: DeserializeOwned>() -> Result<T, Error> {
    json::parse(&host::config::get(), "the configuration")
}

/// The schema of a configuration type, for the field `config` of [`extension!`](crate::extension!). The host then
/// checks the user's table before the extension ever sees it.
#[must_use]
pub fn schema<T: JsonSchema>() -> String {
    json::schema::<T>().schema
}
