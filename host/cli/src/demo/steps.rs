//! The turn of the demonstration, step by step.

use crate::screen::{self, BAD, BOLD, DIM, GOOD, visible};
use async_trait::async_trait;
use capstan_ports::event::{AgentEvent, EventSink};
use capstan_ports::message::{Message, text_of};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Lines of a result that are shown.
const SHOWN_LINES: usize = 12;

/// Shows the steps and remembers the results.
#[derive(Default)]
pub(super) struct Steps {
    results: Mutex<BTreeMap<String, Outcome>>,
}

/// What a tool call came to.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl Steps {
    pub(super) fn result_of(&self, tool: &str) -> Option<Outcome> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned()
    }
}

#[async_trait]
impl EventSink for Steps {
    fn wants_updates(&self) -> bool {
        false
    }

    async fn emit(&self, event: AgentEvent) {
        let mut shown = String::new();
        match event {
            AgentEvent::MessageEnd { message } => {
                if let Message::Assistant(answer) = &*message
                    && !answer.text().is_empty()
                {
                    shown = format!("  {BOLD}model{BOLD:#}  {}\n", visible(&answer.text()));
                }
            }
            AgentEvent::ToolExecutionStart { tool_name, args, .. } => {
                shown = format!(
                    "  {BOLD}call{BOLD:#}   {} {DIM}{}{DIM:#}\n",
                    visible(&tool_name),
                    visible(&args.to_string())
                );
            }
            AgentEvent::ToolExecutionEnd { tool_name, result, is_error, .. } => {
                let text = text_of(&result.content);
                let (mark, style) = if is_error { ("denied", BAD) } else { ("result", GOOD) };
                shown = format!("  {style}{mark}{style:#} ");
                let lines: Vec<_> = text.lines().collect();
                for (n, line) in lines.iter().take(SHOWN_LINES).enumerate() {
                    let margin = if n == 0 { "" } else { "         " };
                    shown.push_str(&format!("{margin}{}\n", visible(line)));
                }
                if lines.len() > SHOWN_LINES {
                    shown.push_str(&format!(
                        "         {DIM}… {} more lines{DIM:#}\n",
                        lines.len() - SHOWN_LINES
                    ));
                }
                let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
                results.insert(tool_name, Outcome { text, is_error });
            }
            _ => {}
        }
        if let Err(reason) = screen::show(&shown) {
            tracing::warn!(%reason, "the screen cannot be written");
        }
    }
}
