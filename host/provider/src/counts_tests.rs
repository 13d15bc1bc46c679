use super::*;
use serde_json::json;

// P14
#[test]
fn odd_counts_are_zero_or_saturated() {
    let odd = [json!(null), json!(-5), json!("7"), json!([1]), json!(1e300), json!(2.9), json!(9)];
    assert_eq!(odd.map(|value| count(&value)), [0, 0, 0, 0, u64::MAX, 2, 9]);
}
