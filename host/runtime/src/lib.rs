//! Agents from parts: for programs that build their own on Capstan (seed 004).
//!
//! A role says who the agent is, a bundle what it works with, a session what was said so far. Everything runs on the loop
//! of `capstan-agent`: the same executor, hooks and repair of transcripts as the `capstan` command.
//!
//! ```
//! use capstan_provider::{Answer, ScriptedModel};
//! use capstan_runtime::{Agent, AgentBuilder, AgentError, AgentSession};
//! use std::sync::Arc;
//!
//! struct Clerk;
//!
//! impl Agent for Clerk {
//!     fn name(&self) -> &str {
//!         "clerk"
//!     }
//!
//!     fn system_prompt(&self) -> Option<&str> {
//!         Some("You answer in one sentence.")
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), AgentError> {
//! // A model that plays a script; any other `Model` goes here.
//! let model = ScriptedModel::new([Answer::text("Good morning."), Answer::text("At nine.")]);
//! let bundle = AgentBuilder::new()
//!     .provider(Arc::new(model))
//!     .tool_registry(Arc::default())
//!     .hook_executor(Arc::default())
//!     .build()?;
//! let mut session = AgentSession::new("s1", Arc::new(Clerk), Arc::new(bundle));
//! assert_eq!(session.submit_turn("Hello!").await?.text(), "Good morning.");
//! assert_eq!(session.submit_turn("When do you open?").await?.text(), "At nine.");
//! assert_eq!((session.turn_index(), session.cost_so_far().calls), (2, 2));
//! # Ok(())
//! # }
//! ```
//!
//! Reading order: [`role`], [`builder`] with [`bundle`] and [`config`], [`session`] with [`cost`] and [`session_stream`],
//! [`error`]; then [`task`] and [`plan`], the memories ([`session_memory`], [`conversation`], [`knowledge`], [`retriever`],
//! [`in_memory`]), and [`provider`] and [`prompt`].

#![deny(missing_docs)]

pub mod builder;
pub mod bundle;
pub mod config;
pub mod conversation;
pub mod cost;
pub mod error;
pub mod in_memory;
pub mod json_plan_parser;
pub mod knowledge;
pub mod plan;
pub mod plan_fallback;
pub mod plan_record;
pub mod prompt;
pub mod provider;
pub mod retriever;
pub mod role;
pub mod session;
mod session_history;
pub mod session_memory;
pub mod session_memory_tool;
pub mod session_stream;
mod session_tools;
pub mod task;
pub mod task_turns;

pub use builder::AgentBuilder;
pub use bundle::RuntimeBundle;
pub use capstan_ports::PlanParser;
pub use config::{AgentConfig, Clock, CompactConfig, SystemClock};
pub use conversation::ConversationMemory;
pub use cost::CostTracker;
pub use error::AgentError;
pub use in_memory::InMemoryStore;
pub use json_plan_parser::JsonPlanParser;
pub use knowledge::{Document, KnowledgeStore};
pub use plan::{Plan, PlanError, PlanOutcome, Step, StepState, StepStatus};
pub use plan_fallback::FallbackPlanParser;
pub use plan_record::{PlanRecord, StatusRecord, StepRecord};
pub use prompt::{PromptComposer, PromptTemplate};
pub use provider::ProviderRegistry;
pub use retriever::MemoryRetriever;
pub use role::Agent;
pub use session::{AgentSession, ChatResponse};
pub use session_memory::SessionMemory;
pub use session_memory_tool::SessionMemorySetTool;
pub use session_stream::TurnStream;
pub use task::{PlanObserver, TaskAgent};
pub use task_turns::Turns;

#[cfg(test)]
mod fakes;
#[cfg(test)]
mod scripted_tests;
#[cfg(test)]
mod shape_tests;
#[cfg(test)]
mod task_session_tests;
