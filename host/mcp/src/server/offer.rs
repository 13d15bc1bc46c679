//! Tools in the protocol's words.

use super::OfferedTool;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use std::sync::Arc;

/// One tool. Its schema goes as it is, with `"type": "object"` where it does not say so itself: clients refuse a whole list
/// for one schema without it, and arguments are objects here in any case.
pub(super) fn tool(offered: &OfferedTool) -> Tool {
    let definition = &offered.definition;
    let mut schema = match &definition.parameters {
        Value::Object(schema) => schema.clone(),
        // `true`, for one, which takes anything.
        _ => JsonObject::new(),
    };
    if !schema.contains_key("type") {
        schema.insert("type".to_owned(), "object".into());
    }
    let mut tool = Tool::new(definition.name.clone(), definition.description.clone(), Arc::new(schema))
        .with_annotations(annotations(offered));
    if !definition.label.trim().is_empty() {
        tool = tool.with_title(definition.label.clone());
    }
    tool
}

/// Hints. Whether a call may be repeated is not known of any tool, so nothing is said of that.
fn annotations(offered: &OfferedTool) -> ToolAnnotations {
    let reach = offered.reach;
    let hints = ToolAnnotations::new().read_only(!reach.changes).open_world(reach.network);
    // Without changes the hint has no meaning.
    if reach.changes { hints.destructive(reach.destroys) } else { hints }
}

#[cfg(test)]
#[path = "offer_tests.rs"]
mod tests;
