//! Other servers, as a source of tools.

mod settings;

pub use settings::{Program, Reach, Server, ServerName, ServerSettings, SettingsError, Url};
