//! The state is what the events say, and nothing else.

use super::*;
use capstan_ports::{AssistantMessage, StopReason, ToolOutcome};
use serde_json::json;

fn folded(events: impl IntoIterator<Item = AgentEvent>) -> AgentState {
    let mut state = AgentState::default();
    events.into_iter().for_each(|event| state.reduce(&event));
    state
}

fn answer(error_message: Option<&str>) -> Arc<Message> {
    let stop_reason = if error_message.is_some() { StopReason::Error } else { StopReason::Stop };
    Arc::new(Message::Assistant(AssistantMessage {
        stop_reason,
        error_message: error_message.map(str::to_owned),
        ..AssistantMessage::default()
    }))
}

fn call_started(id: &str) -> AgentEvent {
    AgentEvent::ToolExecutionStart {
        tool_call_id: id.to_owned(),
        tool_name: "noop".to_owned(),
        args: json!({}),
    }
}

fn call_ended(id: &str) -> AgentEvent {
    AgentEvent::ToolExecutionEnd {
        tool_call_id: id.to_owned(),
        tool_name: "noop".to_owned(),
        result: ToolOutcome::text("ok"),
        is_error: false,
    }
}

#[test]
fn a_message_streams_until_it_ends_and_belongs_to_the_conversation_from_then_on() {
    let message = Arc::new(Message::user("hello"));
    let begun = AgentEvent::MessageStart { message: message.clone() };
    let state = folded([begun.clone()]);
    assert_eq!(state.streaming_message, Some(message.clone()));
    assert_eq!(state.messages, []);

    let state = folded([begun, AgentEvent::MessageEnd { message: message.clone() }]);
    assert_eq!(state.streaming_message, None);
    assert_eq!(state.messages, [message]);
}

#[test]
fn a_call_is_pending_from_its_start_to_its_end_in_whatever_order_calls_end() {
    let state = folded([call_started("a"), call_started("b"), call_ended("b")]);
    assert_eq!(state.pending_tool_calls, BTreeSet::from(["a".to_owned()]));
    let state = folded([call_started("a"), call_started("b"), call_ended("b"), call_ended("a")]);
    assert_eq!(state.pending_tool_calls, BTreeSet::new());
}

#[test]
fn a_failed_answer_leaves_its_reason_and_a_good_one_leaves_none() {
    let ended = |message| AgentEvent::TurnEnd { message, tool_results: Vec::new() };
    assert_eq!(folded([ended(answer(None))]).error_message, None);
    let state = folded([ended(answer(Some("no connection"))), ended(answer(None))]);
    assert_eq!(state.error_message.as_deref(), Some("no connection"));
}

#[test]
fn settling_keeps_the_conversation_and_drops_what_was_in_progress() {
    let message = Arc::new(Message::user("hello"));
    let mut state = folded([
        AgentEvent::MessageEnd { message: message.clone() },
        AgentEvent::MessageStart { message: answer(None) },
        call_started("a"),
    ]);
    state.is_streaming = true;
    state.settle();
    assert_eq!(state, AgentState { messages: vec![message], ..AgentState::default() });
}
