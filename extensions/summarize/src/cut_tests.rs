use proptest::prelude::*;

use super::*;

/// An answer with these calls.
pub(crate) fn calling(ids: &[&str]) -> Message {
    let call =
        |id: &&str| ToolCall { id: (*id).to_owned(), name: "bash".to_owned(), arguments: "{}".to_owned() };
    Message { tool_calls: ids.iter().map(call).collect(), ..Message::assistant("calling") }
}

pub(crate) fn result(id: &str, text: &str) -> Message {
    Message {
        tool_call_id: Some(id.to_owned()),
        name: Some("bash".to_owned()),
        ..Message::new(Role::Tool, text)
    }
}

fn words(count: usize) -> String {
    "word".repeat(count)
}

fn turn(ask: &str, size: usize) -> [Message; 4] {
    [
        Message::user(ask),
        calling(&["a", "b"]),
        result("a", &words(size / 2)),
        result("b", &words(size - size / 2)),
    ]
}

fn talk(sizes: &[usize]) -> Vec<Message> {
    sizes.iter().flat_map(|size| turn("ask!", *size)).collect()
}

#[test]
fn the_cut_is_the_beginning_of_a_turn() {
    let talk = talk(&[100, 100, 100]);
    assert_eq!(first_kept(&talk, 2, 10_000), 4, "two turns are wanted and fit");
    assert_eq!(first_kept(&talk, 1, 10_000), 8);
    assert_eq!(first_kept(&talk, 2, 150), 8, "one fits");
    assert_eq!(first_kept(&talk, 9, 10_000), 0, "all of them");
}

#[test]
fn a_turn_that_is_too_large_is_cut_between_its_rounds() {
    let mut talk = talk(&[100]);
    talk.push(calling(&["c"]));
    talk.push(result("c", &words(20)));
    assert_eq!(first_kept(&talk, 2, 60), 4, "the newest round fits");
    assert_eq!(first_kept(&talk, 2, 5), 4, "and stays where it does not");
    assert_eq!(first_kept(&talk, 2, 10_000), 0);
}

#[test]
fn a_cut_never_parts_what_belongs_together() {
    let messages = [
        calling(&["a"]),
        Message::user("meanwhile"),
        result("a", ""),
        result("nobody", ""),
        Message::user("now"),
    ];
    assert_eq!(allowed(&messages), [true, false, false, false, true, true]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn pairs_and_the_newest_stay_and_the_budget_is_kept_where_it_can_be(
        kinds in prop::collection::vec((0..5_usize, 1..4_usize, 0..200_usize), 0..40),
        turns in 1..5_usize,
        budget in 0..3_000_usize,
    ) {
        let mut messages = Vec::new();
        for (at, (kind, calls, size)) in kinds.into_iter().enumerate() {
            let ids: Vec<String> = (0..calls).map(|call| format!("{}-{call}", at % 7)).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            match kind {
                0 => messages.push(Message::user(words(size))),
                1 => messages.push(Message::assistant(words(size))),
                2 => messages.push(result("nobody", &words(size))),
                _ => {
                    messages.push(calling(&ids));
                    messages.extend(ids.iter().rev().map(|id| result(id, &words(size))));
                }
            }
        }
        let cut = first_kept(&messages, turns, budget);
        prop_assert!(cut < messages.len() || messages.is_empty(), "the newest stays");
        let kept = &messages[cut..];
        // Every result that stays has its call before it, unless nothing has.
        if cut > 0 {
            let mut open = std::collections::HashSet::new();
            for (at, message) in kept.iter().enumerate() {
                open.extend(message.tool_calls.iter().map(|call| call.id.as_str()));
                if let Some(id) = message.tool_call_id.as_deref() {
                    let is_orphan = !messages[..cut + at].iter().any(|m| m.tool_calls.iter().any(|call| call.id == id));
                    prop_assert!(open.contains(id) || is_orphan, "{cut}: {messages:#?}");
                }
            }
            prop_assert!(kept[0].role != Role::Tool);
        }
        let total: usize = kept.iter().map(tokens).sum();
        let positions = allowed(&messages);
        let newest = (0..messages.len()).rev().find(|at| positions[*at]).unwrap_or(0);
        prop_assert!(total <= budget || cut == newest, "{total} of {budget}, cut at {cut}, newest {newest}");
        prop_assert!(kept.iter().filter(|message| message.role == Role::User).count() <= turns);
    }
}
