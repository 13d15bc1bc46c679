//! Model wire formats: bytes in, events out.
//!
//! Two formats are spoken, OpenAI chat completions and Anthropic Messages, and a script can stand in for both. Nothing
//! here decides what to do next: failures are classified and worded, but trying again, compacting and giving up are the
//! agent's business. Keys enter through [`ProviderConfig`] and leave only in the header of a request.
//!
//! Reading order: [`ProviderConfig`] and [`model`]; then `exchange` (one request from bytes to events), the decoders
//! and request writers in `openai` and `anthropic`, and [`scripted`].

mod anthropic;
mod arguments;
mod catalog;
mod config;
mod counts;
mod draft;
mod error;
mod exchange;
mod failure;
mod http;
mod openai;
mod registry;
pub mod scripted;
mod secret;
mod sse;
mod transcript;

#[cfg(test)]
mod test_server;

pub use catalog::info;
pub use config::{Api, DEFAULT_IDLE_TIMEOUT, ModelOverride, ProviderConfig, builtin_providers};
pub use error::ProviderError;
pub use registry::model;
pub use scripted::{Answer, ScriptedModel};
pub use secret::Secret;
