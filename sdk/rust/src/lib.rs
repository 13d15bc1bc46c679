//! Write Capstan extensions in Rust.
//!
//! An extension is one WebAssembly component. It is made of plain functions, and of one [`extension!`] that says which
//! function plays which part: a tool that the model calls, a gate before tool calls, a plan format, and so on. The
//! component exports exactly the parts that are there, and imports exactly what the functions use.
//!
//! # A tool
//!
//! ```
//! use capstan_sdk::prelude::*;
//!
//! /// Counts the words of a text.
//! #[derive(Deserialize, JsonSchema)]
//! struct Arguments {
//!     /// The text.
//!     text: String,
//!     /// Count only words of at least this many letters.
//!     #[serde(default)]
//!     shortest: usize,
//! }
//!
//! fn count(arguments: Arguments, call: &Call) -> Result<String> {
//!     if arguments.text.is_empty() {
//!         return Err(Error::new("`text` is empty: pass the text whose words to count"));
//!     }
//!     call.progress("counting");
//!     let words = arguments.text.split_whitespace().filter(|word| word.chars().count() >= arguments.shortest);
//!     Ok(format!("{} words", words.count()))
//! }
//!
//! capstan_sdk::extension! {
//!     id: "word-count",
//!     summary: "Counts words.",
//!     tools: [tool("count_words", count)],
//! }
//!
//! // A test, natively:
//! # fn main() {
//! use capstan_sdk::testing;
//! let answer = testing::call_tool::<Extension>("count_words", serde_json::json!({ "text": "one two" }));
//! assert_eq!(answer.unwrap().as_text(), "2 words");
//! let wrong = testing::call_tool::<Extension>("count_words", serde_json::json!({ "text": 1 }));
//! assert!(wrong.unwrap_err().starts_with("the arguments at `text`: invalid type"));
//! # }
//! ```
//!
//! The comment of `Arguments` is what the model reads about the tool, the comments of its fields are what it reads about
//! the arguments, and the types are its schema.
//!
//! # A gate
//!
//! ```
//! use capstan_sdk::prelude::*;
//!
//! fn no_friday_pushes(call: &ToolCall, _context: &Context) -> Verdict {
//!     match call.text_argument("command") {
//!         Some(command) if command.starts_with("git push") => Verdict::ask("Push on a Friday?"),
//!         _ => Verdict::pass(),
//!     }
//! }
//!
//! capstan_sdk::extension! {
//!     id: "friday-guard",
//!     summary: "Asks before pushing.",
//!     before_tool_call: hook(no_friday_pushes).tools(&["bash"]),
//! }
//! # fn main() {}
//! ```
//!
//! # What an extension may do
//!
//! It computes, writes to the [`log`], reports [`progress`] and reads its [`config`]. All else it asks for with
//! [`Request`]s in the field `requests`; until the user grants one, the call answers
//! [`HostError::Denied`](types::HostError::Denied). Files, the network, the clock and the environment are those of WASI,
//! through `std`; they need the target `wasm32-wasip2`, named in the package:
//!
//! ```toml
//! [package.metadata.capstan]
//! target = "wasm32-wasip2"
//! ```
//!
//! Requests to web servers are in `http` (feature `http`), credentials in [`secret`], what differs about files in [`files`].
//!
//! # Building
//!
//! The package is a `cdylib`, `capstan ext build FOLDER` builds it, and `cargo test` tests it natively with
//! [`testing`]. By default it is built for `wasm32-unknown-unknown`: there is no WASI in the component, and a fresh
//! instance costs the host least.
//!
//! A panic ends the call as a failure, with its text in the log. A fresh instance serves each call unless the field
//! `lifetime` says otherwise, so statics do not keep anything.

#[doc(hidden)]
pub mod bindings;

#[cfg(any(
    test,
    all(feature = "arena", target_arch = "wasm32", target_os = "unknown", not(target_feature = "atomics"))
))]
mod arena;
pub mod config;
mod descriptor;
mod error;
mod extension;
pub mod files;
pub mod glob;
mod guest;
mod hook;
mod host;
#[cfg(feature = "http")]
pub mod http;
mod json;
pub mod log;
#[cfg(not(target_arch = "wasm32"))]
mod native;
mod role;
pub mod secret;
mod service;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
mod tool;
pub mod types;

pub use descriptor::{Access, Capability, Descriptor, Directory, Endpoint, Lifetime, Power, Request, Secret};
pub use error::{Error, Explain, Result};
pub use hook::{
    AfterModel, Amendment, Answer, BeforeModel, BeforeTurn, FailureRule, Hook, SessionEvent, Stage,
    StepStatus, Verdict, hook,
};
pub use role::{
    Action, Command, Compaction, Compressor, Entry, Memory, Plan, PlanParser, Query, Redirect, Step,
    SummaryOrder, command, compressor, plan_parser,
};
pub use schemars;
pub use serde;
pub use serde_json;
pub use service::{events, model, process, progress, session_memory, store};
pub use tool::{Call, Execution, IntoOutput, Output, Tool, tool};

#[cfg(all(
    feature = "arena",
    target_arch = "wasm32",
    target_os = "unknown",
    not(target_feature = "atomics")
))]
#[global_allocator]
static ALLOCATOR: arena::Arena = arena::Arena::new();

/// What most extensions use.
pub mod prelude {
    pub use schemars::JsonSchema;
    pub use serde::{Deserialize, Serialize};

    pub use crate::types::{
        Content, Failure, HostError, Message, ModelResponse, Role, ToolCall, ToolResult,
        TurnContext as Context,
    };
    pub use crate::{
        Action, AfterModel, Amendment, BeforeModel, BeforeTurn, Call, Compaction, Error, Explain, Output,
        Plan, Power, Request, Result, Verdict, command, compressor, config, hook, log, plan_parser, progress,
        tool,
    };
}

/// What the macros use; not for authors.
#[doc(hidden)]
pub mod __private {
    pub use crate::bindings::contract::exports::capstan::extension as exports;
    pub use crate::descriptor::Builder;
    pub use crate::hook::run as hook;
    pub use crate::role::run as role;

    use crate::types::{ToolCall, ToolResult, TurnContext};

    pub fn enter() {
        crate::guest::enter();
    }

    pub fn call_tool(
        tools: impl IntoIterator<Item = crate::Tool>,
        context: TurnContext,
        call: ToolCall,
    ) -> Result<ToolResult, String> {
        crate::tool::dispatch(tools, context, call)
    }
}
