use super::*;
use serde_json::{Value, json};

fn of(result: Value) -> ToolOutcome {
    outcome(serde_json::from_value(result).unwrap())
}

fn text(outcome: &ToolOutcome) -> String {
    let texts = outcome.content.iter().filter_map(|content| match content {
        Content::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("|")
}

#[test]
fn texts_and_pictures_stay_what_they_are() {
    let outcome = of(json!({"content": [
        {"type": "text", "text": "hello"},
        {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
    ]}));
    assert_eq!(outcome.content[0], Content::text("hello"));
    let picture = Content::Image { data: "aGVsbG8=".to_owned(), mime_type: "image/png".to_owned() };
    assert_eq!(outcome.content[1], picture);
    assert!(!outcome.is_error && outcome.details.is_none());
}

#[test]
fn what_no_model_takes_becomes_a_line_of_text() {
    let outcome = of(json!({"content": [
        {"type": "image", "data": "!!!!", "mimeType": "image/png"},
        {"type": "image", "data": "aGVsbG8=", "mimeType": "image/svg+xml"},
        {"type": "audio", "data": "aGVsbG8=", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "inside"}},
        {"type": "resource", "resource": {"uri": "a:c", "blob": "aGVsbG8=", "mimeType": "application/zip"}},
        {"type": "resource_link", "uri": "a:d", "name": "d", "mimeType": "text/plain"},
    ]}));
    assert_eq!(
        text(&outcome),
        "[Image: image/png, 4 characters; not shown]|[Image: image/svg+xml, 8 characters; not shown]|\
         [Audio: audio/wav, 8 characters; not played]|[Resource: a:b]\ninside|\
         [Resource: a:c, application/zip, 8 characters; not shown]|[Resource: a:d (d), text/plain]"
    );
}

// 003-142
#[test]
fn an_error_of_the_tool_stays_an_error_in_its_own_words() {
    let outcome = of(json!({"content": [{"type": "text", "text": "no such row"}], "isError": true}));
    assert!(outcome.is_error);
    assert_eq!(text(&outcome), "no such row");
}

#[test]
fn structured_content_is_for_programs_and_for_the_model_if_there_is_nothing_else() {
    let both = of(json!({"content": [{"type": "text", "text": "five"}], "structuredContent": {"n": 5}}));
    assert_eq!((text(&both), both.details), ("five".to_owned(), Some(json!({"n": 5}))));
    let only = of(json!({"content": [], "structuredContent": {"n": 5}}));
    assert_eq!(text(&only), r#"{"n":5}"#);
    assert_eq!(text(&of(json!({"content": []}))), "(the tool answered without content)");
}
