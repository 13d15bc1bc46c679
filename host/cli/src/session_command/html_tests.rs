use super::*;
use capstan_ports::entry::{CustomMessageEntry, SessionInfo, TextOrPieces};
use capstan_ports::message::{AssistantMessage, ToolResultMessage};
use capstan_ports::{Content, EntryId, Message, ToolCall};
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

fn entry(kind: EntryKind) -> Arc<Entry> {
    Arc::new(Entry { id: EntryId::new("\"><b>"), parent_id: None, timestamp: "<t>".into(), kind })
}

fn said(message: Message) -> Arc<Entry> {
    entry(EntryKind::message(Arc::new(message)))
}

fn answer(content: Vec<Content>) -> Arc<Entry> {
    said(Message::Assistant(AssistantMessage { content, model: "m".into(), ..AssistantMessage::default() }))
}

fn page(branch: &[Arc<Entry>]) -> String {
    let page = render(&Header::new(Path::new("/w")), branch);
    page.split_once("<p class=\"facts\">").unwrap().1.to_owned()
}

fn image(mime_type: &str, data: &str) -> Content {
    Content::Image { data: data.into(), mime_type: mime_type.into() }
}

#[test]
fn the_page_has_no_script_and_forbids_to_load_anything() {
    let page = render(&Header::new(Path::new("/w")), &[]);
    assert!(page.contains("default-src 'none'"), "{page}");
    assert!(!page.contains("<script") && !page.contains("http:") && !page.contains("https:"), "{page}");
}

#[test]
fn markdown_of_a_model_is_rendered_and_its_html_is_text() {
    let text = "**bold** `Vec<u8>` <script>alert(1)</script>\n\n<div onclick=\"x\">\nhi\n</div>\n\n\
                [good](https://example.com) [bad](javascript:alert(1)) ![pic](https://example.com/?leak)";
    let page = page(&[answer(vec![Content::text(text)])]);
    for expected in [
        "<strong>bold</strong>",
        "<code>Vec&lt;u8&gt;</code>",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&lt;div onclick=",
        "<a href=\"https://example.com\">good</a>",
        " bad ",
        "[picture at https://example.com/?leak: pic]",
    ] {
        assert!(page.contains(expected), "{expected} is not in {page}");
    }
    assert!(!page.contains("<img") && !page.contains("href=\"javascript"), "{page}");
}

#[test]
fn only_pictures_that_a_browser_draws_are_shown() {
    let good = image("image/png", "aGk=");
    let page_with = |content: Content| {
        page(&[said(Message::User(capstan_ports::message::UserMessage {
            content: vec![content],
            timestamp: 0,
        }))])
    };
    assert!(page_with(good).contains("<img alt=\"image/png\" src=\"data:image/png;base64,aGk=\">"));
    for bad in [
        image("image/svg+xml", "aGk="),
        image("text/html", "aGk="),
        image("image/png", "\"><script>"),
        image("image/png\" onerror=\"x", "aGk="),
    ] {
        let page = page_with(bad);
        assert!(!page.contains("<img") && !page.contains("<script") && page.contains("not shown"), "{page}");
    }
}

#[test]
fn long_outputs_are_folded_and_short_ones_are_not() {
    let result = |text: String| {
        said(Message::ToolResult(ToolResultMessage {
            tool_call_id: "c".into(),
            tool_name: "read".into(),
            content: vec![Content::text(text)],
            details: None,
            is_error: false,
            timestamp: 0,
        }))
    };
    assert!(page(&[result("one\n".into())]).contains("<pre>one\n</pre>"));
    assert!(page(&[result("x\n".repeat(40))]).contains("<details><summary>40 lines</summary><pre>x\n"));
}

#[test]
fn the_last_name_is_the_title() {
    let named = |name: &str| entry(EntryKind::SessionInfo(SessionInfo { name: Some(name.into()) }));
    let page = render(&Header::new(Path::new("/w")), &[named("old"), named("</title><script>")]);
    assert!(page.contains("<title>&lt;/title&gt;&lt;script&gt;</title>"), "{page}");
}

/// The tags that the page is made of, in the order in which they stand.
fn tags(page: &str) -> Vec<&str> {
    page.split('<')
        .skip(1)
        .map(|after| after.split(|c: char| !c.is_ascii_alphanumeric() && c != '/').next().unwrap_or_default())
        .collect()
}

const TAGS: [&str; 33] = [
    "/p",
    "article",
    "h2",
    "a",
    "time",
    "div",
    "pre",
    "b",
    "details",
    "summary",
    "p",
    "strong",
    "em",
    "code",
    "ul",
    "ol",
    "li",
    "blockquote",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "del",
    "hr",
    "br",
    "h1",
    "h3",
    "h4",
    "h5",
    "h6",
    "input",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn whatever_is_said_no_tag_of_it_reaches_the_page(text in r#"([<>"'&`*_#|~\n\[\]()! a/-]|<script>|</pre>|<img onerror=x>|javascript:|https://a|<!--|\]\]>){0,30}"#) {
        let page = page(&[
            said(Message::user(&text)),
            answer(vec![
                Content::text(&text),
                Content::Thinking { thinking: text.clone(), thinking_signature: None, redacted: false },
                Content::ToolCall(ToolCall { id: "c".into(), name: text.clone(), arguments: json!({"a": text}), malformed: None }),
                image(&text, &text),
            ]),
            entry(EntryKind::CustomMessage(CustomMessageEntry {
                custom_type: text.clone(),
                content: TextOrPieces::Text(text.clone()),
                display: true,
                details: None,
            })),
            entry(EntryKind::Unknown(json!({"type": text, "x": text}))),
        ]);
        for tag in tags(page.split_once("</body>").unwrap().0) {
            prop_assert!(TAGS.contains(&tag.trim_start_matches('/')) || tag == "/p", "{tag:?} in {page}");
        }
        prop_assert!(!page.contains("href=\"javascript"), "{page}");
    }
}
