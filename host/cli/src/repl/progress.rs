//! The turn on the screen: text as it comes, tools as they start and end.

use crate::screen::{self, BAD, DIM, GOOD, brief, visible};
use async_trait::async_trait;
use capstan_ports::event::{AgentEvent, AssistantEvent, EventSink};
use capstan_ports::message::{Message, text_of};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};

/// Characters of arguments and results that are shown in one line.
const SHOWN: usize = 160;

/// Shows events.
#[derive(Default)]
pub(super) struct Progress {
    /// Text was written that no newline has ended yet.
    open: AtomicBool,
}

impl Progress {
    fn end_line(&self) {
        if self.open.swap(false, Ordering::Relaxed) {
            write("\n");
        }
    }
}

#[async_trait]
impl EventSink for Progress {
    async fn emit(&self, event: AgentEvent) {
        match event {
            AgentEvent::MessageUpdate { assistant_message_event, .. } => match assistant_message_event {
                AssistantEvent::TextDelta { delta, .. } => {
                    self.open.store(!delta.ends_with('\n'), Ordering::Relaxed);
                    write(&visible(&delta));
                }
                AssistantEvent::ThinkingDelta { delta, .. } => {
                    self.open.store(!delta.ends_with('\n'), Ordering::Relaxed);
                    write(&format!("{DIM}{}{DIM:#}", visible(&delta)));
                }
                AssistantEvent::TextEnd { .. } | AssistantEvent::ThinkingEnd { .. } => self.end_line(),
                _ => {}
            },
            AgentEvent::MessageEnd { message } => {
                if let Message::Custom(custom) = message.as_ref()
                    && custom.display
                {
                    self.end_line();
                    let (name, text) = (visible(&custom.custom_type), text_of(&custom.content));
                    write(&format!("{DIM}[{name}]{DIM:#} {}\n", visible(text.trim_end())));
                }
            }
            AgentEvent::ToolExecutionStart { tool_name, args, .. } => {
                self.end_line();
                write(&format!("{DIM}→ {} {}{DIM:#}\n", visible(&tool_name), subject(&args)));
            }
            AgentEvent::ToolExecutionEnd { tool_name, result, is_error, .. } => {
                let (mark, style) = if is_error { ("✗", BAD) } else { ("✓", GOOD) };
                let text = brief(&text_of(&result.content), SHOWN);
                write(&format!("{style}{mark}{style:#} {DIM}{}: {text}{DIM:#}\n", visible(&tool_name)));
            }
            AgentEvent::TurnEnd { .. } | AgentEvent::AgentEnd { .. } => self.end_line(),
            _ => {}
        }
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

fn write(text: &str) {
    if let Err(reason) = screen::show(text) {
        tracing::warn!(%reason, "the screen cannot be written");
    }
}
