//! The agent: what to do next.
//!
//! A run is a sequence of rounds. Each asks the model once and executes the tool calls of its answer; hooks stand
//! before and after each call, permissions have the last word, and what happened is on record before anything follows
//! from it. The crate sees models, tools, hooks and sessions only as traits, so every part of it can be tested
//! without any of them.
//!
//! Reading order: [`run`] (the loop), `request` and `answer` (one model call), `execute` and `preflight` (tool calls),
//! [`hooks`], [`transcript`] (repair), then what wraps the loop: [`agent`] and [`session`].

pub mod run;

mod answer;
mod request;

mod execute;
mod preflight;

pub mod arguments;
mod coercion;
pub mod hooks;
mod progress;
pub mod registry;
mod result;
pub mod retry;
pub mod trace;
pub mod transcript;

mod emitter;
mod journal;

pub mod agent;
mod listeners;
pub mod prompt;
pub mod queue;
pub mod session;
pub mod state;

pub mod config;
pub mod error;

pub use agent::Agent;
pub use config::{AgentContext, AgentLoopConfig, ContextTransform, Limits, MessageSource, ToolExecutionMode};
pub use error::AgentError;
pub use hooks::{HookChain, HookRegistry};
pub use listeners::SubscriptionId;
pub use queue::{PendingMessageQueue, QueueMode};
pub use registry::ToolRegistry;
pub use retry::{RetryEvent, RetryPolicy};
pub use run::{run_agent_loop, run_agent_loop_continue};
pub use session::AgentSession;
pub use state::AgentState;
pub use transcript::repair;

#[cfg(test)]
mod interleaving_tests;
#[cfg(test)]
mod scripted_tests;
