//! The agent: what to do next.
//!
//! A run is a sequence of rounds. Each asks the model once and executes the tool calls of its answer; hooks stand
//! before and after each call, permissions have the last word, and what happened is on record before anything follows
//! from it. The crate sees models, tools, hooks and sessions only as traits, so every part of it can be tested
//! without any of them.
//!
//! # Three ways in
//!
//! All of them run the same loop. `capstan-runtime` has a fourth, for programs that build agents from parts. The model here
//! plays a script; any other [`Model`](capstan_ports::Model) goes in its place.
//!
//! An [`Agent`] keeps its conversation in memory:
//!
//! ```
//! use capstan_agent::{Agent, AgentError};
//! use capstan_provider::{Answer, ScriptedModel};
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), AgentError> {
//! let agent = Agent::new(Arc::new(ScriptedModel::new([Answer::text("Good morning.")])));
//! agent.set_system_prompt("You answer in one sentence.");
//! let added = agent.prompt_text("Hello!").await?;
//! assert_eq!((added.len(), added[1].text()), (2, "Good morning.".to_owned()));
//! # Ok(())
//! # }
//! ```
//!
//! An [`AgentSession`] keeps it in a log, here one that ends with the process:
//!
//! ```
//! use capstan_agent::{AgentError, AgentLoopConfig, AgentSession};
//! use capstan_provider::{Answer, ScriptedModel};
//! use capstan_session::MemorySession;
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), AgentError> {
//! let config = AgentLoopConfig::new(Arc::new(ScriptedModel::new([Answer::text("Good morning.")])));
//! let log = Arc::new(MemorySession::new(std::path::Path::new(".")));
//! let session = AgentSession::open(config, log)?;
//! assert_eq!(session.submit_turn("Hello!").await?.text(), "Good morning.");
//! assert_eq!(session.log().transcript()?.len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! A [`RuntimeBundle`] runs turns over the sessions of a store, for services with many conversations:
//!
//! ```
//! use async_trait::async_trait;
//! use capstan_agent::{AgentError, AgentLoopConfig, RuntimeBundle, ToolRegistry};
//! use capstan_ports::store::Session;
//! use capstan_ports::{Message, SessionError, SessionId, SessionStore};
//! use capstan_provider::{Answer, ScriptedModel};
//! use std::collections::HashMap;
//! use std::sync::{Arc, Mutex};
//!
//! #[derive(Default)]
//! struct Sessions(Mutex<HashMap<SessionId, Session>>);
//!
//! #[async_trait]
//! impl SessionStore for Sessions {
//!     async fn load(&self, id: &SessionId) -> Result<Session, SessionError> {
//!         Ok(self.0.lock().unwrap().get(id).cloned().unwrap_or_default())
//!     }
//!
//!     async fn save(&self, id: &SessionId, session: &Session) -> Result<(), SessionError> {
//!         self.0.lock().unwrap().insert(id.clone(), session.clone());
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), AgentError> {
//! let config = AgentLoopConfig::new(Arc::new(ScriptedModel::new([Answer::text("Good morning.")])));
//! let (tools, store) = (Arc::new(ToolRegistry::default()), Arc::new(Sessions::default()));
//! let bundle = RuntimeBundle::new(config, tools.clone(), tools, store.clone(), None);
//! let turn = bundle.run_turn(Message::user("Hello!"), "s1").await?;
//! assert_eq!(turn.message.text(), "Good morning.");
//! assert_eq!(store.load(&turn.final_session_id).await?.messages.len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! Reading order: [`run`] (the loop), `asking`, `request`, [`compaction`] and `answer` (one model call), `execute` and
//! `preflight` (tool calls), `ending`, [`hooks`] with `stages` and `gate`, [`transcript`] (repair), then what wraps the
//! loop: [`agent`], [`session`], [`bundle`] and [`turn`], and what joins a session: [`extension`] and [`extension_runtime`].

#![deny(missing_docs)]

pub mod run;

mod answer;
mod asking;
pub mod compaction;
mod ending;
mod request;

mod execute;
mod one_call;
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
pub mod event_bus;
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
pub mod turn;

pub mod config;
pub mod error;

pub use agent::Agent;
pub use bundle::{AgentConfig, RuntimeBundle, TurnResult};
pub use compaction::{CompactionSettings, ThresholdCompressor};
pub use config::{
    AgentContext, AgentLoopConfig, Chosen, ContextTransform, Limits, MessageSource, ToolExecutionMode,
};
pub use error::AgentError;
pub use event_bus::EventBus;
pub use extension::{CodingExtension, Extension, ExtensionContext, StartError};
pub use extension_runtime::{ExtensionRuntime, Notice, Opened, StartFailure};
pub use hooks::{HookChain, HookRegistry};
pub use listeners::SubscriptionId;
pub use observers::{ObserverId, Observers};
pub use one_call::run_tool_call;
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
pub use turn::run_agent_turn;
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
