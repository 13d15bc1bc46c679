use super::*;
use crate::compaction::talk_tests::{answers, asks};
use crate::scripted_tests::{assistant, call, user};
use capstan_ports::message::UserMessage;
use capstan_ports::{AssistantMessage, ToolOutcome, build_tool_result_message};
use serde_json::json;

fn counted_answer(stop: StopReason, total_tokens: u64) -> Arc<Message> {
    let usage = Usage { total_tokens, ..Usage::default() };
    Arc::new(AssistantMessage { usage, ..assistant(vec![Content::text("12345678")], stop) }.into())
}

#[test]
fn four_characters_are_a_token_and_a_part_of_one_counts_whole() {
    assert_eq!([tokens(&user("")), tokens(&user("äöüß")), tokens(&user("äöüßx"))], [0, 1, 2]);
    let calls = assistant(
        vec![
            Content::Thinking { thinking: "1234".into(), thinking_signature: None, redacted: false },
            Content::ToolCall(call("id", "read", json!({"path": "a"}))),
        ],
        StopReason::ToolUse,
    );
    assert_eq!(tokens(&calls.into()), (4_usize + 4 + r#"{"path":"a"}"#.len()).div_ceil(4));
}

// 001-152
#[test]
fn pictures_count_wherever_they_stand() {
    let picture = || Content::Image { data: "aGk=".into(), mime_type: "image/png".into() };
    let said = Message::User(UserMessage { content: vec![picture(), picture()], timestamp: 0 });
    let outcome = ToolOutcome { content: vec![picture()], ..ToolOutcome::text("") };
    let seen = build_tool_result_message(&call("a", "read", json!({})), &outcome);
    assert_eq!([tokens(&said), tokens(&seen)], [2400, 1200]);
}

#[test]
fn what_the_provider_counted_counts_and_what_came_after_is_estimated() {
    let messages = vec![asks("a", 9000), counted_answer(StopReason::Stop, 500), asks("b", 10)];
    assert_eq!(Tally::default().count(&messages, 0), 510);
    assert_eq!(Tally::default().count(&messages[2..], 0), 10);
    let half = Usage { output: 4, total_tokens: 4, ..Usage::default() };
    let answer = AssistantMessage { usage: half, ..assistant(vec![], StopReason::Stop) };
    assert_eq!(Tally::default().count(&[asks("a", 900), Arc::new(answer.into())], 0), 900);
    let sum = Usage { input: 3, output: 4, cache_read: 5, cache_write: 6, ..Usage::default() };
    let answer = AssistantMessage { usage: sum, ..assistant(vec![], StopReason::Stop) };
    assert_eq!(Tally::default().count(&[asks("a", 900), Arc::new(answer.into())], 0), 18);
}

#[test]
fn failed_answers_and_answers_before_a_compaction_do_not_count_for_the_whole() {
    let failed = vec![asks("a", 50), counted_answer(StopReason::Error, 900)];
    assert_eq!(Tally::default().count(&failed, 0), 52);
    let old = vec![asks("a", 50), counted_answer(StopReason::Stop, 900), asks("b", 10)];
    assert_eq!(Tally::default().count(&old, 2), 62);
    assert_eq!(Tally::default().count(&old, 1), 910);
}

#[test]
fn a_tally_that_goes_on_gives_what_a_new_one_would() {
    let messages = [asks("a", 50), answers("b", 30), counted_answer(StopReason::Stop, 90), asks("c", 7)];
    let mut tally = Tally::default();
    for upto in 0..=messages.len() {
        assert_eq!(tally.count(&messages[..upto], 0), Tally::default().count(&messages[..upto], 0));
    }
}
