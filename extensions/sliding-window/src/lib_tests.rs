use std::collections::HashSet;

use capstan_sdk::testing;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn context(window_tokens: u32, used_tokens: u32) -> Compaction {
    Compaction {
        session_id: "test".to_owned(),
        window_tokens,
        used_tokens,
        reserve_tokens: 0,
        instructions: None,
    }
}

fn ask(config: Value, messages: Vec<Message>, context: &Compaction) -> Result<Action> {
    testing::with_config(config, || window(messages, context))
}

fn total(messages: &[Message]) -> usize {
    messages.iter().map(conversation::tokens).sum()
}

/// An answer with these calls.
fn calling(ids: &[&str]) -> Message {
    let call =
        |id: &&str| ToolCall { id: (*id).to_owned(), name: "bash".to_owned(), arguments: "{}".to_owned() };
    Message { tool_calls: ids.iter().map(call).collect(), ..Message::assistant("calling") }
}

fn result(id: &str, text: &str) -> Message {
    Message {
        tool_call_id: Some(id.to_owned()),
        name: Some("bash".to_owned()),
        ..Message::new(Role::Tool, text)
    }
}

fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().map(Message::text).collect()
}

fn long() -> Vec<Message> {
    let words = "word ".repeat(80);
    let mut messages = vec![Message::user("the goal")];
    for number in 0..10 {
        messages.push(Message::user(format!("{number} {words}")));
        messages.push(Message::assistant(format!("answer {number} {words}")));
    }
    messages.push(Message::user("now"));
    messages
}

#[test]
fn while_there_is_room_nothing_is_touched() {
    for (window, used) in [(10_000, 7_999), (10_000, 8_000), (0, 9_000)] {
        assert_eq!(ask(json!({}), long(), &context(window, used)).unwrap(), Action::None);
    }
    // What the answer needs is no room.
    let reserved = Compaction { reserve_tokens: 5_000, ..context(10_000, 7_999) };
    assert!(matches!(ask(json!({}), long(), &reserved).unwrap(), Action::Replace(_)));
    // A window that only the user knows.
    let told = ask(json!({"window_tokens": 2_000}), long(), &context(0, 2_000)).unwrap();
    assert!(matches!(told, Action::Replace(_)));
}

#[test]
fn the_goal_and_the_newest_stay_and_a_note_tells_of_the_rest() {
    let used = u32::try_from(total(&long())).unwrap();
    let Action::Replace(kept) = ask(json!({}), long(), &context(used, used)).unwrap() else { panic!() };
    let kept = texts(&kept);
    assert_eq!((kept[0].as_str(), kept.last().unwrap().as_str()), ("the goal", "now"));
    assert!(kept[1].contains("12 earlier messages") && kept[1].contains("\n- 5 word"), "{}", kept[1]);
    assert!(kept[2].starts_with("6 word") && kept.len() == 1 + 1 + 8 + 1, "{kept:#?}");
}

#[test]
fn a_second_move_has_one_note_that_tells_of_both() {
    let Some(first) = shortened(long(), 1_000) else { panic!() };
    let more = first.into_iter().chain(long().into_iter().skip(1)).collect();
    let Some(second) = shortened(more, 1_000) else { panic!() };
    let notes: Vec<String> =
        texts(&second).into_iter().filter(|text| text.starts_with("[sliding-window]")).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    // Of 21 messages beside the goal, twice, what stays is counted off.
    let kept = second.len() - 2;
    assert!(notes[0].contains(&format!("{} earlier messages", 42 - kept)), "{} {kept}", notes[0]);
}

#[test]
fn the_present_request_stays_however_many_rounds_it_took() {
    let mut messages = long();
    for number in 0..20 {
        let id = format!("call-{number}");
        messages.push(calling(&[&id]));
        messages.push(result(&id, &"output ".repeat(50)));
    }
    let Some(kept) = shortened(messages, 500) else { panic!() };
    let kept = texts(&kept);
    assert_eq!(kept[0], "the goal");
    assert!(kept.iter().any(|text| text == "now"), "{kept:?}");
    assert!(kept[1].contains("bash ×"), "{}", kept[1]);
}

#[test]
fn what_no_provider_accepts_is_not_handed_on() {
    let messages = vec![
        Message::user("goal"),
        Message::assistant("x".repeat(4_000)),
        calling(&["a", "b"]),
        result("b", "second"),
        result("a", "first"),
        calling(&["lost"]),
        result("nobody", "orphan"),
        Message::assistant(""),
        Message::user("now"),
    ];
    let kept = shortened(messages, 200).unwrap();
    let kept = texts(&kept);
    assert_eq!(kept[2..], ["calling", "first", "second", "now"], "results stand in the order of the calls");
}

#[test]
fn shares_that_contradict_each_other_are_an_error() {
    let said = ask(json!({"start": 0.4, "keep": 0.6}), long(), &context(10, 10)).unwrap_err();
    assert!(said.message().contains("`keep` must be less than `start`"), "{said}");
    assert!(ask(json!({"start": "half"}), long(), &context(10, 10)).is_err());
}

#[test]
fn a_result_that_is_larger_than_all_goes_when_something_newer_follows() {
    let messages = vec![
        Message::user("goal"),
        calling(&["a"]),
        result("a", &"x".repeat(100_000)),
        Message::assistant("done"),
        Message::user("now"),
    ];
    let kept = shortened(messages, 1_000).unwrap();
    assert_eq!(texts(&kept)[2..], ["done", "now"]);
    assert!(total(&kept) <= 1_000);
}

/// Conversations as sessions have them, now and then with what only broken ones have.
fn conversations() -> impl Strategy<Value = Vec<Message>> {
    let piece = (0..8_usize, 1..4_usize, 0..300_usize, any::<bool>());
    prop::collection::vec(piece, 1..30).prop_map(|pieces| {
        let mut messages = vec![Message::user("the goal")];
        for (at, (kind, calls, length, reused)) in pieces.into_iter().enumerate() {
            let text = format!("{at} {}", "x".repeat(length));
            let ids: Vec<String> = (0..calls)
                .map(|call| if reused { format!("c{call}") } else { format!("c{at}-{call}") })
                .collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            match kind {
                0 | 1 => messages.push(Message::user(text)),
                2 => messages.push(Message::assistant(text)),
                3 => messages.push(result("nobody", &text)),
                4 => messages.push(calling(&ids)),
                _ => {
                    messages.push(calling(&ids));
                    messages.extend(ids.iter().rev().map(|id| result(id, &text)));
                }
            }
        }
        messages.push(Message::user("newest"));
        messages
    })
}

/// As a provider wants it: each call followed by its result, and no result without its call.
fn is_sound(messages: &[Message]) -> bool {
    let mut rest = messages.iter();
    while let Some(message) = rest.next() {
        if message.role == Role::Tool {
            return false;
        }
        for call in &message.tool_calls {
            if rest.next().and_then(|next| next.tool_call_id.as_deref()) != Some(&call.id) {
                return false;
            }
        }
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn pairs_goal_and_newest_stay_within_the_budget(messages in conversations(), budget in 0..4_000_usize) {
        let originals: HashSet<String> = texts(&messages).into_iter().collect();
        let pieces = conversation::pieces(messages.clone());
        let Some(kept) = shortened(messages, budget) else {
            return Ok(());
        };
        prop_assert!(is_sound(&kept), "{kept:#?}");
        prop_assert_eq!(kept[0].text(), "the goal");
        prop_assert_eq!(kept.last().unwrap().text(), "newest");
        let notes = kept.iter().filter(|message| Note::of(message).is_some()).count();
        prop_assert_eq!(notes, 1);
        prop_assert!(kept.iter().all(|message| Note::of(message).is_some() || originals.contains(&message.text())));
        // What must stay and the note's first lines may be more than a budget that is too small.
        let must: usize = pieces[0].tokens + pieces.last().unwrap().tokens + NOTE_TOKENS;
        prop_assert!(total(&kept) <= budget.max(must), "{} of {budget}, at least {must}", total(&kept));
    }

    #[test]
    fn moving_on_again_and_again_stays_sound(messages in conversations(), budgets in prop::collection::vec(0..2_000_usize, 1..5)) {
        let mut messages = messages;
        for budget in budgets {
            messages.push(Message::assistant("go on"));
            messages.push(Message::user("newest"));
            if let Some(kept) = shortened(messages.clone(), budget) {
                prop_assert!(is_sound(&kept));
                prop_assert_eq!(kept[0].text(), "the goal");
                messages = kept;
            }
        }
    }
}
