use super::*;
use serde_json::json;

fn change(field: &str, before: Option<&str>, after: Option<&str>) -> FieldChange {
    FieldChange { field: field.into(), before: before.map(str::to_owned), after: after.map(str::to_owned) }
}

#[test]
fn only_arguments_that_differ_are_named_with_both_values() {
    let changes = of_arguments(&json!({"a": 1, "b": "x", "c": [1]}), &json!({"b": "y", "c": [1], "d": null}));
    assert_eq!(
        changes,
        [
            change("a", Some("1"), None),
            change("b", Some("\"x\""), Some("\"y\"")),
            change("d", None, Some("null"))
        ]
    );
    assert_eq!(of_arguments(&json!({"a": 1}), &json!({"a": 1})), []);
}

#[test]
fn a_long_text_is_kept_around_its_first_difference() {
    let long = |middle: &str| json!({ "text": format!("{}{middle}{}", "é".repeat(5000), "z".repeat(5000)) });
    let changes = of_arguments(&long("old"), &long("new"));
    let [FieldChange { before: Some(before), after: Some(after), .. }] = changes.as_slice() else {
        panic!("{changes:?}")
    };
    assert!(before.contains("éoldz") && after.contains("énewz"), "{before}\n{after}");
    assert!(before.starts_with('…') && before.ends_with('…') && before.len() <= MAX_TEXT_BYTES + 8);
}

#[test]
fn many_changed_arguments_are_cut_to_some() {
    let many: Map<String, Value> = (0..100).map(|n| (n.to_string(), json!(n))).collect();
    assert_eq!(of_arguments(&json!({}), &Value::Object(many)).len(), MAX_FIELDS);
}

#[test]
fn an_amendment_shows_the_fields_that_it_replaces() {
    let outcome = ToolOutcome { details: Some(json!({"n": 1})), ..ToolOutcome::text("key=abc") };
    let amendment = Amendment {
        content: Some(vec![Content::text("key=***")]),
        is_error: Some(true),
        terminate: true,
        ..Amendment::default()
    };
    assert_eq!(
        of_outcome(&outcome, &amendment),
        [
            change("content", Some("key=abc"), Some("key=***")),
            change("is-error", Some("false"), Some("true")),
            change("terminate", Some("false"), Some("true")),
        ]
    );
    let details = Amendment { details: Some(json!({"n": 2})), ..Amendment::default() };
    assert_eq!(of_outcome(&outcome, &details), [change("details", Some("{\"n\":1}"), Some("{\"n\":2}"))]);
}
