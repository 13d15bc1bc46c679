//! Agents from parts: for programs that build their own on Capstan (seed 004).
//!
//! A role says who the agent is, a bundle what it works with, a session what was said so far. Everything runs on the loop
//! of `capstan-agent`: the same executor, hooks and repair of transcripts as the `capstan` command.

#![deny(missing_docs)]

pub mod conversation;
pub mod error;
pub mod in_memory;
pub mod knowledge;
pub mod retriever;
pub mod session_memory;
pub mod session_memory_tool;

pub use conversation::ConversationMemory;
pub use error::AgentError;
pub use in_memory::InMemoryStore;
pub use knowledge::{Document, KnowledgeStore};
pub use retriever::MemoryRetriever;
pub use session_memory::SessionMemory;
pub use session_memory_tool::SessionMemorySetTool;

#[cfg(test)]
mod fakes;
