use super::*;
use crate::compaction::talk_tests::{answers, asks, result, round, text, wants};
use crate::scripted_tests::call;
use proptest::prelude::*;
use serde_json::json;

fn joined(parts: Vec<Vec<Arc<Message>>>) -> Vec<Arc<Message>> {
    parts.concat()
}

#[test]
fn a_cut_never_parts_a_call_from_its_result() {
    let history = joined(vec![vec![asks("one", 1)], round("a", 1).into(), vec![answers("said", 1)]]);
    let cuts: Vec<usize> = (0..6).map(|wanted| safe_cut(&history, wanted)).collect();
    assert_eq!(cuts, [0, 1, 1, 3, 4, 4]);
}

// 001-148
#[test]
fn about_the_newest_tokens_are_kept_from_the_beginning_of_a_turn() {
    let turn = || vec![asks("q", 100), answers("a", 100)];
    let history = joined((0..5).map(|_| turn()).collect());
    assert_eq!(cut_point(&history, 0, 400), 6);
    // A little more or less for the sake of a whole turn.
    assert_eq!(cut_point(&history, 0, 300), 6);
    assert_eq!(cut_point(&history, 0, 1), 9, "a turn that is much too long is split");
    assert_eq!(cut_point(&history, 0, 1000), 0);
    assert_eq!(cut_point(&history, 0, 5000), 0, "all of it fits");
}

// 001-148
#[test]
fn a_cut_in_a_long_turn_is_before_an_answer_and_never_before_a_result() {
    let history = joined(vec![
        vec![asks("q", 10)],
        round("a", 200).into(),
        round("b", 200).into(),
        round("c", 200).into(),
    ]);
    assert_eq!(cut_point(&history, 0, 250), 5);
    assert_eq!(cut_point(&history, 0, 410), 3);
    assert_eq!(split_turn(&history, 0, 5), Some(0));
}

// 001-151: where only results follow, what came before their calls can go nevertheless.
#[test]
fn a_large_result_at_the_end_does_not_keep_everything_before_it() {
    let history =
        joined(vec![vec![asks("old", 50), answers("a", 50), asks("new", 5)], round("r", 5000).into()]);
    assert_eq!(cut_point(&history, 0, 100), 3);
    let both = wants([call("x", "work", json!({})), call("y", "work", json!({}))]);
    let results = vec![both, result("x", text("x", 90)), result("y", text("y", 90))];
    assert_eq!(cut_point(&joined(vec![vec![asks("old", 50)], results]), 0, 100), 1);
}

#[test]
fn a_large_message_is_not_kept_for_the_little_that_follows_it() {
    let history = vec![asks("pasted", 5000), answers("a", 5), asks("q", 40), answers("b", 40)];
    assert_eq!(cut_point(&history, 0, 100), 2, "from the next turn");
    assert_eq!(cut_point(&history[..2], 0, 100), 1);
    assert_eq!(cut_point(&history[..1], 0, 100), 0, "the last message stays");
    let mut wrote = vec![asks("q", 10), wants([call("w", "write", json!({"content": text("c", 5000)}))])];
    wrote.extend([result("w", "ok".into()), answers("done", 20)]);
    assert_eq!(cut_point(&wrote, 0, 100), 3);
}

#[test]
fn what_is_a_summary_already_is_not_summarized_alone() {
    let summary = summary::message_of("earlier");
    let history = vec![summary, asks("q", 100), answers("a", 100)];
    assert_eq!(carried(&history), 1);
    assert_eq!(cut_point(&history, 1, 5000), 1);
    assert_eq!(cut_point(&history, 1, 200), 1);
}

proptest! {
    // 001-148, 001-047
    #[test]
    fn a_cut_is_safe_and_keeps_about_what_it_should(
        turns in prop::collection::vec((1_usize..300, prop::collection::vec(1_usize..300, 0..6)), 1..8),
        keep in 1_usize..2000,
    ) {
        let mut history = Vec::new();
        for (turn, (question, rounds)) in turns.iter().enumerate() {
            history.push(asks("q", *question));
            for (number, size) in rounds.iter().enumerate() {
                history.extend(round(&format!("{turn}-{number}"), *size));
            }
            history.push(answers("a", 5));
        }
        let cut = cut_point(&history, 0, keep);
        prop_assert_eq!(safe_cut(&history, cut), cut);
        prop_assert!(cut < history.len());
        // One message more than wanted, half as much again for a whole turn, and half as much for one.
        let kept = total(&history[cut..]);
        prop_assert!(kept <= keep + keep / 2 + 320, "{} of {}", kept, keep);
        prop_assert!(cut == 0 || kept + 320 >= keep / 2, "{} of {}", kept, keep);
    }
}
