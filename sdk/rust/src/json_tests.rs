use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::*;

/// What the tool does.
///
/// In two paragraphs.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "the schema is what counts")]
struct Arguments {
    /// Which files.
    paths: Vec<String>,
    /// How many.
    limit: Option<u32>,
    ratio: f64,
    /// Where.
    place: Option<Place>,
    mode: Mode,
    extra: BTreeMap<String, i64>,
}

/// A place.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "the schema is what counts")]
struct Place {
    line: u64,
}

/// A mode.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Fast,
    Safe,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

/// Recursive.
#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "the schema is what counts")]
struct Node {
    children: Vec<Node>,
}

fn schema_of<T: JsonSchema>() -> Value {
    serde_json::from_str(&schema::<T>().schema).unwrap()
}

#[test]
fn a_schema_is_one_plain_document() {
    // 000-026
    assert_eq!(
        schema_of::<Arguments>(),
        json!({
            "type": "object",
            "properties": {
                "paths": { "description": "Which files.", "type": "array", "items": { "type": "string" } },
                "limit": { "description": "How many.", "type": "integer", "minimum": 0 },
                "ratio": { "type": "number" },
                "place": {
                    "description": "Where.",
                    "type": "object",
                    "properties": { "line": { "type": "integer", "minimum": 0 } },
                    "required": ["line"],
                },
                "mode": { "description": "A mode.", "type": "string", "enum": ["fast", "safe"] },
                "extra": { "type": "object", "additionalProperties": { "type": "integer" } },
            },
            "required": ["paths", "ratio", "mode", "extra"],
        })
    );
    assert_eq!(
        schema::<Arguments>().description.as_deref(),
        Some("What the tool does.\n\nIn two paragraphs.")
    );
}

#[test]
fn a_type_without_fields_is_an_object_all_the_same() {
    assert_eq!(schema_of::<Nothing>(), json!({ "type": "object", "properties": {} }));
}

#[test]
fn a_recursive_type_refers_to_itself_inside_the_document() {
    let schema = schema_of::<Node>();
    assert_eq!(schema["type"], "object");
    assert!(!schema.to_string().contains("http"), "{schema}");
}

#[test]
fn errors_name_the_path() {
    // 000-026
    let text = r#"{"paths":["a",2],"ratio":1,"mode":"fast","extra":{}}"#;
    let error = parse::<Arguments>(text, "the arguments").unwrap_err();
    assert!(error.message().starts_with("the arguments at `paths[1]`: invalid type: integer `2`"), "{error}");
    let error = parse::<Arguments>("{}", "the arguments").unwrap_err();
    assert!(error.message().starts_with("the arguments: missing field `paths`"), "{error}");
    assert!(parse::<Nothing>("{} x", "the arguments").is_err());
}

#[test]
fn comments_lose_the_line_breaks_of_the_source_and_keep_their_own() {
    let text = "One line\nand more.\n\nNext:\n- a\n- b\n1. c\n```\ncode\nmore\n```\nend";
    let expected = "One line and more.\n\nNext:\n- a\n- b\n1. c\n```\ncode\nmore\n```\nend";
    assert_eq!(unwrapped(text), expected);
}
