use super::*;
use serde_json::json;

fn refusal(schema: Option<&Value>, table: &Value) -> String {
    check("guard", schema, table).unwrap_err().to_string()
}

#[test]
fn a_table_that_fits_its_schema_is_taken() {
    let schema =
        json!({"type": "object", "properties": {"allow": {"type": "array"}}, "additionalProperties": false});
    check("guard", Some(&schema), &json!({})).unwrap();
    check("guard", Some(&schema), &json!({"allow": []})).unwrap();
    check("guard", None, &json!({})).unwrap();
}

#[test]
fn what_does_not_fit_is_named_with_its_place() {
    let schema = json!({
        "type": "object",
        "properties": {"limits": {"type": "object", "properties": {"files": {"type": "integer"}}}},
        "additionalProperties": false,
    });
    let text = refusal(Some(&schema), &json!({"limits": {"files": "many"}, "alow": []}));
    assert!(text.contains("[extension.guard]") && text.contains("limits.files: "), "{text}");
    assert!(text.contains("alow"), "{text}");
}

#[test]
fn a_table_without_effect_is_refused() {
    assert!(refusal(None, &json!({"x": 1})).contains("takes no configuration"));
}

#[test]
fn a_schema_never_makes_the_host_fetch_anything() {
    let schema = json!({"$ref": "http://127.0.0.1:1/schema.json"});
    assert!(refusal(Some(&schema), &json!({})).contains("not usable"));
}
