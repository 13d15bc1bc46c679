use super::*;
use serde_json::json;

fn tool(parameters: Value) -> ToolDefinition {
    ToolDefinition {
        name: "count".into(),
        label: "Count".into(),
        description: String::new(),
        parameters,
        execution: Default::default(),
    }
}

fn check(parameters: Value, arguments: Value) -> Result<Value, String> {
    let tool = tool(parameters);
    ArgumentSchema::default().check(&tool, arguments.clone(), &arguments)
}

// 000-027
#[test]
fn a_number_written_as_text_is_accepted_and_other_text_is_named() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    assert_eq!(check(schema.clone(), json!({"n": "5"})), Ok(json!({"n": 5})));
    let text = check(schema.clone(), json!({"n": "x"})).unwrap_err();
    assert_eq!(
        text,
        "Validation failed for tool \"count\":\n  - n: \"x\" is not of type \"integer\"\n\n\
         Received arguments:\n{\n  \"n\": \"x\"\n}"
    );
    let text = check(schema, json!({})).unwrap_err();
    assert!(text.contains("\n  - n: "), "{text}");
}

#[test]
fn nested_paths_are_written_out() {
    let schema = json!({"type": "object", "properties": {"edits": {"type": "array", "items": {
        "type": "object", "properties": {"line": {"type": "integer", "minimum": 1}}, "required": ["line"]}}}});
    let text = check(schema.clone(), json!({"edits": [{"line": 1}, {"line": 0}]})).unwrap_err();
    assert!(text.contains("\n  - edits/1/line: "), "{text}");
    let text = check(schema.clone(), json!({"edits": [{}]})).unwrap_err();
    assert!(text.contains("\n  - edits/0/line: "), "{text}");
    let text = check(schema, json!([])).unwrap_err();
    assert!(text.contains("\n  - root: "), "{text}");
}

#[test]
fn each_lossless_conversion_is_made_and_no_other() {
    let one = |kind: Value, value: Value| {
        check(json!({"properties": {"v": {"type": kind}}}), json!({"v": value})).ok().map(|v| v["v"].clone())
    };
    assert_eq!(one(json!("number"), json!("2.5")), Some(json!(2.5)));
    assert_eq!(one(json!("number"), json!("7")), Some(json!(7)));
    assert_eq!(one(json!("number"), json!("inf")), None);
    assert_eq!(one(json!("integer"), json!("18446744073709551615")), Some(json!(u64::MAX)));
    assert_eq!(one(json!("integer"), json!("2.5")), None);
    assert_eq!(one(json!("integer"), json!(2.5)), None);
    assert_eq!(one(json!("boolean"), json!("true")), Some(json!(true)));
    assert_eq!(one(json!("boolean"), json!("yes")), None);
    assert_eq!(one(json!("string"), json!(5)), Some(json!("5")));
    assert_eq!(one(json!("string"), json!(true)), Some(json!("true")));
    assert_eq!(one(json!("string"), json!({})), None);
    assert_eq!(one(json!("array"), json!("[1, 2]")), Some(json!([1, 2])));
    assert_eq!(one(json!("object"), json!("{\"a\": 1}")), Some(json!({"a": 1})));
    assert_eq!(one(json!(["integer", "null"]), json!("3")), Some(json!(3)));
    assert_eq!(one(json!(["string", "integer"]), json!("3")), Some(json!("3")));
}

#[test]
fn a_null_becomes_the_default_or_disappears_when_optional() {
    let schema = json!({"properties": {
        "limit": {"type": "integer", "default": 10}, "a/b": {"type": "string"}, "must": {"type": "string"}},
        "required": ["must"]});
    assert_eq!(
        check(schema.clone(), json!({"limit": null, "a/b": null, "must": "x"})),
        Ok(json!({"limit": 10, "must": "x"}))
    );
    assert!(check(schema, json!({"must": null})).is_err());
}

#[test]
fn conversions_reach_through_references_unions_and_nested_text() {
    let schema = json!({
    "$defs": {"size": {"type": "integer"}},
    "properties": {
        "size": {"$ref": "#/$defs/size"},
        "either": {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "integer"}}]},
        "list": {"type": "array", "items": {"type": "integer"}},
    }});
    assert_eq!(
        check(schema, json!({"size": "4", "either": ["1", 2], "list": "[\"1\", \"2\"]"})),
        Ok(json!({"size": 4, "either": [1, 2], "list": [1, 2]}))
    );
}

#[test]
fn an_invalid_or_remote_schema_disables_the_tool_and_fetches_nothing() {
    for schema in
        [json!({"type": 7}), json!({"$ref": "http://127.0.0.1:1/x"}), json!({"$ref": "file:///etc/passwd"})]
    {
        let text = check(schema, json!({})).unwrap_err();
        assert!(text.starts_with("The tool \"count\" cannot be called: "), "{text}");
    }
}

#[test]
fn a_schema_that_refers_to_itself_cannot_hang_or_overflow_the_host() {
    let nested = json!({"next": {"next": {"next": {}}}});
    let list = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
    assert_eq!(check(list, nested.clone()), Ok(nested.clone()));
    // Nothing is learned from these; that they return is the point.
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
    ] {
        drop(check(schema, nested.clone()));
    }
}

#[test]
fn a_huge_wrong_argument_is_not_echoed_whole() {
    let text = check(json!({"properties": {"n": {"type": "integer"}}}), json!({"n": "x".repeat(1_000_000)}));
    assert!(text.unwrap_err().len() < 10_000);
}
