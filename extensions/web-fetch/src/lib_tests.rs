use capstan_sdk::testing;
use serde_json::{Value, json};

use super::*;
use crate::fetch::tests::{says, with};

fn run(body: &str, max_bytes: Option<usize>, from: Option<usize>) -> Output {
    let web = with(&[("https://docs.rs/a", says(200, &[("content-type", "text/html")], body))]);
    let arguments = Arguments { url: "https://docs.rs/a".to_owned(), max_bytes, from };
    web.run(|| web_fetch(arguments, &testing::call("web_fetch"))).0.unwrap()
}

#[test]
fn an_answer_has_title_address_and_text() {
    let output = run("<title>T</title><p>text", None, None);
    assert_eq!(output.as_text(), "Title: T\nAddress: https://docs.rs/a\n\ntext");
    let details: Value = serde_json::from_str(&output.details.unwrap()).unwrap();
    assert_eq!(details["page_bytes"], 23);
    assert_eq!(run("<title>T</title><h1>T</h1>", None, None).as_text(), "Address: https://docs.rs/a\n\n# T");
    assert_eq!(run("", None, None).as_text(), "Address: https://docs.rs/a\n\n(no text)");
}

#[test]
fn a_long_page_is_read_in_parts_that_fit_together() {
    let body: String = (0..400).map(|number| format!("<p>wörd {number}</p>")).collect();
    let whole = run(&body, Some(100_000), None).as_text();
    let mut text = String::new();
    let mut from = 0;
    loop {
        let part = run(&body, Some(700), Some(from)).as_text();
        let (_, part) = part.split_once("\n\n").unwrap();
        let (part, rest) = part.split_once("\n\n[the page goes on: pass `from` = ").unwrap_or((part, ""));
        text.push_str(part);
        match rest.split_once(' ') {
            Some((next, _)) => from = next.parse().unwrap(),
            None => break,
        }
    }
    let bare = |text: &str| text.split_whitespace().collect::<Vec<_>>().concat();
    assert_eq!(bare(&text), bare(whole.split_once("\n\n").unwrap().1));
}

#[test]
fn without_a_grant_the_error_says_who_can_give_it() {
    let said =
        testing::call_tool::<Extension>("web_fetch", json!({"url": "https://docs.rs/serde"})).unwrap_err();
    assert!(
        said.contains("may not reach https://docs.rs") && said.contains("capstan ext allow web-fetch"),
        "{said}"
    );
}

#[test]
fn every_host_is_asked_for_with_a_sentence_and_for_reading_alone() {
    let descriptor = testing::describe::<Extension>();
    for request in &descriptor.requests {
        let capstan_sdk::Capability::Http(endpoint) = &request.capability else { panic!("{request:?}") };
        assert!(endpoint.pattern.starts_with("https://") && endpoint.methods == ["GET"], "{endpoint:?}");
        assert!(!request.required && request.reason.ends_with('.'), "{request:?}");
    }
    assert!(hosts::is_requested("https://tokio.readthedocs.io"));
    assert!(!hosts::is_requested("https://readthedocs.io") && !hosts::is_requested("https://docs.rs:8443"));
}
