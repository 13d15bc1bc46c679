use capstan_sdk::testing;
use serde_json::{Value, json};

use super::*;

fn context(window_tokens: u32, used_tokens: u32) -> Compaction {
    Compaction {
        session_id: "test".to_owned(),
        window_tokens,
        used_tokens,
        reserve_tokens: 1_000,
        instructions: None,
    }
}

fn ask(config: Value, context: &Compaction) -> Result<Action> {
    let talk: Vec<Message> = (0..10)
        .flat_map(|turn| [Message::user(format!("ask {turn}")), Message::assistant("word".repeat(900))])
        .collect();
    testing::with_config(config, || early(talk, context))
}

fn order(action: Result<Action>) -> SummaryOrder {
    match action.unwrap() {
        Action::Summarize(order) => order,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_summary_is_ordered_early_and_not_too_early() {
    assert_eq!(ask(json!({}), &context(11_000, 7_000)).unwrap(), Action::None);
    assert_eq!(order(ask(json!({}), &context(11_000, 7_001))).first_kept, 16, "two turns stay");
    assert_eq!(ask(json!({}), &context(0, 9_000)).unwrap(), Action::None, "the window is not known");
    let told = order(ask(json!({"window_tokens": 11_000, "turns": 1}), &context(0, 9_000)));
    assert_eq!(told.first_kept, 18);
}

#[test]
fn what_the_user_wants_kept_stands_last() {
    let asked = Compaction { instructions: Some("the colours".to_owned()), ..context(11_000, 100) };
    let order = order(ask(json!({"instructions": " names of tables "}), &asked));
    assert!(order.instructions.starts_with("Keep, in this order: what the user wants"));
    assert!(order.instructions.ends_with("\nAbove all: names of tables\nAbove all: the colours"));
}

#[test]
fn a_summary_of_almost_nothing_is_not_ordered() {
    let talk = vec![Message::user("hi"), Message::assistant("hello"), Message::user("x".repeat(4_000))];
    let action = testing::with_config(json!({}), || early(talk, &context(11_000, 9_000)));
    assert_eq!(action.unwrap(), Action::None);
}

#[test]
fn after_a_refusal_without_known_numbers_it_does_not_fail() {
    for talk in [Vec::new(), vec![Message::user("hi")]] {
        let action = testing::with_config(json!({}), || early(talk.clone(), &context(0, 0)));
        assert_eq!(action.unwrap(), Action::None);
    }
}

#[test]
fn shares_that_contradict_each_other_are_an_error() {
    let said = ask(json!({"start": 0.3, "keep": 0.3}), &context(11_000, 9_000)).unwrap_err();
    assert!(said.message().contains("`keep` must be less than `start`"), "{said}");
}

#[test]
fn it_asks_for_one_power() {
    let descriptor = testing::describe::<Extension>();
    assert_eq!((descriptor.requests.len(), descriptor.compressors[0].as_str()), (1, "early"));
}
