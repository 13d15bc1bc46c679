//! The sandbox: loads WebAssembly components, limits them, calls them and caches their compiled code.
//!
//! The only crate that links wasmtime; nothing of wasmtime leaves it. A [`Sandbox`] is one compiler and one allocator for
//! the whole process. [`Sandbox::inspect`] turns bytes into an [`Inspected`] extension (digest, exports, descriptor) without
//! granting it anything; [`Sandbox::extension`] joins that with the capabilities in force and gives the ports
//! ([`capstan_ports::Tool`], [`capstan_ports::Hook`] and those of `role`) that the agent sees.
//!
//! Invariants that hold here:
//! - A guest gets what its [`capstan_policy::Effective`] set says, built into its WASI context; there is no later check that could be missed.
//! - Limits and the deadline are armed before a guest is instantiated, for its start function is guest code too.
//! - A call that traps or runs out of time takes its whole store with it.
//! - Compiled code is executed only if it was compiled a moment ago, here or by this process's own worker ([`compile`]), or if its
//!   keyed digest proves that this user's host wrote it ([`cache`]).

mod abi;
mod bindings;
pub mod cache;
mod call;
pub mod compile;
mod configuration;
mod convert;
mod descriptor;
mod directory;
pub mod error;
mod extension;
mod hook;
mod import;
mod inspect;
pub mod limits;
mod machine;
mod network;
mod quota;
mod reach;
mod rights;
mod role;
mod sandbox;
mod services;
mod state;
mod ticker;
mod tool;
mod trace;
mod usage;
mod wasi;

/// The version of the contract that this host speaks.
pub const CONTRACT_VERSION: &str = abi::VERSION;

pub use abi::Interface;
pub use compile::Compiler;
pub use error::{CallError, EngineError, LoadError, LoadProblem};
pub use extension::{Extension, ExtensionSettings};
pub use hook::Guarded;
pub use inspect::{Glance, Inspected, Surface};
pub use limits::{LimitChange, LimitError, LimitTable, Limits, Role};
pub use machine::Allocation;
pub use network::{Dialer, HttpLimits, Network, Resolver};
pub use sandbox::{Sandbox, SandboxOptions};
pub use services::{Secrets, Services};
pub use usage::Usage;
