use super::*;
use crate::scripted_tests::{assistant, call, shorts, user};
use crate::transcript::repair;
use capstan_ports::{StopReason, ToolOutcome, build_tool_result_message};
use proptest::prelude::*;
use serde_json::json;

fn round(id: usize, bytes: usize) -> [Arc<Message>; 2] {
    let call = call(&format!("c{id}"), "t", json!({}));
    let asked = assistant(vec![Content::ToolCall(call.clone())], StopReason::ToolUse);
    let result = build_tool_result_message(&call, &ToolOutcome::text("x".repeat(bytes)));
    [Arc::new(asked.into()), Arc::new(result)]
}

#[test]
fn old_results_are_cleared_before_turns_are_left_out() {
    let mut messages = vec![user("go")];
    messages.extend((0..7).flat_map(|id| round(id, 400)));
    let shorter = trimmed(&messages, 100_000).unwrap();
    let cleared = shorts(&shorter).iter().filter(|line| line.contains("cleared")).count();
    assert_eq!((shorter.len(), cleared), (15, 2));
}

#[test]
fn the_oldest_turns_go_and_the_present_one_stays() {
    let messages = vec![user(&"a".repeat(4000)), user(&"b".repeat(4000)), user("now")];
    assert_eq!(shorts(&trimmed(&messages, 1000).unwrap()), ["user now"]);
    assert_eq!(trimmed(&messages[2..], 10), None);
}

proptest! {
    // X-01, 003-158
    #[test]
    fn what_is_left_needs_no_repair(turns in prop::collection::vec((0_usize..9, 0_usize..900), 1..8), window in 1_u32..4000) {
        let mut messages = Vec::new();
        for (turn, (rounds, bytes)) in turns.into_iter().enumerate() {
            messages.push(user("go"));
            messages.extend((0..rounds).flat_map(|id| round(turn * 100 + id, bytes)));
        }
        if let Some(shorter) = trimmed(&messages, window) {
            prop_assert_eq!(repair(&shorter).len(), shorter.len());
            prop_assert!(!shorter.is_empty());
        }
    }
}
