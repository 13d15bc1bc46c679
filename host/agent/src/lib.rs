//! The agent: what to do next.
//!
//! A run is a sequence of rounds. Each asks the model once and executes the tool calls of its answer; hooks stand
//! before and after each call, permissions have the last word, and what happened is on record before anything follows
//! from it. The crate sees models, tools, hooks and sessions only as traits, so every part of it can be tested
//! without any of them.
//!
//! Reading order: [`run`] (the loop), `asking`, `request`, [`compaction`] and `answer` (one model call), `execute` and
//! `preflight` (tool calls), `ending`, [`hooks`] with `stages` and `gate`, [`transcript`] (repair), then what wraps the
//! loop: [`agent`], [`session`] and [`bundle`], and what joins a session: [`extension`] and [`extension_runtime`].

pub mod run;

mod answer;
mod asking;
pub mod compaction;
mod ending;
mod request;

mod execute;
mod preflight;
mod repeats;

pub mod arguments;
mod change;
mod coercion;
mod gate;
pub mod hooks;
mod progress;
pub mod registry;
mod result;
pub mod retry;
mod stages;
pub mod trace;
pub mod transcript;
pub mod typed;

mod emitter;
mod journal;
pub mod observers;

pub mod agent;
pub mod bundle;
pub mod extension;
pub mod extension_runtime;
mod listeners;
pub mod process_hook;
pub mod prompt;
pub mod queue;
pub mod recall;
pub mod remember;
pub mod rtk;
pub mod session;
pub mod session_memory;
pub mod state;

pub mod config;
pub mod error;

pub use agent::Agent;
pub use bundle::{AgentConfig, RuntimeBundle, TurnResult};
pub use compaction::{CompactionSettings, ThresholdCompressor};
pub use config::{
    AgentContext, AgentLoopConfig, Chosen, ContextTransform, Limits, MessageSource, ToolExecutionMode,
};
pub use error::AgentError;
pub use extension::{CodingExtension, Extension, ExtensionContext, StartError};
pub use extension_runtime::{ExtensionRuntime, Notice, Opened, StartFailure};
pub use hooks::{HookChain, HookRegistry};
pub use listeners::SubscriptionId;
pub use observers::{ObserverId, Observers};
pub use process_hook::{
    HookEvent, OnFailure, ProcessHookError, ProcessHookHost, ProcessHookSettings, ProcessHooks,
};
pub use queue::{PendingMessageQueue, QueueMode};
pub use recall::{InMemory, RetrieveTool};
pub use registry::ToolRegistry;
pub use remember::{ForgetTool, RememberTool};
pub use retry::{RetryEvent, RetryPolicy, RetryStop};
pub use rtk::{Rtk, RtkReport, RtkSettings};
pub use run::{Decision, run_agent_loop, run_agent_loop_continue};
pub use session::{AgentSession, NavigateOptions, Navigated, RestoreNotice};
pub use session_memory::SessionFacts;
pub use state::AgentState;
pub use transcript::{DeferredCall, deferred_calls, repair};
pub use typed::TypedTool;

#[cfg(test)]
mod interleaving_tests;
#[cfg(test)]
mod loop_cost_tests;
#[cfg(test)]
mod recording_tests;
#[cfg(test)]
mod scripted_tests;
#[cfg(test)]
mod staged_tests;
