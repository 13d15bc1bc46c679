use super::*;
use crate::server::Reach;
use capstan_ports::{Execution, ToolDefinition};
use serde_json::json;

fn offered(parameters: Value, reach: Reach) -> Value {
    let definition = ToolDefinition {
        name: "map".into(),
        label: "Map".into(),
        description: "Draws a map.".into(),
        parameters,
        execution: Execution::Parallel,
    };
    serde_json::to_value(tool(&OfferedTool { definition, reach })).unwrap()
}

#[test]
fn a_tool_keeps_its_schema_and_gets_its_hints_from_what_it_can_reach() {
    let schema =
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false});
    assert_eq!(
        offered(schema.clone(), Reach::default()),
        json!({
            "name": "map",
            "title": "Map",
            "description": "Draws a map.",
            "inputSchema": schema,
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        })
    );
    let reach = Reach { changes: true, destroys: false, network: true };
    assert_eq!(
        offered(schema, reach)["annotations"],
        json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true})
    );
}

#[test]
fn a_schema_that_does_not_say_object_says_so_to_clients() {
    assert_eq!(offered(json!({}), Reach::default())["inputSchema"], json!({"type": "object"}));
    assert_eq!(offered(json!(true), Reach::default())["inputSchema"], json!({"type": "object"}));
}
