use super::*;
use capstan_ports::CompactionResult;
use capstan_ports::message::CustomMessage;
use capstan_ports::tool::ToolOutcome;
use serde_json::json;
use std::sync::Arc;

const HOSTILE: &str = "safe\u{1b}]0;owned\u{7}\u{1b}]52;c;AA\u{7}\u{1b}]8;;http://x\u{1b}\\\rlie\u{9b}2J\u{202e}\u{200b}\u{e0041}";

/// What is left of it when the program's own styles are taken away.
fn without_styles(shown: &str) -> String {
    let mut text = shown.to_owned();
    for style in [DIM, GOOD, BAD] {
        text = text.replace(&style.render().to_string(), "").replace(&style.render_reset().to_string(), "");
    }
    text
}

fn check(shown: &str) {
    let text = without_styles(shown);
    assert!(!text.chars().any(capstan_policy::text::is_hidden), "{text:?}");
}

fn message() -> Arc<Message> {
    Arc::new(Message::Custom(CustomMessage::new("x", "x")))
}

fn streamed(assistant_message_event: AssistantEvent) -> AgentEvent {
    AgentEvent::MessageUpdate { message: message(), assistant_message_event }
}

fn delta(text: &str) -> AgentEvent {
    streamed(AssistantEvent::TextDelta { content_index: 0, delta: text.to_owned() })
}

fn ended(text: &str) -> AgentEvent {
    let (tool_call_id, tool_name) = ("c".to_owned(), "bash".to_owned());
    AgentEvent::ToolExecutionEnd { tool_call_id, tool_name, result: ToolOutcome::text(text), is_error: false }
}

fn compacted(summary: Option<&str>, error: Option<&str>) -> AgentEvent {
    AgentEvent::CompactionEnd {
        reason: CompactionReason::Manual,
        result: summary.map(|summary| CompactionResult {
            summary: summary.to_owned(),
            first_kept_entry_id: None,
            tokens_before: 7,
            details: None,
        }),
        aborted: false,
        will_retry: false,
        error_message: error.map(str::to_owned),
    }
}

#[test]
fn it_is_said_why_a_summary_is_made_and_what_became_of_it() {
    let mut state = State::default();
    state.on(delta("half a line"));
    let shown = state.on(AgentEvent::CompactionStart { reason: CompactionReason::Threshold });
    assert_eq!(without_styles(&shown), "\n→ summarizing what was said, because it has grown long\n");
    let shown = without_styles(&state.on(compacted(Some("all of it"), None)));
    assert!(shown.contains("(7 tokens): all of it"), "{shown}");
    assert!(without_styles(&state.on(compacted(None, Some("no key")))).contains("no key"));
    assert_eq!(without_styles(&state.on(compacted(None, None))), "  nothing was summarized\n");
}

// O3: everything that events bring from models, tools and extensions.
#[test]
fn no_event_brings_anything_that_acts_on_the_terminal() {
    let mut state = State::default();
    let (id, name) = ("c".to_owned(), HOSTILE.to_owned());
    let start =
        |args| AgentEvent::ToolExecutionStart { tool_call_id: id.clone(), tool_name: name.clone(), args };
    let events = [
        delta(HOSTILE),
        streamed(AssistantEvent::ThinkingDelta { content_index: 0, delta: HOSTILE.to_owned() }),
        start(json!({ "command": HOSTILE })),
        start(json!({ HOSTILE: HOSTILE })),
        ended(HOSTILE),
        AgentEvent::ToolExecutionEnd {
            tool_call_id: id.clone(),
            tool_name: name.clone(),
            result: ToolOutcome::text(HOSTILE),
            is_error: true,
        },
        AgentEvent::ToolExecutionUpdate {
            tool_call_id: id.clone(),
            tool_name: name.clone(),
            args: json!({}),
            partial_result: ToolOutcome::text(format!("{HOSTILE}\n")),
        },
        AgentEvent::MessageEnd { message: Arc::new(Message::Custom(CustomMessage::new(HOSTILE, HOSTILE))) },
        compacted(Some(HOSTILE), None),
        compacted(None, Some(HOSTILE)),
    ];
    for event in events {
        let shown = state.on(event);
        assert!(shown.contains("safe"), "{shown:?}");
        check(&shown);
    }
}

// O3: each half of a sequence is harmless, wherever a provider cuts it.
#[test]
fn a_sequence_that_is_split_between_two_deltas_stays_text() {
    for (at, _) in HOSTILE.char_indices() {
        let mut state = State::default();
        let shown = format!("{}{}", state.on(delta(&HOSTILE[..at])), state.on(delta(&HOSTILE[at..])));
        check(&shown);
        assert!(shown.contains("\\u{1b}]0;owned\\u{7}"), "{shown:?}");
    }
}

// O3: a second line would look like one of the program's own.
#[test]
fn names_and_results_take_one_line_each() {
    let mut state = State::default();
    let args = json!({ "command": "a\nb" });
    let (tool_call_id, tool_name) = ("c".to_owned(), "x\n✓ bash: done".to_owned());
    let shown = state.on(AgentEvent::ToolExecutionStart { tool_call_id, tool_name, args });
    assert_eq!(without_styles(&shown), "→ x… a…\n");
    assert_eq!(without_styles(&state.on(ended("one\ntwo"))), "✓ bash: one…\n");
}

// O6
#[test]
fn an_answer_without_end_is_shown_up_to_a_point_and_the_next_one_again() {
    for piece in ["x".repeat(1 << 20), "\n".repeat(100_000)] {
        let mut state = State::default();
        let shown: String = (0..10).map(|_| state.on(delta(&piece))).collect();
        assert!(shown.len() < 1 << 20 && shown.contains("not shown"), "{}", shown.len());
        state.on(streamed(AssistantEvent::TextEnd { content_index: 0, content: String::new() }));
        assert_eq!(state.on(delta("next")), "next");
        assert!(without_styles(&state.on(ended(&piece))).len() < 200);
        let long = Message::Custom(CustomMessage::new("x", format!("y{piece}z")));
        assert!(state.on(AgentEvent::MessageEnd { message: Arc::new(long) }).len() < 1 << 20);
    }
}
