//! Secrets: a guest holds a placeholder, the bound server gets the value, and nothing brings it back.

use crate::network::{get, request, services};
use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capstan_engine::{Network, Secrets, Services};
use capstan_ports::extension::Capability;
use capstan_tests::guest::{Guest, Request};
use capstan_tests::logged::Logged;
use capstan_tests::probe::{Probe, http, secret};
use capstan_tests::product;
use capstan_tests::product::Product;
use capstan_tests::sandboxed::Place;
use capstan_tests::site::{Part, Seen, Site, answer};
use capstan_tests::terminal::{Key, Terminal};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

const CANARY: &str = "canary-5ecret/9f8e7d6c";

fn lent() -> Services {
    let values = [("KEY".to_owned(), CANARY.to_owned())].into();
    Services { secrets: Secrets::new(values), ..services(Network::default()) }
}

/// Granted reading and writing at these sites, and the secret `KEY` toward the first.
async fn probe(sites: &[&Site]) -> Result<Probe> {
    let mut granted: Vec<Capability> =
        sites.iter().map(|site| http(&site.endpoint(), &["GET", "POST"])).collect();
    granted.push(secret("KEY", &sites.first().context("a site")?.endpoint()));
    Probe::load_with(&Place::new()?, &granted, lent()).await
}

fn with_header(site: &Site, value: &str) -> Value {
    request("GET", &format!("{}/", site.endpoint()), json!({ "headers": [["authorization", value]] }))
}

/// An answer that gives the request's authorization back, as a server's own debugging page does.
fn echo(seen: &Seen) -> Vec<Part> {
    let value = seen.header("authorization").unwrap_or_default().to_owned();
    answer("401 Unauthorized", &format!("x-echo: {value}\r\n"), format!("you sent <{value}>"))
}

// S3, S5
#[tokio::test]
async fn the_value_is_on_the_wire_to_the_bound_server_and_nowhere_in_the_guest() -> Result<()> {
    let site = Site::answering(echo).await?;
    let logged = Logged::begin();
    let outcome = probe(&[&site]).await?.step(with_header(&site, "Bearer {{secret:KEY}}")).await?;
    assert_eq!(site.seen()[0].header("authorization"), Some(format!("Bearer {CANARY}").as_str()));
    assert_eq!(outcome["ok"]["body"], "you sent <Bearer {{secret:KEY}}>");
    assert!(outcome["ok"]["headers"].to_string().contains("Bearer {{secret:KEY}}"), "{outcome}");
    assert!(!outcome.to_string().contains(CANARY));
    // S7
    assert!(!logged.lines().is_empty() && logged.with(CANARY).is_empty(), "{:?}", logged.lines());
    assert!(!format!("{:?} {:?}", lent(), lent().secrets).contains(CANARY));
    Ok(())
}

// S4
#[tokio::test]
async fn a_placeholder_goes_to_no_other_granted_server() -> Result<()> {
    let (bound, other) = (Site::answering(echo).await?, Site::answering(echo).await?);
    let probe = probe(&[&bound, &other]).await?;
    let outcome = probe.step(with_header(&other, "Bearer {{secret:KEY}}")).await?;
    let error = outcome["error"].as_str().unwrap_or_default();
    assert!(error.contains("KEY is only for http://127.0.0.1"), "{outcome}");
    assert!(other.seen().is_empty());
    // The control: both may be asked, and the bound one gets it.
    assert_eq!(probe.step(with_header(&other, "none")).await?["ok"]["status"], 401);
    assert_eq!(probe.step(with_header(&bound, "{{secret:KEY}}")).await?["ok"]["status"], 401);
    assert_eq!(bound.seen()[0].header("authorization"), Some(CANARY));
    Ok(())
}

// S4
#[tokio::test]
async fn a_placeholder_in_address_or_body_blocks_the_request_before_anything_is_sent() -> Result<()> {
    let site = Site::answering(echo).await?;
    let probe = probe(&[&site]).await?;
    let body = |pieces: Value| request("POST", &format!("{}/", site.endpoint()), json!({ "body": pieces }));
    for step in [
        get(&format!("{}/?key=%7B%7Bsecret:KEY%7D%7D", site.endpoint())),
        get(&format!("{}/?key={{{{secret:KEY}}}}", site.endpoint())),
        body(json!(["{\"key\": \"{{secret:KEY}}\"}"])),
        body(json!(["{\"key\": \"{{sec", "ret:KEY}}\"}"])),
        body(json!(["{", "{", "s", "e", "c", "r", "e", "t", ":", "KEY}}"])),
    ] {
        let outcome = probe.step(step.clone()).await?;
        let error = outcome["error"].as_str().unwrap_or_default();
        let is_refused = error.contains("it can only stand in the value of a request header")
            || error == "the request takes no such path";
        assert!(is_refused, "{step}: {outcome}");
    }
    assert!(site.seen().is_empty());
    // The control.
    assert_eq!(probe.step(body(json!(["{{sec", "ond}}"]))).await?["ok"]["status"], 401);
    assert_eq!(site.seen()[0].body, b"{{second}}");
    Ok(())
}

// S4: what is too long to be held back is cut off where a placeholder begins.
#[tokio::test]
async fn a_placeholder_deep_in_a_long_body_cuts_the_request_off() -> Result<()> {
    let site = Site::answering(echo).await?;
    let probe = probe(&[&site]).await?;
    let mut pieces = vec!["x".repeat(4096); 300];
    pieces.push("{{secret:KEY}}".to_owned());
    let step = request("POST", &format!("{}/", site.endpoint()), json!({ "body": pieces }));
    let outcome = probe.step(step).await?;
    assert!(outcome["error"].as_str().is_some_and(|error| error.contains("header")), "{outcome}");
    for seen in site.seen() {
        assert!(!String::from_utf8_lossy(&seen.body).contains("{{secret"), "it arrived");
    }
    Ok(())
}

// S3
#[tokio::test]
async fn what_is_not_granted_or_not_stored_is_said_in_words_that_help() -> Result<()> {
    let site = Site::answering(echo).await?;
    let grants =
        [http(&site.endpoint(), &[]), secret("KEY", &site.endpoint()), secret("LATER", &site.endpoint())];
    let logged = Logged::begin();
    let probe = Probe::load_with(&Place::new()?, &grants, lent()).await?;
    for (value, words) in [
        ("{{secret:LATER}}", "capstan secret set LATER"),
        ("{{secret:OTHER}}", "OTHER is not granted"),
        ("{{secret:KEY", "{{secret:NAME}}"),
    ] {
        let outcome = probe.step(with_header(&site, value)).await?;
        assert!(outcome["error"].as_str().is_some_and(|error| error.contains(words)), "{outcome}");
        assert_eq!(logged.with(words).len(), 1, "{:?}", logged.lines());
    }
    assert!(site.seen().is_empty());
    // Without the endpoint's own grant a secret opens nothing.
    let alone = Probe::load_with(&Place::new()?, &[secret("KEY", &site.endpoint())], lent()).await?;
    assert_eq!(
        alone.step(with_header(&site, "{{secret:KEY}}")).await?["error"],
        "ErrorCode::HttpRequestDenied"
    );
    Ok(())
}

// S6
#[tokio::test]
async fn a_value_that_comes_back_in_pieces_is_hidden() -> Result<()> {
    let site = Site::answering(|seen| {
        let value = seen.header("authorization").unwrap_or_default().to_owned();
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n<", value.len() + 2);
        let mut parts = vec![Part::Bytes(head.into_bytes())];
        for piece in value.as_bytes().chunks(5) {
            parts.push(Part::Bytes(piece.to_vec()));
            parts.push(Part::Pause(Duration::from_millis(5)));
        }
        parts.push(Part::Bytes(b">".to_vec()));
        parts
    })
    .await?;
    let outcome = probe(&[&site]).await?.step(with_header(&site, "{{secret:KEY}}")).await?;
    assert_eq!(outcome["ok"]["body"], "<{{secret:KEY}}>");
    Ok(())
}

// S8: the tables of forms that are found and missed are with the search itself.
#[tokio::test]
async fn encoded_values_and_values_in_trailers_and_redirects_are_hidden() -> Result<()> {
    let site = Site::answering(|seen| {
        let value = seen.header("authorization").unwrap_or_default();
        let encoded = STANDARD.encode(format!("user:{value}"));
        let location = value.replace('/', "%2F");
        let head = format!("HTTP/1.1 302 Found\r\nlocation: /?key={location}\r\ntrailer: x-key\r\ntransfer-encoding: chunked\r\n\r\n");
        let body = format!("{:x}\r\n{encoded}\r\n0\r\nx-key: {value}\r\n\r\n", encoded.len());
        vec![Part::Bytes(format!("{head}{body}").into_bytes())]
    })
    .await?;
    let outcome = probe(&[&site]).await?.step(with_header(&site, "{{secret:KEY}}")).await?["ok"].clone();
    assert!(outcome["headers"].to_string().contains("/?key={{secret:KEY}}"), "{outcome}");
    let body = outcome["body"].as_str().unwrap_or_default();
    assert!(body.contains("{{secret:KEY}}") && body.len() < 30, "{outcome}");
    Ok(())
}

// S5
#[tokio::test]
async fn an_answer_in_which_secrets_could_not_be_seen_is_refused() -> Result<()> {
    let site = Site::answering(|_| answer("200 OK", "content-encoding: gzip\r\n", "not readable")).await?;
    let other = Site::answering(|_| answer("200 OK", "content-encoding: gzip\r\n", "not readable")).await?;
    let probe = probe(&[&site, &other]).await?;
    let outcome = probe.step(with_header(&site, "{{secret:KEY}}")).await?;
    assert!(
        outcome["error"].as_str().is_some_and(|error| error.contains("HttpResponseContentCoding")),
        "{outcome}"
    );
    assert_eq!(site.seen()[0].header("accept-encoding"), Some("identity"));
    assert_eq!(probe.step(with_header(&other, "none")).await?["ok"]["body"], "not readable");
    Ok(())
}

async fn store(product: &Product, name: &str, value: &str) -> Result<()> {
    let finished = product.run_with(&["secret", "set", name], value).await?.with_code(0);
    assert!(!format!("{}{}", finished.stdout, finished.stderr).contains(value.trim()), "{}", finished.stderr);
    Ok(())
}

// S7, S10
#[tokio::test]
async fn secrets_are_stored_listed_and_removed_and_never_shown() -> Result<()> {
    let product = product!()?;
    store(&product, "KEY", &format!("{CANARY}\n")).await?;
    store(&product, "OTHER", "another-value").await?;
    let list = product.run(&["secret", "list"]).await?.with_code(0);
    assert_eq!((list.stdout.as_str(), list.stderr.as_str()), ("KEY\nOTHER\n", ""));
    let path = product.home().join("secrets.toml");
    assert_eq!(std::fs::metadata(&path)?.permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read_to_string(&path)?.contains(&format!("\"{CANARY}\"")), "without the line break");
    product.run(&["secret", "remove", "KEY"]).await?.with_code(0);
    assert_eq!(product.run(&["secret", "list"]).await?.stdout, "OTHER\n");
    let gone = product.run(&["secret", "remove", "KEY"]).await?.with_code(1);
    assert!(gone.stderr.contains("no secret KEY"), "{}", gone.stderr);
    for (name, value, words) in [
        ("K Y", CANARY, "no name"),
        ("KEY", "short", "fewer than 8"),
        ("KEY", "two\nlines of it", "line breaks"),
    ] {
        let refused = product.run_with(&["secret", "set", name], value).await?.with_code(1);
        assert!(refused.stderr.contains(words) && !refused.stderr.contains(value), "{}", refused.stderr);
    }
    Ok(())
}

// S10, S7
#[tokio::test]
async fn a_file_that_others_can_read_or_that_is_damaged_stops_everything_without_showing_a_value()
-> Result<()> {
    let product = product!()?.with_script(&[])?;
    store(&product, "KEY", CANARY).await?;
    let path = product.home().join("secrets.toml");
    for mode in [0o640, 0o604, 0o660] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?;
        for arguments in [["secret", "list"].as_slice(), &["-p", "go", "--model", "scripted/scripted"]] {
            let refused = product.run(arguments).await?.with_code(1);
            assert!(refused.stderr.contains("chmod 600"), "{arguments:?}: {}", refused.stderr);
            assert!(!refused.stderr.contains(CANARY));
        }
    }
    for text in [
        format!("KEY = {CANARY}"),
        format!("version = 1\nsecret = \"{CANARY}\""),
        format!("version = 1\n\"{CANARY}\" = 1"),
    ] {
        std::fs::write(&path, text)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        let refused = product.run(&["secret", "list"]).await?.with_code(1);
        assert!(refused.stderr.contains("is not valid at line"), "{}", refused.stderr);
        assert!(!refused.stderr.contains(CANARY), "{}", refused.stderr);
    }
    Ok(())
}

// S7
#[tokio::test]
async fn a_value_that_is_typed_is_not_shown() -> Result<()> {
    let product = product!()?;
    let mut terminal = Terminal::start(&product, &["secret", "set", "KEY"])?;
    terminal.wait_for("it is not shown").await?;
    terminal.type_line(&format!("typo\u{8}\u{8}\u{8}\u{8}{CANARY}"))?;
    let screen = terminal.wait_for("stored").await?;
    assert!(!screen.contains("canary"), "{screen}");
    let stored = std::fs::read_to_string(product.home().join("secrets.toml"))?;
    assert!(stored.contains(&format!("\"{CANARY}\"")));
    // Ctrl-C stores nothing.
    let mut terminal = Terminal::start(&product, &["secret", "set", "OTHER"])?;
    terminal.wait_for("it is not shown").await?;
    terminal.press(Key::Interrupt)?;
    terminal.wait_for("nothing was stored").await?;
    assert_eq!(product.run(&["secret", "list"]).await?.stdout, "KEY\n");
    Ok(())
}

#[tokio::test]
async fn allowing_an_extension_reminds_of_secrets_that_are_not_stored() -> Result<()> {
    let product = product!()?;
    let guest = Guest::new("caller")
        .tool("call", "unreachable")
        .request(Request::Http("https://api.example.com".to_owned()))
        .request(Request::Secret("KEY".to_owned(), "https://api.example.com".to_owned()));
    product.install(&guest)?;
    let allowed = product.run(&["ext", "allow", "caller", "--yes"]).await?.with_code(0);
    assert!(allowed.stderr.contains("capstan secret set KEY"), "{}", allowed.stderr);
    store(&product, "KEY", CANARY).await?;
    let allowed = product.run(&["ext", "allow", "caller", "--yes"]).await?.with_code(0);
    assert!(!allowed.stderr.contains("secret set"), "{}", allowed.stderr);
    Ok(())
}

// N2
#[tokio::test]
async fn requests_that_could_never_be_granted_are_found_by_check() -> Result<()> {
    let product = product!()?;
    let good = "https://api.example.com";
    for (request, words) in [
        (Request::Http("*".to_owned()), Some("scheme://host")),
        (Request::Http("https://*".to_owned()), Some("whole beginning")),
        (Request::Http("https://api.example.com/v1".to_owned()), Some("paths cannot be granted")),
        (Request::Http("http://0.0.0.0".to_owned()), Some("unspecified")),
        (Request::Secret("K Y".to_owned(), good.to_owned()), Some("no name for a secret")),
        (Request::Secret("KEY".to_owned(), "https://*.example.com".to_owned()), Some("one host")),
        (Request::Secret("KEY".to_owned(), "http://api.example.com".to_owned()), Some("in the clear")),
        (Request::Http(good.to_owned()), None),
        (Request::Secret("KEY".to_owned(), good.to_owned()), None),
    ] {
        let path = product.install(&Guest::new("asking").tool("ask", "unreachable").request(request))?;
        let path = path.to_string_lossy().into_owned();
        let checked = product.run(&["ext", "check", &path]).await?.with_code(i32::from(words.is_some()));
        if let Some(words) = words {
            assert!(checked.stdout.contains(words), "{}", checked.stdout);
        }
    }
    Ok(())
}
