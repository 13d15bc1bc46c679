use super::*;
use crate::scripted_tests::{assistant, call, shorts, user};
use proptest::prelude::*;
use serde_json::json;

fn asks(ids: &[&str]) -> Arc<Message> {
    stopped(StopReason::ToolUse, ids)
}

fn stopped(reason: StopReason, ids: &[&str]) -> Arc<Message> {
    let calls = ids.iter().map(|id| Content::ToolCall(call(id, "t", json!({})))).collect();
    Arc::new(Message::Assistant(assistant(calls, reason)))
}

fn answers(id: &str, text: &str) -> Arc<Message> {
    Arc::new(Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "t".into(),
        content: vec![Content::text(text)],
        details: None,
        is_error: false,
        timestamp: 2,
    }))
}

fn repaired(messages: &[Arc<Message>]) -> Vec<String> {
    shorts(&repair(messages))
}

#[test]
fn a_whole_transcript_is_shared_unchanged() {
    let messages = [user("hi"), asks(&["a", "b"]), answers("a", "1"), answers("b", "2"), user("more")];
    let repaired = repair(&messages);
    assert!(repaired.iter().zip(&messages).all(|(a, b)| Arc::ptr_eq(a, b)));
    assert_eq!(repaired.len(), messages.len());
}

// X10, 000-155
#[test]
fn failed_aborted_and_empty_answers_go_with_their_results() {
    let messages = [
        user("hi"),
        stopped(StopReason::Error, &["a"]),
        answers("a", "1"),
        stopped(StopReason::Aborted, &[]),
        stopped(StopReason::Stop, &[]),
        user("again"),
    ];
    assert_eq!(repaired(&messages), ["user hi", "user again"]);
}

#[test]
fn what_is_never_sent_leaves_a_transcript_complete() {
    let failed = [user("hi"), stopped(StopReason::Aborted, &["a"]), answers("a", "1"), user("again")];
    assert!(!is_sound(&failed) && is_complete(&failed));
    assert!(is_complete(&[user("hi"), asks(&["a"]), answers("a", "1"), stopped(StopReason::Error, &[])]));
    for messages in [
        vec![user("hi"), answers("a", "1")],
        vec![asks(&["a"]), user("hi")],
        vec![stopped(StopReason::Aborted, &["a"]), answers("b", "1"), user("hi")],
        // Nothing of it would be sent.
        vec![stopped(StopReason::Aborted, &["a"])],
    ] {
        assert!(!is_complete(&messages), "{:?}", shorts(&messages));
    }
}

#[test]
fn missing_results_are_made_up_before_the_next_message_and_at_the_end() {
    let messages = [asks(&["a", "b"]), answers("b", "2"), user("go on"), asks(&["c"])];
    assert_eq!(
        repaired(&messages),
        [
            "asst +a+b",
            "result! a No result provided",
            "result b 2",
            "user go on",
            "asst +c",
            "result! c No result provided"
        ]
    );
}

#[test]
fn orphans_and_second_results_are_left_out() {
    let messages = [
        answers("x", "0"),
        user("hi"),
        asks(&["a"]),
        answers("a", "1"),
        answers("a", "2"),
        answers("y", "3"),
    ];
    assert_eq!(repaired(&messages), ["user hi", "asst +a", "result a 1"]);
}

// 000-127
#[test]
fn results_in_completion_order_or_behind_a_user_message_return_to_their_calls() {
    let messages = [asks(&["a", "b"]), answers("b", "2"), user("steer"), answers("a", "1")];
    assert_eq!(repaired(&messages), ["asst +a+b", "result a 1", "result b 2", "user steer"]);
}

#[test]
fn ids_that_are_used_again_belong_to_the_nearest_call_before() {
    let messages = [asks(&["0"]), user("lost it"), asks(&["0"]), answers("0", "new")];
    assert_eq!(
        repaired(&messages),
        ["asst +0", "result! 0 No result provided", "user lost it", "asst +0", "result 0 new"]
    );
}

#[test]
fn a_result_before_its_call_does_not_count() {
    let messages = [user("hi"), answers("a", "early"), asks(&["a"])];
    assert_eq!(repaired(&messages), ["user hi", "asst +a", "result! a No result provided"]);
}

fn any_message() -> impl Strategy<Value = Arc<Message>> {
    let id = prop::sample::select(vec!["a", "b", "c", "d"]);
    let reason = prop::sample::select(vec![
        StopReason::Stop,
        StopReason::ToolUse,
        StopReason::Error,
        StopReason::Aborted,
    ]);
    prop_oneof![
        Just(user("u")),
        (reason, prop::collection::vec(id.clone(), 0..3)).prop_map(|(reason, ids)| stopped(reason, &ids)),
        id.prop_map(|id| answers(id, "r")),
    ]
}

// X-01
proptest! {
    #[test]
    fn any_history_becomes_one_in_which_calls_and_results_pair(
        messages in prop::collection::vec(any_message(), 0..25),
    ) {
        let once = repair(&messages);
        prop_assert!(is_sound(&once));
        prop_assert_eq!(repair(&once), once.clone());
        let users = |list: &[Arc<Message>]| list.iter().filter(|m| matches!(m.as_ref(), Message::User(_))).count();
        prop_assert_eq!(users(&once), users(&messages));
        let calls: usize = once.iter().map(|m| match m.as_ref() {
            Message::Assistant(answer) => answer.tool_calls().count(),
            _ => 0,
        }).sum();
        let results = once.iter().filter(|m| matches!(m.as_ref(), Message::ToolResult(_))).count();
        prop_assert_eq!(calls, results);
    }
}
