use super::*;
use std::str::FromStr;

fn listing(tools: Value) -> Listing {
    Listing::of(&ServerName::from_str("s").unwrap(), serde_json::from_value(tools).unwrap())
}

// 003-140
#[test]
fn a_tool_has_its_own_description_and_schema() {
    let schema = json!({"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "number"}}});
    let listing = listing(json!([
        {"name": "find", "title": "Find it", "description": "Finds.", "inputSchema": schema}
    ]));
    let definition = &listing.tools[0].definition;
    assert_eq!(definition.name, "s__find");
    assert_eq!(definition.label, "Find it");
    assert_eq!(definition.description, "Finds.");
    assert_eq!(definition.parameters.to_string(), schema.to_string(), "unchanged, in its order");
}

#[test]
fn a_schema_that_is_none_costs_only_its_tool() {
    let listing = listing(json!([
        {"name": "array", "inputSchema": {"type": "array"}},
        {"name": "wrong", "inputSchema": {"type": "object", "properties": {"a": {"type": "nonsense"}}}},
        {"name": "far", "inputSchema": {"type": "object", "$ref": "https://example.org/schema.json"}},
        {"name": "long", "description": "x".repeat(40_000), "inputSchema": {"type": "object"}},
        {"name": "good", "inputSchema": {"type": "object"}},
        {"name": "twice", "inputSchema": {"type": "object"}},
        {"name": "twice", "inputSchema": {"type": "object"}},
    ]));
    assert_eq!(listing.tools.len(), 1);
    assert_eq!(listing.tools[0].own, "good");
    let left_out: Vec<_> = listing.left_out.iter().map(|tool| tool.tool.as_str()).collect();
    assert_eq!(left_out, ["array", "wrong", "far", "long", "twice"]);
}

#[test]
fn the_order_of_keys_is_no_change_and_everything_else_is() {
    let of = |tool: Value| listing(json!([tool])).tools.remove(0).described;
    let one = of(json!({"name": "a", "description": "d",
        "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}, "y": {}}}}));
    let other = of(json!({"description": "d", "name": "a",
        "inputSchema": {"properties": {"y": {}, "x": {"type": "string"}}, "type": "object"}}));
    assert_eq!(one.to_string(), other.to_string());
    for changed in [
        json!({"name": "a", "description": "D", "inputSchema": {"type": "object"}}),
        json!({"name": "a", "description": "d", "inputSchema": {"type": "object", "required": ["x"]}}),
        json!({"name": "a", "description": "d", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}),
        json!({"name": "a", "description": "d", "inputSchema": {"type": "object"}, "title": "A"}),
    ] {
        let before = of(json!({"name": "a", "description": "d", "inputSchema": {"type": "object"}}));
        assert_ne!(before, of(changed.clone()), "{changed}");
    }
}
