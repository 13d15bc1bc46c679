//! The turn on the screen: text as it comes, tools as they start and end.

use super::tail::Tails;
use crate::screen::{self, BAD, Budget, DIM, GOOD, brief};
use async_trait::async_trait;
use capstan_ports::event::{AgentEvent, AssistantEvent, CompactionReason, EventSink};
use capstan_ports::message::{Message, text_of};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// Characters of arguments and results that are shown in one line.
const SHOWN: usize = 160;

/// Characters of a name that is shown.
const NAME_SHOWN: usize = 64;

/// Shows events.
#[derive(Default)]
pub(crate) struct Progress {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Text was written that no newline has ended yet.
    is_open: bool,
    /// What is left for the text that is streaming.
    budget: Budget,
    /// Output of the calls that run.
    tails: Tails,
}

#[async_trait]
impl EventSink for Progress {
    async fn emit(&self, event: AgentEvent) {
        let text = self.state.lock().unwrap_or_else(PoisonError::into_inner).on(event);
        if !text.is_empty()
            && let Err(reason) = screen::show(&text)
        {
            tracing::warn!(%reason, "the screen cannot be written");
        }
    }
}

impl State {
    /// What an event puts on the screen.
    fn on(&mut self, event: AgentEvent) -> String {
        match event {
            AgentEvent::MessageUpdate { assistant_message_event, .. } => match assistant_message_event {
                AssistantEvent::TextDelta { delta, .. } => self.stream(&delta).into_owned(),
                AssistantEvent::ThinkingDelta { delta, .. } => match self.stream(&delta) {
                    shown if shown.is_empty() => String::new(),
                    shown => format!("{DIM}{shown}{DIM:#}"),
                },
                AssistantEvent::TextEnd { .. } | AssistantEvent::ThinkingEnd { .. } => {
                    self.budget = Budget::default();
                    self.end_line().to_owned()
                }
                _ => String::new(),
            },
            AgentEvent::MessageEnd { message } => match message.as_ref() {
                Message::Custom(custom) if custom.display => {
                    let (name, text) = (brief(&custom.custom_type, NAME_SHOWN), text_of(&custom.content));
                    let end = self.end_line();
                    format!("{end}{DIM}[{name}]{DIM:#} {}\n", screen::beginning(text.trim_end()))
                }
                _ => String::new(),
            },
            AgentEvent::ToolExecutionStart { tool_name, args, .. } => {
                let (name, end) = (brief(&tool_name, NAME_SHOWN), self.end_line());
                format!("{end}{DIM}→ {name} {}{DIM:#}\n", subject(&args))
            }
            AgentEvent::ToolExecutionUpdate { tool_call_id, partial_result, .. } => {
                let lines = self.tails.update(&tool_call_id, &text_of(&partial_result.content));
                if lines.is_empty() { lines } else { format!("{}{lines}", self.end_line()) }
            }
            AgentEvent::ToolExecutionEnd { tool_call_id, tool_name, result, is_error, .. } => {
                self.tails.end(&tool_call_id);
                let (mark, style) = if is_error { ("✗", BAD) } else { ("✓", GOOD) };
                let (name, text) = (brief(&tool_name, NAME_SHOWN), brief(&text_of(&result.content), SHOWN));
                format!("{style}{mark}{style:#} {DIM}{name}: {text}{DIM:#}\n")
            }
            AgentEvent::TurnEnd { .. } | AgentEvent::AgentEnd { .. } => {
                self.budget = Budget::default();
                self.end_line().to_owned()
            }
            AgentEvent::CompactionStart { reason } => {
                let why = match reason {
                    CompactionReason::Manual => "",
                    CompactionReason::Threshold => ", because it has grown long",
                    CompactionReason::Overflow => ", because it is too long for the model",
                };
                format!("{}{DIM}→ summarizing what was said{why}{DIM:#}\n", self.end_line())
            }
            AgentEvent::CompactionEnd { result, aborted, error_message, .. } => {
                match (result, error_message) {
                    (Some(done), _) => format!(
                        "{GOOD}✓{GOOD:#} {DIM}a summary stands for what was said before ({} tokens): {}{DIM:#}\n",
                        done.tokens_before,
                        brief(&done.summary, SHOWN)
                    ),
                    (None, _) if aborted => {
                        format!("{BAD}✗{BAD:#} {DIM}the summary was interrupted{DIM:#}\n")
                    }
                    (None, Some(reason)) => {
                        format!("{BAD}✗{BAD:#} {DIM}no summary was made: {}{DIM:#}\n", brief(&reason, SHOWN))
                    }
                    (None, None) => format!("{DIM}  nothing was summarized{DIM:#}\n"),
                }
            }
            AgentEvent::AgentStart | AgentEvent::TurnStart | AgentEvent::MessageStart { .. } => String::new(),
        }
    }

    fn stream<'t>(&mut self, delta: &'t str) -> Cow<'t, str> {
        let shown = self.budget.show(delta);
        if !shown.is_empty() {
            self.is_open = !shown.ends_with('\n');
        }
        shown
    }

    fn end_line(&mut self) -> &'static str {
        if std::mem::take(&mut self.is_open) { "\n" } else { "" }
    }
}

/// What a call is about: the argument that people look for first, or all of them.
fn subject(arguments: &Value) -> String {
    let told =
        ["command", "path", "pattern", "url", "query"].iter().find_map(|key| arguments.get(key)?.as_str());
    match told {
        Some(text) => brief(text, SHOWN),
        None => brief(&arguments.to_string(), SHOWN),
    }
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
