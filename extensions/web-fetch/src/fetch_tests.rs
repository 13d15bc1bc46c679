use capstan_sdk::testing::{Host, Recorded};
use proptest::prelude::*;

use super::*;

/// An answer of the fake web.
pub(crate) fn says(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Response {
    headers.iter().fold(Response::new(status, body), |answer, (name, value)| answer.with_header(name, *value))
}

/// A host that grants these addresses and answers for them.
pub(crate) fn with(answers: &[(&str, Response)]) -> Host {
    let answers: Vec<(String, Response)> =
        answers.iter().map(|(address, answer)| ((*address).to_owned(), answer.clone())).collect();
    Host::new().http(move |request| {
        let found = answers.iter().find(|(address, _)| *address == request.url);
        found.map(|(_, answer)| answer.clone()).ok_or_else(|| http::Error::denied(request))
    })
}

fn fetched(web: &Host, url: &str, max_bytes: usize) -> (Result<Found>, Recorded) {
    web.clone().run(|| fetch(url, max_bytes))
}

fn problem(web: &Host, url: &str) -> String {
    fetched(web, url, 1_000).0.unwrap_err().message().to_owned()
}

const HTML: (&str, &str) = ("content-type", "text/html; charset=utf-8");

#[test]
fn html_becomes_markdown_and_other_text_stays() {
    let web = with(&[
        ("https://docs.rs/a", says(200, &[HTML], "<title>T</title><h1>A</h1><p>b <a href=c>d</a>")),
        ("https://docs.rs/j", says(200, &[("content-type", "application/json")], "{\"a\": \"<b>\"}\n")),
        ("https://docs.rs/t", says(200, &[("content-type", "text/plain")], "a\r\n  b\u{200b}\n")),
        ("https://docs.rs/n", says(200, &[], "<p>no type")),
        (
            "https://docs.rs/l",
            says(200, &[("content-type", "text/html; charset=latin1")], b"<p>\xe9".to_vec()),
        ),
    ]);
    let text = |url: &str| fetched(&web, url, 1_000).0.unwrap().text;
    assert_eq!(text("https://docs.rs/a#part"), "# A\n\nb [d](https://docs.rs/c)");
    assert_eq!(text("https://docs.rs/j"), "{\"a\": \"<b>\"}");
    assert_eq!(text("https://docs.rs/t"), "a\n  b");
    assert_eq!(text("https://docs.rs/n"), "no type");
    assert_eq!(text("https://docs.rs/l"), "é");
}

#[test]
fn redirects_are_followed_as_far_as_hosts_are_granted() {
    let to = |location: &str| says(302, &[("location", location)], "");
    let web = with(&[
        ("https://docs.rs/a", to("/b")),
        ("https://docs.rs/b", to("http://docs.rs/c")),
        ("https://docs.rs/c", says(200, &[HTML], "<p>here")),
        ("https://docs.rs/out", to("https://evil.example/x?secret")),
        ("https://docs.rs/near", to("https://react.dev/x")),
        ("https://docs.rs/round", to("round")),
        ("https://docs.rs/file", to("file:///etc/passwd")),
    ]);
    let found = fetched(&web, "https://docs.rs/a", 1_000).0.unwrap();
    assert_eq!(
        (found.address.as_str(), found.redirects, found.text.as_str()),
        ("https://docs.rs/c", 2, "here")
    );
    let said = problem(&web, "https://docs.rs/out");
    assert!(said.starts_with("https://docs.rs/out redirects to https://evil.example/x?secret, but web-fetch may not reach https://evil.example: it is none"), "{said}");
    let said = problem(&web, "https://docs.rs/near");
    assert!(said.contains("may not reach https://react.dev: it was not granted. The user can allow it with `capstan ext allow web-fetch`"), "{said}");
    assert!(problem(&web, "https://docs.rs/round").contains("redirects more than 5 times"));
    assert!(problem(&web, "https://docs.rs/file").contains("only http and https"));
    assert_eq!(fetched(&web, "https://docs.rs/round", 1_000).1.requests.len(), 6);
}

#[test]
fn what_is_no_page_is_told_as_what_it_is() {
    let web = with(&[
        ("https://docs.rs/png", says(200, &[("content-type", "image/png")], vec![1, 2, 3])),
        ("https://docs.rs/bin", says(200, &[], vec![0, 1])),
        ("https://docs.rs/gz", says(200, &[HTML, ("content-encoding", "gzip")], "x")),
        ("https://docs.rs/404", says(404, &[HTML], "<h1>Not here</h1>")),
        ("https://docs.rs/500", says(500, &[], "")),
    ]);
    assert_eq!(
        problem(&web, "https://docs.rs/png"),
        "https://docs.rs/png is no text: it answers 200 with 3 bytes of `image/png`"
    );
    assert!(problem(&web, "https://docs.rs/bin").contains("is no text"));
    assert!(problem(&web, "https://docs.rs/gz").contains("the encoding `gzip`"));
    assert_eq!(
        problem(&web, "https://docs.rs/404"),
        "https://docs.rs/404 answers with status 404: # Not here"
    );
    assert_eq!(problem(&web, "https://docs.rs/500"), "https://docs.rs/500 answers with status 500");
    let large =
        Host::new().http(|request| Err(http::Error::TooLarge { url: request.url.clone(), limit: 8 << 20 }));
    assert!(problem(&large, "https://docs.rs/x").contains("more than 8 MiB"));
    let slow = Host::new().http(|request| Err(http::Error::TimedOut { url: request.url.clone() }));
    assert!(problem(&slow, "https://docs.rs/x").starts_with("https://docs.rs/x cannot be fetched: "));
}

#[test]
fn addresses_are_made_whole_or_refused() {
    let cases = [
        ("http://docs.rs", "https://docs.rs/"),
        ("HTTPS://Docs.RS/Ä b?q=\"x\"#y", "https://docs.rs/%C3%84%20b?q=%22x%22"),
        ("https://docs.rs?q", "https://docs.rs/?q"),
        (" https://docs.rs:8443/a ", "https://docs.rs:8443/a"),
    ];
    for (url, address) in cases {
        assert_eq!(checked(url).unwrap(), address);
    }
    for url in [
        "docs.rs/serde",
        "ftp://docs.rs",
        "https://",
        "https://user@docs.rs/",
        "https://dö.rs/",
        "https://a b/",
        "file:///x",
    ] {
        assert!(checked(url).is_err(), "{url}");
    }
}

proptest! {
    #[test]
    fn no_address_and_no_answer_makes_it_panic(
        url in "(https?://)?\\PC{0,20}",
        location in "\\PC{0,20}",
        content_type in "(text/html|text/plain|application/json|image/png|)[;=a-z ]{0,12}",
        body in prop::collection::vec(any::<u8>(), 0..200),
        max in 0..300_usize,
    ) {
        let web = with(&[
            ("https://docs.rs/", says(301, &[("location", &location)], "")),
            ("https://docs.rs/b", says(200, &[("content-type", &content_type)], body)),
        ]);
        let _answer = fetched(&web, &url, max);
        let _answer = fetched(&web, "https://docs.rs/", max);
        if let Ok(found) = fetched(&web, "https://docs.rs/b", max).0 {
            prop_assert!(found.text.len() <= max);
        }
    }
}
