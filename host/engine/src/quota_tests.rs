use super::*;

// F16
#[test]
fn what_does_not_fit_is_refused_whole_and_ends_writing() {
    let quota = Quota::new(10);
    quota.book(6).unwrap();
    assert!(quota.used_up().is_none());
    quota.book(5).unwrap_err();
    quota.book(1).unwrap_err();
    assert_eq!(quota.settle(), 6);
    assert!(quota.used_up().is_some());
    quota.book(0).unwrap();
    quota.renew(10);
    quota.book(10).unwrap();
    assert!(quota.used_up().is_none());
}

#[test]
fn what_was_not_written_is_given_back() {
    let quota = Quota::new(10);
    quota.book(10).unwrap();
    quota.give_back(4);
    quota.book(4).unwrap();
    quota.book(u64::MAX).unwrap_err();
    assert_eq!(quota.settle(), 10);
}

#[test]
fn a_gap_behind_the_end_costs_as_much_as_if_it_were_written() {
    assert_eq!(cost(100, 0, 10), 10);
    assert_eq!(cost(100, 95, 10), 10);
    assert_eq!(cost(100, 100, 10), 10);
    assert_eq!(cost(100, 1_000, 10), 910);
    assert_eq!(cost(0, u64::MAX - 1, 10), u64::MAX);
    assert_eq!(cost(0, 1_000, 0), 0);
}

#[test]
fn the_error_says_how_much_there_was() {
    let quota = Quota::new(256 << 20);
    let error = quota.book(257 << 20).unwrap_err().to_string();
    assert!(error.contains("256 MiB"), "{error}");
}
