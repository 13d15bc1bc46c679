//! Agents from parts: for programs that build their own on Capstan (seed 004).
//!
//! A role says who the agent is, a bundle what it works with, a session what was said so far. Everything runs on the loop
//! of `capstan-agent`: the same executor, hooks and repair of transcripts as the `capstan` command.

#![deny(missing_docs)]

pub mod error;

pub use error::AgentError;
