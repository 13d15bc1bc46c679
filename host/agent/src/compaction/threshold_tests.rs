use super::*;
use crate::compaction::talk_tests::{answers, asks, round};
use capstan_ports::SessionId;

const SETTINGS: CompactionSettings =
    CompactionSettings { enabled: true, reserve_tokens: 16_384, keep_recent_tokens: 20_000 };

fn context(used_tokens: u32, reason: CompressReason) -> CompressContext {
    CompressContext {
        session_id: SessionId::new("s"),
        window_tokens: 200_000,
        used_tokens,
        reserve_tokens: 16_384,
        instructions: None,
        reason,
    }
}

fn long() -> Vec<Arc<Message>> {
    vec![asks("old", 50_000), answers("a", 50_000), asks("new", 20_000), answers("b", 100)]
}

fn summarize(first_kept: usize) -> CompressAction {
    CompressAction::Summarize { first_kept, instructions: String::new() }
}

// 001-147
#[tokio::test]
async fn a_conversation_that_leaves_exactly_the_reserve_is_left_alone() {
    let native = ThresholdCompressor::new(SETTINGS);
    assert_eq!(CompactionSettings::default(), SETTINGS);
    let limit = 200_000 - 16_384;
    let at =
        async |used| native.compress(&long(), &context(used, CompressReason::BeforeModel)).await.unwrap();
    assert_eq!(at(limit).await, CompressAction::None);
    assert_eq!(at(limit + 1).await, summarize(2));
}

#[test]
fn a_refusal_or_a_person_needs_no_threshold() {
    let native = ThresholdCompressor::new(SETTINGS);
    for reason in [CompressReason::Overflow, CompressReason::Manual] {
        assert_eq!(native.judge(&long(), &context(100_000, reason)), summarize(2), "{reason:?}");
    }
    let instructions = Some("names".to_owned());
    let asked = CompressContext { instructions, ..context(100_000, CompressReason::Manual) };
    let CompressAction::Summarize { instructions, .. } = native.judge(&long(), &asked) else { panic!() };
    assert_eq!(instructions, "names");
}

#[test]
fn without_a_window_nothing_is_too_long() {
    let unknown = CompressContext { window_tokens: 0, ..context(u32::MAX, CompressReason::BeforeModel) };
    assert_eq!(ThresholdCompressor::new(SETTINGS).judge(&long(), &unknown), CompressAction::None);
}

// A long system prompt must not have a few words summarized at each request.
#[test]
fn what_is_hardly_longer_than_a_summary_is_summarized_only_by_hand() {
    let native = ThresholdCompressor::new(SETTINGS);
    let short = vec![asks("old", 300), answers("a", 100), asks("new", 20_000)];
    assert_eq!(native.judge(&short, &context(190_000, CompressReason::BeforeModel)), CompressAction::None);
    assert_eq!(native.judge(&short, &context(190_000, CompressReason::Manual)), summarize(2));
    let recent = vec![asks("new", 100), answers("a", 100)];
    assert_eq!(native.judge(&recent, &context(200, CompressReason::Manual)), CompressAction::None);
}

#[test]
fn a_small_window_keeps_room_for_both_parts() {
    let small = SETTINGS.for_window(32_768);
    assert_eq!((small.reserve_tokens, small.keep_recent_tokens), (16_384, 8_192));
    let tiny = SETTINGS.for_window(1000);
    assert_eq!((tiny.reserve_tokens, tiny.keep_recent_tokens), (500, 250));
    assert_eq!(SETTINGS.for_window(0), SETTINGS);
}

// 001-151
#[test]
fn a_result_that_is_too_large_is_a_reason_although_nothing_comes_before_it() {
    let native = ThresholdCompressor::new(SETTINGS);
    let mut history = vec![asks("q", 10)];
    history.extend(round("r", 190_000));
    let due = context(190_020, CompressReason::BeforeModel);
    assert_eq!(native.judge(&history, &due), summarize(0));
}
