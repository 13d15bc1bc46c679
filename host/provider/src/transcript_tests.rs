use super::*;

#[test]
fn plain_unique_ids_stay_as_they_are() {
    let mut ids = CallIds::default();
    assert_eq!(ids.of_call("toolu_01AbC-9"), "toolu_01AbC-9");
    assert_eq!(ids.of_result("toolu_01AbC-9"), "toolu_01AbC-9");
}

#[test]
fn repeated_long_and_odd_ids_become_short_unique_ones_that_their_results_follow() {
    let mut ids = CallIds::default();
    let long = "x".repeat(400);
    let mut seen = HashSet::new();
    for id in ["call_0", "call_0", "call_2", "call_3", "a|b", &long, "", "call_0", "functions.run:0"] {
        let wire = ids.of_call(id);
        assert_eq!(ids.of_result(id), wire, "the result belongs to the latest call");
        assert!(
            wire.len() <= MAX_CALL_ID_BYTES && !wire.is_empty() && !wire.contains(['|', '.', ':']),
            "{wire}"
        );
        assert!(seen.insert(wire));
    }
}

#[test]
fn the_same_history_gets_the_same_ids() {
    let write = || {
        let mut ids = CallIds::default();
        ["a|b", "a|b", "c"].map(|id| ids.of_call(id))
    };
    assert_eq!(write(), write());
}
