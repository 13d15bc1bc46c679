use super::*;
use serde_json::json;

fn finished(text: &str) -> ToolCall {
    finish("id".into(), "tool".into(), text)
}

#[test]
fn a_whole_object_becomes_the_arguments() {
    let call = finished(" {\"a\": 1, \"b\": [true, null]} ");
    assert_eq!(call.arguments, json!({"a": 1, "b": [true, null]}));
    assert_eq!(call.malformed, None);
}

#[test]
fn no_text_means_no_arguments() {
    for text in ["", "  \n", "null", "{}"] {
        let call = finished(text);
        assert_eq!((call.arguments, call.malformed), (json!({}), None), "{text:?}");
    }
}

// 000-028, P6
#[test]
fn every_proper_prefix_of_an_object_is_malformed_and_never_a_partial_command() {
    let whole = r#"{"command": "rm -r build", "n": [1, {"x": "é\n"}]}"#;
    for end in 1..whole.len() {
        let Some(part) = whole.get(..end) else { continue };
        let call = finished(part);
        assert_eq!(call.arguments, json!({}), "{part:?}");
        assert_eq!(call.malformed.as_deref(), Some(part.trim()), "{part:?}");
        assert_eq!(call, finished(part), "the same text gives the same call");
    }
}

// 000-028
#[test]
fn what_is_no_object_is_malformed() {
    let deep = format!("{}{}", "{\"a\":".repeat(100_000), "1");
    for text in ["[1]", "\"x\"", "7", "{\"a\":1} trailing", "{'a':1}", "{\"a\":1e999}", deep.as_str()] {
        assert!(finished(text).malformed.is_some(), "{}", &text[..text.len().min(40)]);
    }
}
