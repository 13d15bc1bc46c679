//! What an agent's run has come to, kept by folding its events.

use capstan_ports::{AgentEvent, Message};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The visible state of an [`Agent`](crate::agent::Agent). Messages are shared, so a copy of the state costs little.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentState {
    /// Every completed message.
    pub messages: Vec<Arc<Message>>,
    /// True from before `AgentStart` until all listeners have handled `AgentEnd`.
    pub is_streaming: bool,
    /// The message that has begun and not ended. It follows an answer as it grows only while a listener wants updates.
    pub streaming_message: Option<Arc<Message>>,
    /// Ids of the calls that have started and not ended.
    pub pending_tool_calls: BTreeSet<String>,
    /// Why the latest run failed, if it did.
    pub error_message: Option<String>,
}

impl AgentState {
    /// Folds one event in. Programs that only see events can use it to keep the same state (000-005).
    pub fn reduce(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::AgentStart
            | AgentEvent::TurnStart
            | AgentEvent::ToolExecutionUpdate { .. }
            | AgentEvent::CompactionStart { .. }
            | AgentEvent::CompactionEnd { .. } => {}
            AgentEvent::MessageStart { message } | AgentEvent::MessageUpdate { message, .. } => {
                self.streaming_message = Some(message.clone());
            }
            AgentEvent::MessageEnd { message } => {
                self.streaming_message = None;
                self.messages.push(message.clone());
            }
            AgentEvent::ToolExecutionStart { tool_call_id, .. } => {
                self.pending_tool_calls.insert(tool_call_id.clone());
            }
            AgentEvent::ToolExecutionEnd { tool_call_id, .. } => {
                self.pending_tool_calls.remove(tool_call_id);
            }
            AgentEvent::TurnEnd { message, .. } => {
                if let Message::Assistant(answer) = message.as_ref()
                    && answer.error_message.is_some()
                {
                    self.error_message.clone_from(&answer.error_message);
                }
            }
            AgentEvent::AgentEnd { .. } => self.streaming_message = None,
        }
    }

    /// What a run leaves behind in any case.
    pub(crate) fn settle(&mut self) {
        self.is_streaming = false;
        self.streaming_message = None;
        self.pending_tool_calls.clear();
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
