use super::*;

fn id(name: &str) -> SessionId {
    SessionId::new(name)
}

#[test]
fn a_turn_has_its_budget_and_the_next_one_a_new_one() {
    let accounts = Accounts::default();
    assert_eq!(accounts.book(&id("s"), Some(0), 60, 100), Ok(0));
    assert_eq!(accounts.book(&id("s"), Some(0), 60, 100), Err(40));
    assert_eq!(accounts.book(&id("s"), Some(1), 60, 100), Ok(1));
}

#[test]
fn what_was_booked_and_not_used_can_be_booked_again() {
    let accounts = Accounts::default();
    accounts.book(&id("s"), Some(0), 90, 100).unwrap();
    accounts.settle(&id("s"), 0, 90, 30);
    assert_eq!(accounts.book(&id("s"), Some(0), 71, 100), Err(70));
    assert_eq!(accounts.book(&id("s"), Some(0), 70, 100), Ok(0));
}

#[test]
fn an_answer_that_took_more_than_was_booked_is_counted_whole() {
    let accounts = Accounts::default();
    accounts.book(&id("s"), Some(0), 10, 100).unwrap();
    accounts.settle(&id("s"), 0, 10, 250);
    assert_eq!(accounts.book(&id("s"), Some(0), 1, 100), Err(0));
}

#[test]
fn sessions_have_accounts_of_their_own() {
    let accounts = Accounts::default();
    accounts.book(&id("a"), Some(0), 100, 100).unwrap();
    assert_eq!(accounts.book(&id("b"), Some(0), 100, 100), Ok(0));
    // What is settled late belongs to a turn that is over.
    accounts.settle(&id("a"), 7, 100, 0);
    assert_eq!(accounts.book(&id("a"), Some(0), 1, 100), Err(0));
}

// A memory is not told the turn: were it taken for another turn, each of its calls would give a tool a new budget.
#[test]
fn a_call_without_a_turn_counts_for_the_latest_and_begins_none() {
    let accounts = Accounts::default();
    accounts.book(&id("s"), Some(3), 60, 100).unwrap();
    assert_eq!(accounts.book(&id("s"), None, 30, 100), Ok(3));
    assert_eq!(accounts.book(&id("s"), Some(3), 20, 100), Err(10));
    accounts.close(&id("s"));
    assert_eq!(accounts.book(&id("s"), None, 100, 100), Ok(0));
}
