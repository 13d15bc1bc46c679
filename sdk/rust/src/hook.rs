//! Hooks: functions that see a turn at one of its stages, and answer for it.

use crate::bindings::contract::exports::capstan::extension as exports;
use crate::types::{Content, Failure, Message, ModelResponse, ToolCall, ToolResult, TurnContext};
use crate::{Error, guest, log};

pub use exports::after_model::Verdict as AfterModel;
pub use exports::after_tool_call::Amendment;
pub use exports::before_model::Verdict as BeforeModel;
pub use exports::before_tool_call::Verdict;
pub use exports::before_turn::Verdict as BeforeTurn;
pub use exports::extension::{FailureRule, Stage};
pub use exports::plan_step::Status as StepStatus;
pub use exports::session_lifecycle::Event as SessionEvent;

/// A hook of the extension; made by [`hook`].
#[derive(Debug, Clone, Copy)]
pub struct Hook<F> {
    function: F,
    tools: &'static [&'static str],
    priority: i32,
    on_failure: FailureRule,
}

/// A hook that runs `function`. The field of [`extension!`](crate::extension!) that it stands in says at which stage,
/// and so which parameters the function has.
pub const fn hook<F>(function: F) -> Hook<F> {
    Hook { function, tools: &[], priority: 0, on_failure: FailureRule::Standard }
}

impl<F: Copy> Hook<F> {
    /// Only calls of the tools whose names match one of these globs (`*` and `?`). Without it: every tool.
    #[must_use]
    pub const fn tools(mut self, globs: &'static [&'static str]) -> Self {
        self.tools = globs;
        self
    }

    /// Lower runs earlier. Without it: 0.
    #[must_use]
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// For rewriters that must not be skipped, a redactor for example: when the hook fails, what it was to rewrite
    /// becomes an error instead of staying as it is.
    #[must_use]
    pub const fn fail_closed(mut self) -> Self {
        self.on_failure = FailureRule::Closed;
        self
    }

    pub(crate) fn describe(&self, stage: Stage) -> exports::extension::Hook {
        exports::extension::Hook {
            stage,
            tools: self.tools.iter().map(|glob| (*glob).to_owned()).collect(),
            priority: self.priority,
            on_failure: self.on_failure,
        }
    }
}

impl Verdict {
    /// No objection.
    #[must_use]
    pub const fn pass() -> Self {
        Self::Pass
    }

    /// Do not run the call; the model reads the reason.
    pub fn block(reason: impl Into<String>) -> Self {
        Self::Block(reason.into())
    }

    /// A person decides now; without one this is a block.
    pub fn ask(question: impl Into<String>) -> Self {
        Self::Ask(question.into())
    }

    /// Not now: the model is told, the batch ends, a person may approve later.
    pub fn defer(reason: impl Into<String>) -> Self {
        Self::Defer(reason.into())
    }

    /// Run the call with these arguments. Needs the power `rewrite-arguments`.
    ///
    /// # Errors
    ///
    /// `arguments` has no JSON form.
    pub fn rewrite(arguments: &impl serde::Serialize) -> Result<Self, Error> {
        Ok(Self::Rewrite(serde_json::to_string(arguments)?))
    }
}

/// `proceed`, `rewrite` and `abort` of the three stages around a turn and a model call.
macro_rules! stage_verdicts {
    ($($verdict:ident: $input:ty, $rewrite:literal, $abort:literal;)+) => {$(
        impl $verdict {
            /// Changes nothing.
            #[must_use]
            pub const fn proceed() -> Self {
                Self::Proceed
            }

            #[doc = $rewrite]
            /// Needs the power `rewrite-context`; without it the host leaves everything as it is and says so.
            #[must_use]
            pub const fn rewrite(with: $input) -> Self {
                Self::Rewrite(with)
            }

            #[doc = $abort]
            pub fn abort(reason: impl Into<String>) -> Self {
                Self::Abort(reason.into())
            }
        }
    )+};
}

stage_verdicts! {
    BeforeTurn: Message, "Takes this in place of the user's message.",
        "Does not start the turn; the user reads the reason.";
    BeforeModel: Vec<Message>, "Sends these messages in this one request; the session keeps what happened. A call without its \
        result, or the reverse, is refused.",
        "Makes no model call; the turn ends with this reason.";
    AfterModel: ModelResponse, "Continues with this response: a call can be dropped or changed, text redacted.",
        "Discards the response; the turn ends with this reason.";
}

impl Amendment {
    /// Changes nothing; the methods below add changes. All but [`terminate`](Self::terminate) need the power
    /// `rewrite-result`.
    ///
    /// ```
    /// use capstan_sdk::{Amendment, types::ToolResult};
    ///
    /// let amendment = Amendment::new().failed().terminate();
    /// let result = amendment.apply(ToolResult::text("no"));
    /// assert!(result.is_error);
    /// assert_eq!(result.as_text(), "no");
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self { content: None, details: None, is_error: None, terminate: false }
    }

    /// Replaces the whole content by one text piece.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: Some(vec![Content::Text(text.into())]), ..Self::new() }
    }

    /// Replaces the whole content.
    #[must_use]
    pub fn with_content(mut self, content: Vec<Content>) -> Self {
        self.content = Some(content);
        self
    }

    /// Replaces the data for programs and screens, which the model never sees.
    ///
    /// # Errors
    ///
    /// `details` has no JSON form.
    pub fn with_details(mut self, details: &impl serde::Serialize) -> Result<Self, Error> {
        self.details = Some(serde_json::to_string(details)?);
        Ok(self)
    }

    /// Marks the result as a failure.
    #[must_use]
    pub const fn failed(mut self) -> Self {
        self.is_error = Some(true);
        self
    }

    /// Marks the result as no failure.
    #[must_use]
    pub const fn succeeded(mut self) -> Self {
        self.is_error = Some(false);
        self
    }

    /// Ends the turn after this batch if every result of the batch says so.
    #[must_use]
    pub const fn terminate(mut self) -> Self {
        self.terminate = true;
        self
    }

    /// What becomes of a result, for tests: each field that the amendment has replaces that field as a whole.
    #[must_use]
    pub fn apply(&self, result: ToolResult) -> ToolResult {
        ToolResult {
            content: self.content.clone().unwrap_or(result.content),
            details: self.details.clone().or(result.details),
            is_error: self.is_error.unwrap_or(result.is_error),
        }
    }
}

impl Default for Amendment {
    fn default() -> Self {
        Self::new()
    }
}

/// What a function of a rewriting hook may answer: a verdict, or a result with one.
///
/// An error stops the hook as a failure, so the host applies the hook's failure rule and reports the text.
pub trait Answer<V> {
    /// The answer, or why there is none.
    ///
    /// # Errors
    ///
    /// The hook could not do its work.
    fn into_answer(self) -> Result<V, Error>;
}

macro_rules! plain_answers {
    ($($verdict:ty),+) => {$(
        impl Answer<$verdict> for $verdict {
            fn into_answer(self) -> Result<$verdict, Error> {
                Ok(self)
            }
        }

        impl<E: Into<Error>> Answer<$verdict> for Result<$verdict, E> {
            fn into_answer(self) -> Result<$verdict, Error> {
                self.map_err(Into::into)
            }
        }
    )+};
}

plain_answers!(Verdict, BeforeTurn, BeforeModel, AfterModel, Option<Amendment>, ());

fn answer<V>(stage: &str, given: impl Answer<V>) -> V {
    given.into_answer().unwrap_or_else(|error| guest::fail(&format!("{stage}: {error}")))
}

/// An observer's failure changes nothing for anyone, so it only goes to the log.
fn observed(stage: &str, given: impl Answer<()>) {
    if let Err(error) = given.into_answer() {
        log::error!("{stage}: {error}");
    }
}

/// The functions that the exports of [`extension!`](crate::extension!) call; not for authors.
#[doc(hidden)]
pub mod run {
    use super::*;

    pub fn before_turn<R: Answer<BeforeTurn>>(
        hook: Hook<impl Fn(Message, &TurnContext) -> R>,
        context: TurnContext,
        input: Message,
    ) -> BeforeTurn {
        answer("before-turn", (hook.function)(input, &context))
    }

    pub fn before_model<R: Answer<BeforeModel>>(
        hook: Hook<impl Fn(Vec<Message>, &TurnContext) -> R>,
        context: TurnContext,
        messages: Vec<Message>,
    ) -> BeforeModel {
        answer("before-model", (hook.function)(messages, &context))
    }

    pub fn after_model<R: Answer<AfterModel>>(
        hook: Hook<impl Fn(ModelResponse, &TurnContext) -> R>,
        context: TurnContext,
        response: ModelResponse,
    ) -> AfterModel {
        answer("after-model", (hook.function)(response, &context))
    }

    pub fn model_error<R: Answer<()>>(
        hook: Hook<impl Fn(&Failure, &TurnContext) -> R>,
        context: TurnContext,
        failure: Failure,
    ) {
        observed("model-error", (hook.function)(&failure, &context));
    }

    /// A gate that cannot decide blocks this call, with its reason, and decides about the next one again.
    pub fn before_tool_call<R: Answer<Verdict>>(
        hook: Hook<impl Fn(&ToolCall, &TurnContext) -> R>,
        context: TurnContext,
        call: ToolCall,
    ) -> Verdict {
        (hook.function)(&call, &context)
            .into_answer()
            .unwrap_or_else(|error| Verdict::Block(error.to_string()))
    }

    pub fn after_tool_call<R: Answer<Option<Amendment>>>(
        hook: Hook<impl Fn(&ToolCall, ToolResult, &TurnContext) -> R>,
        context: TurnContext,
        call: ToolCall,
        outcome: ToolResult,
    ) -> Option<Amendment> {
        answer("after-tool-call", (hook.function)(&call, outcome, &context))
    }

    pub fn tool_error<R: Answer<()>>(
        hook: Hook<impl Fn(&ToolCall, &Failure, &TurnContext) -> R>,
        context: TurnContext,
        call: ToolCall,
        failure: Failure,
    ) {
        observed("tool-error", (hook.function)(&call, &failure, &context));
    }

    pub fn after_turn<R: Answer<()>>(
        hook: Hook<impl Fn(&Message, &[ToolResult], &TurnContext) -> R>,
        context: TurnContext,
        answer: Message,
        results: Vec<ToolResult>,
    ) {
        observed("after-turn", (hook.function)(&answer, &results, &context));
    }

    pub fn turn_error<R: Answer<()>>(
        hook: Hook<impl Fn(&Failure, &TurnContext) -> R>,
        context: TurnContext,
        failure: Failure,
    ) {
        observed("turn-error", (hook.function)(&failure, &context));
    }

    pub fn plan_step<R: Answer<()>>(
        hook: Hook<impl Fn(u32, &StepStatus, &TurnContext) -> R>,
        context: TurnContext,
        step: u32,
        status: StepStatus,
    ) {
        observed("plan-step", (hook.function)(step, &status, &context));
    }

    pub fn session_lifecycle<R: Answer<()>>(
        hook: Hook<impl Fn(&str, SessionEvent) -> R>,
        session_id: String,
        event: SessionEvent,
    ) {
        observed("session-lifecycle", (hook.function)(&session_id, event));
    }

    pub fn observer<R: Answer<()>>(function: impl Fn(&str) -> R, event: String) {
        observed("observer", function(&event));
    }
}

#[cfg(test)]
#[path = "hook_tests.rs"]
mod tests;
