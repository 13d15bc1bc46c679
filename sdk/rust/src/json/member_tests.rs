use proptest::prelude::*;
use serde_json::{Value, json};

use super::text;

fn through_value(json: &str, name: &str) -> Option<String> {
    serde_json::from_str::<Value>(json).ok()?.get(name)?.as_str().map(str::to_owned)
}

#[test]
fn a_member_is_found_wherever_it_stands() {
    for (json, expected) in [
        (r#"{"a":"x"}"#, Some("x")),
        (" { \"b\" : [ \"a\" ] , \"a\" :\n\"x\" } ", Some("x")),
        (r#"{"b":{"a":"y"},"c":"a","a":"\"\\\/\n\u00e9\ud83d\ude00"}"#, Some("\"\\/\né😀")),
        (r#"{"\u0061":"x"}"#, Some("x")),
        (r#"{"a":"x","a":"y"}"#, Some("y")),
        (r#"{"a":"x","a":1}"#, None),
        (r#"{"a":1}"#, None),
        (r#"{"a":{"a":"x"}}"#, None),
        (r#"{"b":"\"a\":\"x\""}"#, None),
        (r#"[{"a":"x"}]"#, None),
        (r#"["a","x"]"#, None),
        ("{}", None),
        ("\"a\"", None),
    ] {
        assert_eq!(text(json, "a").as_deref(), expected, "{json}");
        assert_eq!(text(json, "a"), through_value(json, "a"), "{json}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
        r#"[a":{}\[\],\\ ]{0,8}"#.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((r#"(a|b|"|\\|:)"#, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn it_is_what_reading_everything_gives(value in any_json(), pretty in any::<bool>()) {
        let whole = json!({ "first": value, "a": value, "b": "end" });
        for document in [&value, &whole] {
            let json = if pretty { format!("{document:#}") } else { document.to_string() };
            for name in ["a", "b", "\"", "\\", "first"] {
                prop_assert_eq!(text(&json, name), through_value(&json, name), "{} in {}", name, json);
            }
        }
    }

    #[test]
    fn text_that_is_no_json_is_no_trouble(json in r#"[\[\]{}:,"\\ ua0é]{0,30}"#) {
        let _ = text(&json, "a");
    }
}
