//! The other parts an extension can play: plan formats, compaction strategies, memories, slash commands.

use crate::Error;
use crate::bindings::contract::exports::capstan::extension as exports;
use crate::types::Message;

pub use exports::compressor::{Action, Context as Compaction, Redirect, SummaryOrder};
pub use exports::memory::{Entry, Query};
pub use exports::plan_parser::{Plan, Step};

impl Plan {
    /// A plan of these steps, in this order.
    ///
    /// ```
    /// use capstan_sdk::Plan;
    ///
    /// let plan = Plan::new(["read", "write"]);
    /// assert_eq!(plan.steps[1].description, "write");
    /// ```
    pub fn new<S: Into<String>>(steps: impl IntoIterator<Item = S>) -> Self {
        Self { steps: steps.into_iter().map(|step| Step { description: step.into() }).collect() }
    }
}

impl<S: Into<String>> FromIterator<S> for Plan {
    fn from_iter<I: IntoIterator<Item = S>>(steps: I) -> Self {
        Self::new(steps)
    }
}

impl Action {
    /// There is room enough: nothing changes.
    #[must_use]
    pub const fn none() -> Self {
        Self::None
    }

    /// Continues with these messages in place of all. A call without its result, or the reverse, is refused. Needs the power
    /// `compress`.
    #[must_use]
    pub const fn replace(messages: Vec<Message>) -> Self {
        Self::Replace(messages)
    }

    /// Has the host's model summarize what stands before the message `first_kept` (it counts from 0). The instructions are added
    /// to the host's own. Needs the power `compress`.
    pub fn summarize(first_kept: usize, instructions: impl Into<String>) -> Self {
        // More messages than that are in no session.
        let first_kept = u32::try_from(first_kept).unwrap_or(u32::MAX);
        Self::Summarize(SummaryOrder { first_kept, instructions: instructions.into() })
    }

    /// Goes on with these messages in another session: one with this id, or a new one. Needs the power `compress`.
    #[must_use]
    pub const fn new_session(messages: Vec<Message>, session_id: Option<String>) -> Self {
        Self::NewSession(Redirect { messages, session_id })
    }
}

impl Entry {
    /// An entry with this text, without an id, a score or further data.
    pub fn new(content: impl Into<String>) -> Self {
        Self { id: None, content: content.into(), metadata: "{}".to_owned(), score: None }
    }

    /// The same entry with the id that the store gave it.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The same entry with how well it fits a query: more is better.
    #[must_use]
    pub const fn with_score(mut self, score: f64) -> Self {
        self.score = Some(score);
        self
    }
}

impl Query {
    /// A query for at most `top_k` entries, without a threshold or a filter.
    pub fn new(text: impl Into<String>, top_k: u32) -> Self {
        Self { text: text.into(), top_k, threshold: None, filter: None }
    }
}

/// A plan format; made by [`plan_parser`].
#[derive(Debug, Clone, Copy)]
pub struct PlanParser {
    pub(crate) name: &'static str,
    function: fn(&str, &str) -> Result<Plan, Error>,
}

/// A plan format with this name. The function gets what the model wrote and the goal that it was asked for; an error
/// says what could not be read, and where. It runs without any grant, with a frozen clock and seeded random numbers.
#[must_use]
pub const fn plan_parser(name: &'static str, function: fn(&str, &str) -> Result<Plan, Error>) -> PlanParser {
    PlanParser { name, function }
}

/// A compaction strategy; made by [`compressor`].
#[derive(Debug, Clone, Copy)]
pub struct Compressor {
    pub(crate) name: &'static str,
    function: fn(Vec<Message>, &Compaction) -> Result<Action, Error>,
}

/// A compaction strategy with this name. It is called before each model call, so it answers [`Action::None`] quickly while
/// there is room; anything else needs the power `compress`. It runs without any grant, with a frozen clock and seeded random
/// numbers. After an error the host's own strategy runs where the conversation must become shorter.
#[must_use]
pub const fn compressor(
    name: &'static str,
    function: fn(Vec<Message>, &Compaction) -> Result<Action, Error>,
) -> Compressor {
    Compressor { name, function }
}

/// A slash command; made by [`command`].
#[derive(Debug, Clone, Copy)]
pub struct Command {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    function: fn(&str) -> Result<String, Error>,
}

/// A slash command with this name (without the slash, `[a-z0-9-]{1,32}`) and one line about it. The function gets the
/// rest of the line and answers what the user is shown.
#[must_use]
pub const fn command(
    name: &'static str,
    description: &'static str,
    function: fn(&str) -> Result<String, Error>,
) -> Command {
    Command { name, description, function }
}

/// A store for what the agent remembers across sessions. Needs the power `remember`.
pub trait Memory {
    /// Keeps an entry and answers its id.
    ///
    /// # Errors
    ///
    /// The entry could not be kept.
    fn save(&self, entry: Entry) -> Result<String, Error>;

    /// The entries that fit a query, best first.
    ///
    /// # Errors
    ///
    /// The store could not be searched.
    fn search(&self, query: Query) -> Result<Vec<Entry>, Error>;

    /// Removes an entry. An id that does not exist is no error.
    ///
    /// # Errors
    ///
    /// The entry could not be removed.
    fn delete(&self, id: &str) -> Result<(), Error>;
}

/// The functions that the exports of [`extension!`](crate::extension!) call; not for authors.
#[doc(hidden)]
pub mod run {
    use super::*;

    pub fn tool_arguments<E: Into<Error>>(
        function: impl Fn(&str, serde_json::Value) -> Result<serde_json::Value, E>,
        tool: &str,
        arguments: &str,
    ) -> Result<String, String> {
        let arguments = crate::json::parse(arguments, "the arguments").map_err(Error::into_message)?;
        function(tool, arguments).map(|value| value.to_string()).map_err(|error| error.into().into_message())
    }

    pub fn parse_plan(
        parsers: impl IntoIterator<Item = PlanParser>,
        name: &str,
        raw: &str,
        goal: &str,
    ) -> Result<Plan, String> {
        let parser = parsers.into_iter().find(|parser| parser.name == name);
        let parser = parser.ok_or_else(|| format!("this extension has no plan parser `{name}`"))?;
        (parser.function)(raw, goal).map_err(Error::into_message)
    }

    pub fn compress(
        compressors: impl IntoIterator<Item = Compressor>,
        name: &str,
        messages: Vec<Message>,
        context: &Compaction,
    ) -> Result<Action, String> {
        let compressor = compressors.into_iter().find(|compressor| compressor.name == name);
        let compressor = compressor.ok_or_else(|| format!("this extension has no compressor `{name}`"))?;
        (compressor.function)(messages, context).map_err(Error::into_message)
    }

    pub fn command(
        commands: impl IntoIterator<Item = Command>,
        name: &str,
        arguments: &str,
    ) -> Result<String, String> {
        let command = commands.into_iter().find(|command| command.name == name);
        let command = command.ok_or_else(|| format!("this extension has no command `{name}`"))?;
        (command.function)(arguments).map_err(Error::into_message)
    }

    pub fn save(memory: &impl Memory, entry: Entry) -> Result<String, String> {
        memory.save(entry).map_err(Error::into_message)
    }

    pub fn search(memory: &impl Memory, query: Query) -> Result<Vec<Entry>, String> {
        memory.search(query).map_err(Error::into_message)
    }

    pub fn delete(memory: &impl Memory, id: &str) -> Result<(), String> {
        memory.delete(id).map_err(Error::into_message)
    }
}

#[cfg(test)]
#[path = "role_tests.rs"]
mod tests;
