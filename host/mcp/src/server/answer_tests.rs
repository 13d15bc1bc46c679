use super::*;
use serde_json::json;

fn said(outcome: ToolOutcome) -> Value {
    serde_json::to_value(result(outcome)).unwrap()
}

#[test]
fn texts_and_pictures_are_content_and_an_error_is_marked() {
    let picture = Content::Image { data: "AAAA".into(), mime_type: "image/png".into() };
    let outcome = ToolOutcome { content: vec![Content::text("one"), picture], ..ToolOutcome::default() };
    let answer = said(outcome);
    assert_eq!(
        answer["content"],
        json!([{"type": "text", "text": "one"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}])
    );
    assert_eq!((&answer["isError"], answer.get("structuredContent")), (&json!(false), None));
    assert_eq!(said(ToolOutcome::error("no"))["isError"], json!(true));
}

#[test]
fn details_are_structured_content_that_holds_the_text_too() {
    let with = |details: Value| said(ToolOutcome { details: Some(details), ..ToolOutcome::text("3 files") });
    assert_eq!(with(json!({"files": 3}))["structuredContent"], json!({"text": "3 files", "files": 3}));
    assert_eq!(with(json!({"text": "own"}))["structuredContent"], json!({"text": "own"}));
    // What the protocol's older revisions have no place for, and what says nothing.
    assert_eq!(with(json!({})).get("structuredContent"), None);
    assert_eq!(with(json!([1])).get("structuredContent"), None);
}
