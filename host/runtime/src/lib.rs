//! Agents from parts: for programs that build their own on Capstan (seed 004).
//!
//! A role says who the agent is, a bundle what it works with, a session what was said so far. Everything runs on the loop
//! of `capstan-agent`: the same executor, hooks and repair of transcripts as the `capstan` command.

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
