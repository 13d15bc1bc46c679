use std::time::Duration;

use super::*;
use crate::secret::Secret;
use crate::testing::{Host, Recorded};

fn redirecting(status: u16, to: &'static str) -> Host {
    Host::new().http(move |request| match request.url.as_str() {
        "https://a/start" => Ok(Response::new(status, "").with_header("Location", to)),
        _ => Ok(Response::new(200, request.method.clone())),
    })
}

fn follow(host: Host, request: Request) -> (Result<Response, Error>, Recorded) {
    host.run(|| request.follow_redirects(3).send())
}

#[test]
fn an_answer_of_any_status_is_an_answer() {
    let host = Host::new().http(|_| Ok(Response::new(404, "[1]").with_header("X-Kind", "none")));
    let (answer, told) = host.run(|| get("https://example.com/a"));
    let answer = answer.unwrap();
    assert!(!answer.is_success());
    assert_eq!((answer.url.as_str(), answer.status), ("https://example.com/a", 404));
    assert_eq!(answer.header("x-kind"), Some("none"));
    assert_eq!((answer.bytes(), &*answer.text()), (&b"[1]"[..], "[1]"));
    assert_eq!(answer.json::<[u32; 1]>().unwrap(), [1]);
    assert!(answer.json::<String>().unwrap_err().message().starts_with("the answer: invalid type"));
    assert_eq!(told.requests, [Request::get("https://example.com/a")]);
}

#[test]
fn a_request_without_a_grant_says_which_one_to_ask_for() {
    let error = get("https://example.com:443/a").unwrap_err();
    assert!(error.is_denied());
    assert_eq!(
        error.to_string(),
        "GET https://example.com is denied; the extension needs `Request::http(\"https://example.com\", &[], …)`, granted \
         by the user"
    );
    let error = Request::post("http://a:8080").send().unwrap_err();
    assert!(error.to_string().contains("`Request::http(\"http://a:8080\", &[\"POST\"], …)`"), "{error}");
}

#[test]
fn the_body_is_read_up_to_the_limit() {
    let host = || Host::new().http(|_| Ok(Response::new(200, "12345")));
    let ask = |limit| host().run(|| Request::get("https://a").max_bytes(limit).send()).0;
    assert_eq!(ask(5).unwrap().body, b"12345");
    let error = ask(4).unwrap_err();
    assert_eq!(error.to_string(), "the answer of https://a has more than 4 bytes");
}

#[test]
fn a_request_that_cannot_be_made_is_not_sent() {
    let (error, told) =
        Host::new().http(|_| Ok(Response::new(200, ""))).run(|| get("example.com").unwrap_err());
    assert_eq!(error.to_string(), "the address: `example.com` does not begin with http:// or https://");
    assert!(told.requests.is_empty());
    let keys = std::collections::HashMap::from([(vec![1], 1)]);
    assert!(matches!(Request::post("https://a").json(&keys), Err(Error::Invalid { what: "the body", .. })));
}

#[test]
fn a_redirect_is_an_answer_until_it_is_to_be_followed() {
    let (answer, _) = redirecting(302, "/end").run(|| get("https://a/start"));
    assert_eq!(answer.unwrap().status, 302);
    let (answer, told) = follow(redirecting(302, "/end"), Request::get("https://a/start"));
    assert_eq!(answer.unwrap().url, "https://a/end");
    assert_eq!(told.requests.len(), 2);
}

#[test]
fn a_post_becomes_a_get_after_some_redirects_and_stays_one_after_others() {
    for (status, method, body) in
        [(301, "GET", 0), (302, "GET", 0), (303, "GET", 0), (307, "POST", 2), (308, "POST", 2)]
    {
        let request = Request::post("https://a/start").json(&[(); 0]).unwrap();
        let (answer, told) = follow(redirecting(status, "/end"), request);
        assert_eq!(answer.unwrap().text(), method, "{status}");
        assert_eq!(told.requests[1].body.len(), body, "{status}");
        assert_eq!(told.requests[1].headers.len(), usize::from(body > 0), "{status}");
    }
}

#[test]
fn credentials_do_not_go_to_another_origin() {
    let request = || {
        Request::get("https://a/start")
            .header("Authorization", "Basic abc")
            .header("x-key", Secret::named("KEY").placeholder())
            .header("accept", "text/html")
    };
    let (_, told) = follow(redirecting(302, "/end"), request());
    assert_eq!(told.requests[1].headers.len(), 3);
    for elsewhere in ["https://b/", "http://a/", "https://a:444/"] {
        let (_, told) = follow(redirecting(302, elsewhere), request());
        assert_eq!(told.requests[1].headers, [("accept".to_owned(), "text/html".to_owned())], "{elsewhere}");
    }
}

#[test]
fn a_hop_that_is_denied_says_so_and_a_circle_ends() {
    let host = Host::new().http(|request| match request.url.as_str() {
        "https://a/start" => Ok(Response::new(302, "").with_header("location", "//b/c")),
        _ => Err(Error::denied(request)),
    });
    let error = follow(host, Request::get("https://a/start")).0.unwrap_err();
    assert!(error.is_denied());
    assert!(
        error.to_string().starts_with("https://a/start redirects to https://b/c: GET https://b is denied"),
        "{error}"
    );
    let error = follow(redirecting(302, "start"), Request::get("https://a/start")).0.unwrap_err();
    assert_eq!(error.to_string(), "https://a/start redirects more than 3 times");
}

#[test]
fn limits_of_time_belong_to_the_request() {
    let second = Duration::from_secs(1);
    let request = Request::get("https://a").timeout(second).connect_timeout(second / 2);
    assert_eq!((request.timeout, request.connect_timeout), (Some(second), Some(second / 2)));
    let host = Host::new().http(|request| Err(Error::TimedOut { url: request.url.clone() }));
    let error = host.run(|| request.send()).0.unwrap_err();
    assert!(!error.is_denied());
    assert_eq!(error.to_string(), "https://a did not answer in time");
}
