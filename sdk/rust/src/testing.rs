//! Native tests of an extension: its functions are plain functions, and this is the host around them.
//!
//! A test calls the part that it is about as the host would: [`call_tool`], [`before_tool_call`], [`parse_plan`], and so on,
//! each with the type `Extension` that [`extension!`](crate::extension!) defines. The part must be there: a function for a
//! part that the extension does not have does not compile. What the host lends comes from a [`Host`]; what the extension told
//! it is in [`Recorded`]. Each thread has a host of its own, so tests run side by side.
//!
//! A hook whose function answers an error panics here, with the error as its text: in the sandbox the call fails, and the host
//! applies the failure rule of the stage. Only a gate ([`before_tool_call`]) turns its error into a block. What
//! `capstan ext test` runs in the sandbox itself are the recorded cases beside the project.
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

mod host;

use serde_json::Value;

use crate::Descriptor;
use crate::bindings::contract::exports::capstan::extension as exports;
use crate::hook::{AfterModel, Amendment, BeforeModel, BeforeTurn, SessionEvent, StepStatus, Verdict};
use crate::role::{Action, Compaction, Entry, Plan, Query};
use crate::tool::Call;
use crate::types::{Failure, Message, ModelResponse, ToolCall, ToolResult, TurnContext};

pub use host::{Host, Recorded};

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
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// capstan_sdk::extension! { id: "nothing", summary: "Does nothing." }
/// # fn main() {
/// assert_eq!(testing::describe::<Extension>().summary, "Does nothing.");
/// # }
/// ```
#[must_use]
pub fn describe<E: exports::extension::Guest>() -> Descriptor {
    E::describe()
}

/// Calls a tool of an extension as the host does: the arguments travel as JSON text.
///
/// # Errors
///
/// The tool's own error text, or what the arguments do not fit.
///
/// # Examples
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// # use serde_json::json;
/// /// Says it back.
/// #[derive(Deserialize, JsonSchema)]
/// struct Arguments {
///     text: String,
/// }
///
/// capstan_sdk::extension! { tools: [tool("echo", |arguments: Arguments, _: &Call| arguments.text)] }
/// # fn main() {
/// let answer = testing::call_tool::<Extension>("echo", json!({ "text": "hi" }));
/// assert_eq!(answer.unwrap().as_text(), "hi");
/// # }
/// ```
pub fn call_tool<E: exports::tools::Guest>(tool: &str, arguments: Value) -> Result<ToolResult, String> {
    E::call(context(), tool_call(tool, arguments))
}

/// Hands the arguments of a tool call to `tool_arguments` and answers the prepared ones.
///
/// # Errors
///
/// The function's own error text.
///
/// # Examples
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// # use serde_json::{Value, json};
/// fn absolute(_tool: &str, mut arguments: Value) -> Result<Value> {
///     arguments["path"] = json!(format!("/workspace/{}", arguments["path"].as_str().unwrap_or_default()));
///     Ok(arguments)
/// }
///
/// capstan_sdk::extension! { tool_arguments: absolute }
/// # fn main() {
/// let prepared = testing::tool_arguments::<Extension>("read", json!({ "path": "a" }));
/// assert_eq!(prepared, Ok(json!({ "path": "/workspace/a" })));
/// # }
/// ```
pub fn tool_arguments<E: exports::tool_arguments::Guest>(
    tool: &str,
    arguments: Value,
) -> Result<Value, String> {
    E::prepare(tool.to_owned(), arguments.to_string())
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
}

/// Asks the gate of an extension about a tool call. The filter of [`Hook::tools`](crate::Hook::tools) is the host's: it is not
/// applied here.
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// # use serde_json::json;
/// fn guard(call: &ToolCall, _: &Context) -> Verdict {
///     match call.text_argument("path") {
///         Some(path) if path.ends_with(".lock") => Verdict::block("Lock files are not written by hand."),
///         _ => Verdict::pass(),
///     }
/// }
///
/// capstan_sdk::extension! { before_tool_call: hook(guard).tools(&["write"]) }
/// # fn main() {
/// let verdict = testing::before_tool_call::<Extension>("write", json!({ "path": "Cargo.lock" }));
/// assert_eq!(verdict, Verdict::block("Lock files are not written by hand."));
/// # }
/// ```
#[must_use]
pub fn before_tool_call<E: exports::before_tool_call::Guest>(tool: &str, arguments: Value) -> Verdict {
    E::run(context(), tool_call(tool, arguments))
}

/// Shows a result to `after_tool_call`. `None` leaves it as it is; [`Amendment::apply`] says what becomes of it otherwise.
///
/// # Panics
///
/// The function answered an error.
///
/// # Examples
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// # use serde_json::json;
/// fn hide(_: &ToolCall, result: ToolResult, _: &Context) -> Option<Amendment> {
///     let text = result.as_text();
///     text.contains("hunter2").then(|| Amendment::text(text.replace("hunter2", "…")))
/// }
///
/// capstan_sdk::extension! { after_tool_call: hook(hide) }
/// # fn main() {
/// let result = ToolResult::text("password: hunter2");
/// let amendment = testing::after_tool_call::<Extension>("read", json!({}), result);
/// assert_eq!(amendment, Some(Amendment::text("password: …")));
/// # }
/// ```
#[must_use]
pub fn after_tool_call<E: exports::after_tool_call::Guest>(
    tool: &str,
    arguments: Value,
    result: ToolResult,
) -> Option<Amendment> {
    E::run(context(), tool_call(tool, arguments), result)
}

/// Tells `tool_error` of a failed call.
///
/// ```
/// # use capstan_sdk::{prelude::*, testing, types::FailureKind};
/// # use serde_json::json;
/// fn note(call: &ToolCall, failure: &Failure, _: &Context) {
///     log::warn!("{}: {}", call.name, failure.message);
/// }
///
/// capstan_sdk::extension! { tool_error: hook(note) }
/// # fn main() {
/// let failure = Failure::new(FailureKind::Tool, "after 60 s");
/// let (_, told) = testing::Host::new().run(|| {
///     testing::tool_error::<Extension>("bash", json!({ "command": "sleep 100" }), failure);
/// });
/// assert_eq!(told.lines(log::Level::Warn), ["bash: after 60 s"]);
/// # }
/// ```
pub fn tool_error<E: exports::tool_error::Guest>(tool: &str, arguments: Value, failure: Failure) {
    E::run(context(), tool_call(tool, arguments), failure);
}

/// Shows what the user wrote to `before_turn`.
///
/// # Panics
///
/// The function answered an error.
///
/// # Examples
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// fn polite(mut input: Message, _: &Context) -> BeforeTurn {
///     input.content.push("Please.".into());
///     BeforeTurn::rewrite(input)
/// }
///
/// capstan_sdk::extension! { before_turn: hook(polite) }
/// # fn main() {
/// let BeforeTurn::Rewrite(message) = testing::before_turn::<Extension>(Message::user("Go.")) else { unreachable!() };
/// assert_eq!(message.text(), "Go.\nPlease.");
/// # }
/// ```
#[must_use]
pub fn before_turn<E: exports::before_turn::Guest>(input: Message) -> BeforeTurn {
    E::run(context(), input)
}

/// Shows the messages of a request to `before_model`.
///
/// # Panics
///
/// The function answered an error.
///
/// # Examples
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// fn short(messages: Vec<Message>, _: &Context) -> BeforeModel {
///     if messages.len() > 100 { BeforeModel::abort("100 messages are enough") } else { BeforeModel::proceed() }
/// }
///
/// capstan_sdk::extension! { before_model: hook(short) }
/// # fn main() {
/// assert_eq!(testing::before_model::<Extension>(vec![Message::user("Go.")]), BeforeModel::proceed());
/// # }
/// ```
#[must_use]
pub fn before_model<E: exports::before_model::Guest>(messages: Vec<Message>) -> BeforeModel {
    E::run(context(), messages)
}

/// Shows the model's response to `after_model`.
///
/// # Panics
///
/// The function answered an error.
///
/// # Examples
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// fn silent(response: ModelResponse, _: &Context) -> AfterModel {
///     if response.message.text().is_empty() { AfterModel::abort("no answer") } else { AfterModel::proceed() }
/// }
///
/// capstan_sdk::extension! { after_model: hook(silent) }
/// # fn main() {
/// assert_eq!(testing::after_model::<Extension>(ModelResponse::text("")), AfterModel::abort("no answer"));
/// # }
/// ```
#[must_use]
pub fn after_model<E: exports::after_model::Guest>(response: ModelResponse) -> AfterModel {
    E::run(context(), response)
}

/// Tells `model_error` that a model call failed for good.
///
/// ```
/// # use capstan_sdk::{prelude::*, testing, types::FailureKind};
/// capstan_sdk::extension! { model_error: hook(|failure: &Failure, _: &Context| log::warn!("{}", failure.message)) }
/// # fn main() {
/// let failure = Failure::new(FailureKind::Model, "no connection");
/// let (_, told) = testing::Host::new().run(|| testing::model_error::<Extension>(failure));
/// assert_eq!(told.lines(log::Level::Warn), ["no connection"]);
/// # }
/// ```
pub fn model_error<E: exports::model_error::Guest>(failure: Failure) {
    E::run(context(), failure);
}

/// Tells `after_turn` of a turn that ended well.
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// fn count(_answer: &Message, results: &[ToolResult], _: &Context) -> Result<()> {
///     store::put("calls", &results.len())
/// }
/// # use capstan_sdk::store;
///
/// capstan_sdk::extension! { after_turn: hook(count) }
/// # fn main() {
/// let (_, told) = testing::Host::new().run(|| {
///     testing::after_turn::<Extension>(Message::assistant("Done."), vec![ToolResult::text("ok")]);
/// });
/// assert_eq!(told.store_writes, [("calls".to_owned(), Some(b"1".to_vec()))]);
/// # }
/// ```
pub fn after_turn<E: exports::after_turn::Guest>(answer: Message, results: Vec<ToolResult>) {
    E::run(context(), answer, results);
}

/// Tells `turn_error` of a turn that failed.
///
/// ```
/// # use capstan_sdk::{prelude::*, testing, types::FailureKind};
/// capstan_sdk::extension! { turn_error: hook(|failure: &Failure, _: &Context| log::warn!("{}", failure.message)) }
/// # fn main() {
/// let failure = Failure::new(FailureKind::Limit, "100 rounds");
/// let (_, told) = testing::Host::new().run(|| testing::turn_error::<Extension>(failure));
/// assert_eq!(told.lines(log::Level::Warn), ["100 rounds"]);
/// # }
/// ```
pub fn turn_error<E: exports::turn_error::Guest>(failure: Failure) {
    E::run(context(), failure);
}

/// Tells `plan_step` of a step's new status.
///
/// ```
/// # use capstan_sdk::{prelude::*, testing, StepStatus};
/// fn show(step: u32, status: &StepStatus, _: &Context) {
///     if let StepStatus::Completed(answer) = status {
///         log::info!("{}: {answer}", step + 1);
///     }
/// }
///
/// capstan_sdk::extension! { plan_step: hook(show) }
/// # fn main() {
/// let done = StepStatus::Completed("read".to_owned());
/// let (_, told) = testing::Host::new().run(|| testing::plan_step::<Extension>(0, done));
/// assert_eq!(told.lines(log::Level::Info), ["1: read"]);
/// # }
/// ```
pub fn plan_step<E: exports::plan_step::Guest>(step: u32, status: StepStatus) {
    E::run(context(), step, status);
}

/// Tells `session_lifecycle` what became of the session `test`.
///
/// ```
/// # use capstan_sdk::{prelude::*, testing, SessionEvent};
/// fn greet(session: &str, event: SessionEvent) {
///     if event == SessionEvent::Start {
///         log::info!("{session} begins");
///     }
/// }
///
/// capstan_sdk::extension! { session_lifecycle: hook(greet) }
/// # fn main() {
/// let (_, told) = testing::Host::new().run(|| testing::session_lifecycle::<Extension>(SessionEvent::Start));
/// assert_eq!(told.lines(log::Level::Info), ["test begins"]);
/// # }
/// ```
pub fn session_lifecycle<E: exports::session_lifecycle::Guest>(event: SessionEvent) {
    E::run(context().session_id, event);
}

/// Shows an event of the turn to the observer.
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// # use serde_json::json;
/// fn watch(event: &str) {
///     if event.contains("\"turn_end\"") {
///         log::info!("a turn ended");
///     }
/// }
///
/// capstan_sdk::extension! { observer: watch }
/// # fn main() {
/// let (_, told) = testing::Host::new().run(|| testing::observe::<Extension>(json!({ "type": "turn_end" })));
/// assert_eq!(told.lines(log::Level::Info), ["a turn ended"]);
/// # }
/// ```
pub fn observe<E: exports::observer::Guest>(event: Value) {
    E::run(event.to_string());
}

/// Has a plan format of an extension read what a model wrote for a goal.
///
/// # Errors
///
/// The parser's own error text.
///
/// # Examples
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// fn lines(raw: &str, _goal: &str) -> Result<Plan> {
///     Ok(Plan::new(raw.lines()))
/// }
///
/// capstan_sdk::extension! { plan_parsers: [plan_parser("lines", lines)] }
/// # fn main() {
/// let plan = testing::parse_plan::<Extension>("lines", "read\nwrite", "Copy a file").unwrap();
/// assert_eq!(plan, Plan::new(["read", "write"]));
/// # }
/// ```
pub fn parse_plan<E: exports::plan_parser::Guest>(
    parser: &str,
    raw: &str,
    goal: &str,
) -> Result<Plan, String> {
    E::parse(parser.to_owned(), raw.to_owned(), goal.to_owned())
}

/// How full the window is when a compressor is asked: a session of 1000 tokens of which `used_tokens` are used, and 100 are
/// kept for the answer.
#[must_use]
pub fn compaction(used_tokens: u32) -> Compaction {
    Compaction {
        session_id: context().session_id,
        window_tokens: 1000,
        used_tokens,
        reserve_tokens: 100,
        instructions: None,
    }
}

/// Asks a compaction strategy of an extension what to do.
///
/// # Errors
///
/// The strategy's own error text.
///
/// # Examples
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// fn halves(messages: Vec<Message>, context: &Compaction) -> Result<Action> {
///     if context.used_tokens < context.window_tokens / 2 {
///         return Ok(Action::none());
///     }
///     Ok(Action::summarize(messages.len() / 2, "Keep names."))
/// }
///
/// capstan_sdk::extension! { compressors: [compressor("halves", halves)] }
/// # fn main() {
/// let messages = vec![Message::user("one"), Message::assistant("two")];
/// let action = testing::compress::<Extension>("halves", messages, testing::compaction(800));
/// assert_eq!(action, Ok(Action::summarize(1, "Keep names.")));
/// # }
/// ```
pub fn compress<E: exports::compressor::Guest>(
    compressor: &str,
    messages: Vec<Message>,
    context: Compaction,
) -> Result<Action, String> {
    E::compress(compressor.to_owned(), messages, context)
}

/// Has the memory of an extension keep an entry; answers its id.
///
/// # Errors
///
/// The memory's own error text.
///
/// # Examples
///
/// ```
/// # use capstan_sdk::{prelude::*, testing, store, Entry, Memory, Query};
/// struct One;
///
/// impl Memory for One {
///     fn save(&self, entry: Entry) -> Result<String> {
///         store::set("it", entry.content.as_bytes())?;
///         Ok("it".to_owned())
///     }
///
///     fn search(&self, _query: Query) -> Result<Vec<Entry>> {
///         let kept = store::get("it")?;
///         Ok(kept.map(|bytes| Entry::new(String::from_utf8_lossy(&bytes)).with_id("it")).into_iter().collect())
///     }
///
///     fn delete(&self, id: &str) -> Result<()> {
///         Ok(store::remove(id)?)
///     }
/// }
///
/// capstan_sdk::extension! { memory: One }
/// # fn main() {
/// testing::Host::new().run(|| {
///     assert_eq!(testing::save::<Extension>(Entry::new("Ada writes in Rust.")).as_deref(), Ok("it"));
///     let found = testing::search::<Extension>(Query::new("who writes?", 3)).unwrap();
///     assert_eq!(found[0].content, "Ada writes in Rust.");
///     testing::delete::<Extension>("it").unwrap();
///     assert!(testing::search::<Extension>(Query::new("who writes?", 3)).unwrap().is_empty());
/// });
/// # }
/// ```
pub fn save<E: exports::memory::Guest>(entry: Entry) -> Result<String, String> {
    E::save(entry)
}

/// Has the memory of an extension search; [`save`] has an example.
///
/// # Errors
///
/// The memory's own error text.
pub fn search<E: exports::memory::Guest>(query: Query) -> Result<Vec<Entry>, String> {
    E::search(query)
}

/// Has the memory of an extension forget an entry; [`save`] has an example.
///
/// # Errors
///
/// The memory's own error text.
pub fn delete<E: exports::memory::Guest>(id: &str) -> Result<(), String> {
    E::delete(id.to_owned())
}

/// Runs a slash command of an extension with the rest of the line; answers what the user is shown.
///
/// # Errors
///
/// The command's own error text.
///
/// # Examples
///
/// ```
/// # use capstan_sdk::{prelude::*, testing};
/// fn hello(name: &str) -> Result<String> {
///     if name.is_empty() { Err(Error::new("who?")) } else { Ok(format!("Hello, {name}")) }
/// }
///
/// capstan_sdk::extension! { commands: [command("hello", "Greets.", hello)] }
/// # fn main() {
/// assert_eq!(testing::run_command::<Extension>("hello", "Ada").as_deref(), Ok("Hello, Ada"));
/// assert_eq!(testing::run_command::<Extension>("hello", ""), Err("who?".to_owned()));
/// # }
/// ```
pub fn run_command<E: exports::commands::Guest>(command: &str, arguments: &str) -> Result<String, String> {
    E::run(command.to_owned(), arguments.to_owned())
}

#[cfg(test)]
#[path = "testing_tests.rs"]
mod tests;
