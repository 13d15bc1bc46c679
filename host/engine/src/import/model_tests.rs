use super::*;

fn id(name: &str) -> SessionId {
    SessionId::new(name)
}

#[test]
fn a_turn_has_its_budget_and_the_next_one_a_new_one() {
    let accounts = Accounts::default();
    assert_eq!(accounts.book(&id("s"), 0, 60, 100), Ok(()));
    assert_eq!(accounts.book(&id("s"), 0, 60, 100), Err(40));
    assert_eq!(accounts.book(&id("s"), 1, 60, 100), Ok(()));
}

#[test]
fn what_was_booked_and_not_used_can_be_booked_again() {
    let accounts = Accounts::default();
    accounts.book(&id("s"), 0, 90, 100).unwrap();
    accounts.settle(&id("s"), 0, 90, 30);
    assert_eq!(accounts.book(&id("s"), 0, 71, 100), Err(70));
    assert_eq!(accounts.book(&id("s"), 0, 70, 100), Ok(()));
}

#[test]
fn an_answer_that_took_more_than_was_booked_is_counted_whole() {
    let accounts = Accounts::default();
    accounts.book(&id("s"), 0, 10, 100).unwrap();
    accounts.settle(&id("s"), 0, 10, 250);
    assert_eq!(accounts.book(&id("s"), 0, 1, 100), Err(0));
}

#[test]
fn sessions_have_accounts_of_their_own() {
    let accounts = Accounts::default();
    accounts.book(&id("a"), 0, 100, 100).unwrap();
    assert_eq!(accounts.book(&id("b"), 0, 100, 100), Ok(()));
    // What is settled late belongs to a turn that is over.
    accounts.settle(&id("a"), 7, 100, 0);
    assert_eq!(accounts.book(&id("a"), 0, 1, 100), Err(0));
}
