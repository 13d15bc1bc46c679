//! Native tests of an extension: its functions are plain functions, and this is the host around them.
//!
//! ```
//! use capstan_sdk::prelude::*;
//! use capstan_sdk::testing;
//! use serde_json::json;
//!
//! fn guard(call: &ToolCall, _: &Context) -> Result<Verdict> {
//!     let words: Vec<String> = config::get::<std::collections::HashMap<String, Vec<String>>>()?
//!         .remove("words")
//!         .unwrap_or_default();
//!     let found = words.iter().find(|word| call.arguments.contains(*word));
//!     Ok(found.map_or(Verdict::Pass, |word| Verdict::block(format!("`{word}` is not allowed here"))))
//! }
//!
//! capstan_sdk::extension! { id: "word-guard", before_tool_call: hook(guard) }
//!
//! # fn main() {
//! let verdict = testing::with_config(json!({ "words": ["secret"] }), || {
//!     testing::before_tool_call::<Extension>("bash", json!({ "command": "cat secret" }))
//! });
//! assert_eq!(verdict, Verdict::block("`secret` is not allowed here"));
//! # }
//! ```

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::bindings::contract::exports::capstan::extension as exports;
use crate::hook::Verdict;
use crate::log::Level;
use crate::process::{Command, Outcome};
use crate::tool::Call;
use crate::types::{HostError, Message, ToolCall, ToolResult, TurnContext};
use crate::{Descriptor, native};

/// A program that a fake host "runs".
type Program = Rc<dyn Fn(&Command) -> Result<Outcome, HostError>>;
/// A model that a fake host "asks".
type Model = Rc<dyn Fn(&[Message], u32) -> Result<String, HostError>>;

/// A fake host. Storage and session memory work at once; programs and the model are denied until a test gives one.
#[derive(Clone)]
#[must_use]
pub struct Host {
    pub(crate) config: Value,
    pub(crate) cancelled: bool,
    pub(crate) stored: BTreeMap<String, Vec<u8>>,
    pub(crate) facts: BTreeMap<String, String>,
    pub(crate) program: Option<Program>,
    pub(crate) model: Option<Model>,
}

/// What an extension told a fake host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recorded {
    /// Log lines.
    pub logs: Vec<(Level, String)>,
    /// Progress reports.
    pub progress: Vec<String>,
    /// Own events: label and JSON text.
    pub events: Vec<(String, String)>,
}

impl Host {
    /// A host with an empty configuration.
    pub fn new() -> Self {
        Self {
            config: json!({}),
            cancelled: false,
            stored: BTreeMap::new(),
            facts: BTreeMap::new(),
            program: None,
            model: None,
        }
    }

    /// The extension's table of the configuration, a JSON object.
    pub fn config(mut self, table: Value) -> Self {
        self.config = table;
        self
    }

    /// The user has aborted.
    pub fn cancelled(mut self) -> Self {
        self.cancelled = true;
        self
    }

    /// What the storage already holds.
    pub fn stored(mut self, key: &str, value: impl Into<Vec<u8>>) -> Self {
        self.stored.insert(key.to_owned(), value.into());
        self
    }

    /// A fact that the session memory already holds.
    pub fn fact(mut self, key: &str, value: &str) -> Self {
        self.facts.insert(key.to_owned(), value.to_owned());
        self
    }

    /// Grants every program and answers for it.
    pub fn program(mut self, run: impl Fn(&Command) -> Result<Outcome, HostError> + 'static) -> Self {
        self.program = Some(Rc::new(run));
        self
    }

    /// Grants the model and answers for it.
    pub fn model(mut self, answer: impl Fn(&[Message], u32) -> Result<String, HostError> + 'static) -> Self {
        self.model = Some(Rc::new(answer));
        self
    }

    /// Runs a test with this host, on this thread, and says what the host was told.
    pub fn run<T>(self, test: impl FnOnce() -> T) -> (T, Recorded) {
        /// Puts the previous host back, also when the test fails.
        struct Restore(Option<native::State>);

        impl Drop for Restore {
            fn drop(&mut self) {
                if let Some(previous) = self.0.take() {
                    native::swap(previous);
                }
            }
        }

        let mut restore =
            Restore(Some(native::swap(native::State { host: self, recorded: Recorded::default() })));
        let value = test();
        let recorded = match restore.0.take() {
            Some(previous) => native::swap(previous).recorded,
            None => Recorded::default(),
        };
        (value, recorded)
    }
}

impl Default for Host {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs a test with this configuration table.
pub fn with_config<T>(table: Value, test: impl FnOnce() -> T) -> T {
    Host::new().config(table).run(test).0
}

/// The first round of the first turn of a session.
#[must_use]
pub fn context() -> TurnContext {
    TurnContext { session_id: "test".to_owned(), turn: 0, round: 0, model: "test/model".to_owned() }
}

/// A running call of a tool, for a tool function that a test calls directly.
#[must_use]
pub fn call(tool: &str) -> Call {
    Call { id: "call-1".to_owned(), tool: tool.to_owned(), context: context() }
}

/// A tool call as a hook sees it.
#[must_use]
pub fn tool_call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: "call-1".to_owned(), name: tool.to_owned(), arguments: arguments.to_string() }
}

/// What an extension says about itself.
#[must_use]
pub fn describe<E: exports::extension::Guest>() -> Descriptor {
    E::describe()
}

/// Calls a tool of an extension as the host does: the arguments travel as JSON text.
///
/// # Errors
///
/// The tool's own error text.
pub fn call_tool<E: exports::tools::Guest>(tool: &str, arguments: Value) -> Result<ToolResult, String> {
    E::call(context(), tool_call(tool, arguments))
}

/// Asks the gate of an extension about a tool call.
#[must_use]
pub fn before_tool_call<E: exports::before_tool_call::Guest>(tool: &str, arguments: Value) -> Verdict {
    E::run(context(), tool_call(tool, arguments))
}

#[cfg(test)]
#[path = "testing_tests.rs"]
mod tests;
