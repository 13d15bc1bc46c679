use super::*;
use capstan_sdk::testing;
use serde_json::json;

fn verdict(config: Value, arguments: Value) -> Verdict {
    testing::with_config(config, || testing::before_tool_call::<Extension>("search", arguments))
}

fn rewritten(verdict: Verdict) -> Value {
    match verdict {
        Verdict::Rewrite(text) => serde_json::from_str(&text).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_model_left_out_is_filled_in_and_what_it_wrote_stays() {
    let config = json!({"tools": {"search": {"limit": 20, "depth": 3}}});
    let filled = rewritten(verdict(config.clone(), json!({"query": "x", "depth": 9})));
    assert_eq!(filled, json!({"query": "x", "depth": 9, "limit": 20}));
    assert_eq!(verdict(config, json!({"limit": null, "depth": 1})), Verdict::Pass);
}

#[test]
fn a_tool_without_defaults_passes() {
    assert_eq!(verdict(json!({}), json!({"query": "x"})), Verdict::Pass);
    assert_eq!(verdict(json!({"tools": {"other": {"n": 1}}}), json!({})), Verdict::Pass);
    assert_eq!(verdict(json!({"tools": {"search": {}}}), json!({})), Verdict::Pass);
}

#[test]
fn it_asks_for_the_power_to_rewrite_and_for_nothing_else() {
    let descriptor = testing::describe::<Extension>();
    assert_eq!((descriptor.requests.len(), descriptor.tools.len()), (1, 0));
    assert!(descriptor.config_schema.is_some());
}
