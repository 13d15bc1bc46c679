use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::super::parse;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "what counts is how reading fails")]
struct Order {
    name: String,
    #[serde(default)]
    lines: Vec<Line>,
    #[serde(default)]
    at: Option<(u8, u8)>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "what counts is how reading fails")]
struct Line {
    count: u8,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "what counts is how reading fails")]
struct Kind {
    kind: String,
}

fn place_of<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    let error = parse::<T>(text, "it").unwrap_err().to_string();
    error.split_once(": ").unwrap().0.to_owned()
}

#[test]
fn an_error_names_the_value_that_does_not_fit() {
    for (text, place) in [
        (r#"{"name":1}"#, "it at `name`"),
        ("{\n  \"name\": 1\n}", "it at `name`"),
        (r#"{"name":{"a":[1]}}"#, "it at `name`"),
        (r#"{"name":[]}"#, "it at `name`"),
        (r#"{"name":null,"lines":[]}"#, "it at `name`"),
        (r#"{"name":"a, {\"b\": ]","lines":true}"#, "it at `lines`"),
        (r#"{"name":"a","at":[1,"x"]}"#, "it at `at[1]`"),
        (r#"{"name":"a","at":[1,300]}"#, "it at `at[1]`"),
        (r#"{"lines":[{"count":1,"kind":"a"},{"kind":"b","count":true}]}"#, "it at `lines[1].count`"),
    ] {
        assert_eq!(place_of::<Order>(text), place, "{text}");
    }
}

#[test]
fn what_is_wrong_with_a_container_names_the_container() {
    for (text, place) in [
        ("{}", "it"),
        (r#"{"lines":[]}"#, "it"),
        (r#"{"name":"a","nome":1}"#, "it"),
        (r#"{"name":"a","lines":[{"count":1}]}"#, "it at `lines[0]`"),
        (r#"{"name":"a","lines":[{"kind":"a"}]}"#, "it at `lines[0]`"),
        // Of a flattened part, which is read after its container.
        (r#"{"name":"a","lines":[{"count":1,"kind":2}]}"#, "it at `lines[0]`"),
        (r#"{"name":"a","at":[1]}"#, "it at `at`"),
        (r#"{"name":"a"} 2"#, "it"),
        ("", "it"),
        ("1", "it"),
    ] {
        assert_eq!(place_of::<Order>(text), place, "{text}");
    }
}

#[test]
fn the_text_of_an_error_is_that_of_the_original() {
    let error = parse::<Order>(r#"{"name":"a","at":[1,"x"]}"#, "it").unwrap_err().to_string();
    assert_eq!(error, "it at `at[1]`: invalid type: string \"x\", expected u8 at line 1 column 23");
}

mod any_text {
    use proptest::prelude::*;

    use super::super::{path, spaced};

    proptest! {
        #[test]
        fn gives_a_path_at_any_position(text in r#"([\[\]{}:,"\\ a1é\n]){0,40}"#, end in 0usize..60) {
            let spaced = spaced(&text);
            let _ = path(&spaced, end);
        }
    }
}
