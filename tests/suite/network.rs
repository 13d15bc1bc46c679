//! What extensions reach of the network: what was granted, at the addresses that were checked, within their share.

mod answers;
mod certificates;

use anyhow::Result;
use async_trait::async_trait;
use capstan_engine::{Dialer, HttpLimits, Network, Resolver, Services};
use capstan_ports::extension::Capability;
use capstan_tests::logged::Logged;
use capstan_tests::probe::{Probe, http};
use capstan_tests::sandboxed::Place;
use capstan_tests::site::{Site, answer};
use serde_json::{Value, json};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpStream;

/// A resolver and a network of the test's own: names lead where the test says, and every connection that is made to one of
/// those addresses ends at a server on this machine.
#[derive(Default)]
pub(super) struct Fake {
    /// Answers, one after another; the last one again and again.
    answers: Vec<Vec<IpAddr>>,
    resolved: AtomicUsize,
    dialed: Mutex<Vec<SocketAddr>>,
    leads_to: Option<SocketAddr>,
}

impl Fake {
    pub(super) fn answering(answers: &[&[&str]], leads_to: SocketAddr) -> Arc<Self> {
        let parse = |list: &&[&str]| list.iter().filter_map(|text| text.parse().ok()).collect();
        Arc::new(Self {
            answers: answers.iter().map(parse).collect(),
            leads_to: Some(leads_to),
            ..Self::default()
        })
    }

    pub(super) fn network(self: &Arc<Self>) -> Network {
        Network::default().with_resolver(self.clone()).with_dialer(self.clone())
    }

    fn resolved(&self) -> usize {
        self.resolved.load(Ordering::Relaxed)
    }

    fn dialed(&self) -> Vec<String> {
        let dialed = self.dialed.lock().unwrap_or_else(PoisonError::into_inner);
        dialed.iter().map(ToString::to_string).collect()
    }
}

#[async_trait]
impl Resolver for Fake {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let n = self.resolved.fetch_add(1, Ordering::Relaxed);
        let answer = self.answers.get(n).or_else(|| self.answers.last());
        answer.cloned().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("no {name}")))
    }
}

#[async_trait]
impl Dialer for Fake {
    async fn dial(&self, address: SocketAddr) -> io::Result<TcpStream> {
        self.dialed.lock().unwrap_or_else(PoisonError::into_inner).push(address);
        TcpStream::connect(self.leads_to.ok_or(io::ErrorKind::ConnectionRefused)?).await
    }
}

pub(super) fn services(network: Network) -> Services {
    Services { network, ..Services::default() }
}

pub(super) async fn probe(granted: &[Capability]) -> Result<Probe> {
    Probe::load(&Place::new()?, granted).await
}

pub(super) async fn probe_in(network: Network, granted: &[Capability]) -> Result<Probe> {
    Probe::load_with(&Place::new()?, granted, services(network)).await
}

/// A GET of this URL.
pub(super) fn get(url: &str) -> Value {
    request("GET", url, json!({}))
}

/// A request with more to it.
pub(super) fn request(method: &str, url: &str, more: Value) -> Value {
    let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
    let (authority, path) = match rest.find(['/', '?']) {
        Some(at) => (&rest[..at], &rest[at..]),
        None => (rest, "/"),
    };
    let mut request = json!({ "method": method, "scheme": scheme, "authority": authority, "path": path });
    if let (Value::Object(request), Value::Object(more)) = (&mut request, more) {
        request.extend(more);
    }
    json!({ "try": "http", "request": request })
}

// N1
#[tokio::test]
async fn a_host_that_was_not_granted_is_neither_resolved_nor_reached() -> Result<()> {
    let site = Site::saying("hello").await?;
    let fake = Fake::answering(&[&["93.184.216.34"]], site.address);
    let logged = Logged::begin();
    let granted =
        probe_in(fake.network(), &[http("http://api.example.com", &[]), http(&site.endpoint(), &[])]).await?;
    assert_eq!(
        granted.step(get("http://api.example.com/x?key=canary-in-query")).await?["ok"]["body"],
        "hello"
    );
    assert_eq!(granted.step(get(&format!("{}/x", site.endpoint()))).await?["ok"]["body"], "hello");
    let (resolved, seen) = (fake.resolved(), site.seen().len());
    assert_eq!(granted.extension.usage().http_bytes, 10, "two answers of five bytes");

    let steps = json!([get("http://other.example.com/"), get("http://api.example.com:8080/")]);
    for outcome in granted.steps(steps).await? {
        assert_eq!(outcome["error"], "ErrorCode::HttpRequestDenied");
    }
    let nothing = probe_in(fake.network(), &[]).await?;
    assert_eq!(nothing.step(get("http://api.example.com/")).await?["error"], "ErrorCode::HttpRequestDenied");
    assert_eq!((fake.resolved(), site.seen().len()), (resolved, seen));

    // One line for each, with what the user needs and nothing of what may be secret.
    let allowed = logged.with("http request\"");
    let lines = logged.lines();
    assert!(
        lines.iter().any(|line| line.contains("INFO")
            && line.contains("http://api.example.com")
            && line.contains("status=200")
            && line.contains("received=5")),
        "{lines:?} {allowed:?}"
    );
    let denied = logged.with("denied");
    assert_eq!(denied.len(), 3, "{denied:?}");
    assert!(
        denied[0].contains("WARN") && denied[0].contains("no grant allows http://other.example.com"),
        "{denied:?}"
    );
    assert!(!logged.lines().iter().any(|line| line.contains("canary")), "{lines:?}");
    Ok(())
}

// N2
#[tokio::test]
async fn only_the_exact_endpoint_passes_however_it_is_written() -> Result<()> {
    let site = Site::saying("hello").await?;
    let fake = Fake::answering(&[&["93.184.216.34"]], site.address);
    let probe = probe_in(fake.network(), &[http("http://api.example.com", &[])]).await?;
    for good in ["http://api.example.com/", "http://API.EXAMPLE.COM./", "http://api.example.com:80/"] {
        assert_eq!(probe.step(get(good)).await?["ok"]["status"], 200, "{good}");
    }
    for seen in site.seen() {
        assert_eq!(seen.header("host"), Some("api.example.com"));
    }
    let n = site.seen().len();
    for bad in [
        "http://api.example.com.evil.com/",
        "http://evilapi.example.com/",
        "http://api.example.com@evil.com/",
        "http://evil.com:80@api.example.com/",
        "http://api.example.com:8080/",
        "https://api.example.com/",
        "http://xn--pi-7kc.example.com/",
    ] {
        let outcome = probe.step(get(bad)).await?;
        assert!(outcome["error"].is_string(), "{bad}: {outcome}");
    }
    assert_eq!(site.seen().len(), n);
    Ok(())
}

#[tokio::test]
async fn methods_count_like_hosts() -> Result<()> {
    let site = Site::saying("hello").await?;
    let reading = probe(&[http(&site.endpoint(), &[])]).await?;
    let writing = probe(&[http(&site.endpoint(), &["POST", "PURGE"])]).await?;
    let url = format!("{}/", site.endpoint());
    let body = || json!({ "body": ["{", "}"] });
    assert_eq!(reading.step(get(&url)).await?["ok"]["status"], 200);
    assert_eq!(writing.step(request("POST", &url, body())).await?["ok"]["status"], 200);
    assert_eq!(writing.step(request("PURGE", &url, json!({}))).await?["ok"]["status"], 200);
    assert_eq!(reading.step(request("POST", &url, body())).await?["error"], "ErrorCode::HttpRequestDenied");
    assert_eq!(writing.step(get(&url)).await?["error"], "ErrorCode::HttpRequestDenied");
    let seen = site.seen();
    assert_eq!(
        seen.iter().map(|seen| seen.line()).collect::<Vec<_>>(),
        ["GET / HTTP/1.1", "POST / HTTP/1.1", "PURGE / HTTP/1.1"]
    );
    assert_eq!(seen[1].body, b"{}");
    Ok(())
}

// N3
#[tokio::test]
async fn inner_addresses_are_reached_only_where_the_grant_names_them() -> Result<()> {
    let site = Site::saying("hello").await?;
    let port = site.address.port();
    // The control: named, in either way.
    let literal = probe(&[http(&site.endpoint(), &[])]).await?;
    let local = probe(&[http(&format!("http://localhost:{port}"), &[])]).await?;
    assert_eq!(literal.step(get(&format!("http://127.0.0.1:{port}/"))).await?["ok"]["body"], "hello");
    assert_eq!(literal.step(get(&format!("http://2130706433:{port}/"))).await?["ok"]["body"], "hello");
    assert_eq!(local.step(get(&format!("http://localhost:{port}/"))).await?["ok"]["body"], "hello");
    for (probe, url) in
        [(&literal, format!("http://localhost:{port}/")), (&local, format!("http://127.0.0.1:{port}/"))]
    {
        assert_eq!(probe.step(get(&url)).await?["error"], "ErrorCode::HttpRequestDenied", "{url}");
    }
    // A name that was granted leads inside.
    for inner in [
        "127.0.0.1",
        "0.0.0.0",
        "169.254.169.254",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "100.64.0.1",
        "192.0.0.1",
        "198.18.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "ff02::1",
    ] {
        let fake = Fake::answering(&[&[inner]], site.address);
        let named = probe_in(fake.network(), &[http("http://api.example.com", &[])]).await?;
        let outcome = named.step(get("http://api.example.com/")).await?;
        assert_eq!(outcome["error"], "ErrorCode::DestinationIpProhibited", "{inner}");
        assert_eq!((fake.resolved(), fake.dialed().len()), (1, 0), "{inner}");
    }
    let fake = Fake::answering(&[&["8.8.8.8"]], site.address);
    let named = probe_in(fake.network(), &[http("http://api.example.com", &[])]).await?;
    assert_eq!(named.step(get("http://api.example.com/")).await?["ok"]["body"], "hello");
    Ok(())
}

// N4
#[tokio::test]
async fn a_resolver_that_answers_differently_the_second_time_is_not_asked_again() -> Result<()> {
    let site = Site::saying("hello").await?;
    let fake = Fake::answering(&[&["93.184.216.34"], &["127.0.0.1"]], site.address);
    let probe = probe_in(fake.network(), &[http("http://api.example.com", &[])]).await?;
    assert_eq!(probe.step(get("http://api.example.com/")).await?["ok"]["body"], "hello");
    assert_eq!(fake.resolved(), 1);
    assert_eq!(fake.dialed(), ["93.184.216.34:80"], "the address that was checked");
    assert_eq!(site.seen()[0].header("host"), Some("api.example.com"));
    // The next request sees the new answer, and is denied for it.
    assert_eq!(
        probe.step(get("http://api.example.com/")).await?["error"],
        "ErrorCode::DestinationIpProhibited"
    );
    assert_eq!((fake.resolved(), fake.dialed().len()), (2, 1));
    Ok(())
}

// N5
#[tokio::test]
async fn one_inner_address_among_public_ones_denies_the_request() -> Result<()> {
    let site = Site::saying("hello").await?;
    for answer in [["93.184.216.34", "10.0.0.1"], ["10.0.0.1", "93.184.216.34"]] {
        let fake = Fake::answering(&[&answer], site.address);
        let probe = probe_in(fake.network(), &[http("http://api.example.com", &[])]).await?;
        assert_eq!(
            probe.step(get("http://api.example.com/")).await?["error"],
            "ErrorCode::DestinationIpProhibited"
        );
        assert!(fake.dialed().is_empty());
    }
    let fake = Fake::answering(&[&["93.184.216.34", "2606:2800:220:1::1"]], site.address);
    let probe = probe_in(fake.network(), &[http("http://api.example.com", &[])]).await?;
    assert_eq!(probe.step(get("http://api.example.com/")).await?["ok"]["body"], "hello");
    Ok(())
}

// N6, N7: nothing is followed, so nothing goes along; the guest's next request is one like any other.
#[tokio::test]
async fn redirects_go_back_to_the_guest_and_its_next_request_is_judged_anew() -> Result<()> {
    for place in ["http://other.example.com/", "http://169.254.169.254/latest", "file:///etc/passwd", "/next"]
    {
        for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
            let site =
                Site::answering(move |_| answer(status, &format!("location: {place}\r\n"), "")).await?;
            let probe = probe(&[http(&site.endpoint(), &["POST"])]).await?;
            let more = json!({ "headers": [["authorization", "guest's own"]], "body": ["data"] });
            let outcome = probe.step(request("POST", &format!("{}/", site.endpoint()), more)).await?;
            let headers = outcome["ok"]["headers"].to_string();
            assert!(headers.contains(place), "{outcome}");
            assert_eq!(site.seen().len(), 1, "{status} to {place}");
        }
    }
    let probe = probe(&[http("http://api.example.com", &[])]).await?;
    for next in [
        "http://other.example.com/",
        "http://169.254.169.254/latest",
        "file://localhost/etc/passwd",
        "http://api.example.com:81/",
    ] {
        assert_eq!(probe.step(get(next)).await?["error"], "ErrorCode::HttpRequestDenied", "{next}");
    }
    Ok(())
}

// M16
#[tokio::test]
async fn a_bomb_of_headers_is_an_error_of_the_guest_and_the_next_request_works() -> Result<()> {
    let site = Site::saying("hello").await?;
    let probe = probe(&[http(&site.endpoint(), &[])]).await?;
    let url = format!("{}/", site.endpoint());
    let many: Vec<_> = (0..20_000).map(|n| json!([format!("x-{n}"), "v"])).collect();
    let large = json!([["x-large", "v".repeat(1 << 20)]]);
    for headers in [Value::from(many), large] {
        let outcome = probe.step(request("GET", &url, json!({ "headers": headers }))).await;
        // Stopped at wasmtime's limit for fields, as an error or as the end of the call; never sent.
        let refused = match &outcome {
            Ok(outcome) => outcome.get("error").is_some(),
            Err(_) => true,
        };
        assert!(refused, "{outcome:?}");
        assert!(site.seen().is_empty());
    }
    assert!(probe.step(get(&url)).await?.get("ok").is_some());
    Ok(())
}

// N8
#[tokio::test]
async fn headers_of_the_connection_and_line_breaks_are_refused_before_anything_is_sent() -> Result<()> {
    let site = Site::saying("hello").await?;
    let probe = probe(&[http(&site.endpoint(), &[])]).await?;
    let url = format!("{}/", site.endpoint());
    let with = |name: &str, value: &str| request("GET", &url, json!({ "headers": [[name, value]] }));
    for (name, value) in [
        ("Host", "evil.com"),
        ("host", "evil.com"),
        ("Connection", "keep-alive"),
        ("Transfer-Encoding", "chunked"),
        ("Upgrade", "websocket"),
        ("Keep-Alive", "x"),
        ("TE", "trailers"),
        ("Trailer", "x"),
        ("Expect", "100-continue"),
        ("Proxy-Authorization", "x"),
        ("Proxy-Anything", "x"),
        ("HTTP2-Settings", "x"),
        ("x-bad", "a\r\nHost: evil.com"),
        ("x-bad", "a\nb"),
        ("x-bad\r\nHost", "evil.com"),
        ("x bad", "a"),
    ] {
        let outcome = probe.step(with(name, value)).await?;
        assert!(
            outcome["error"].as_str().is_some_and(|error| error.starts_with("header ")),
            "{name}: {outcome}"
        );
    }
    for path in ["/\r\nHost: evil.com", "/ HTTP/1.1\r\n", "http://evil.com/", "*", "evil"] {
        let mut step = get(&url);
        step["request"]["path"] = json!(path);
        assert_eq!(probe.step(step).await?["error"], "the request takes no such path", "{path:?}");
    }
    assert!(site.seen().is_empty());
    // The control, and what the host itself sends.
    assert_eq!(probe.step(with("x-good", "a")).await?["ok"]["status"], 200);
    let seen = &site.seen()[0];
    assert_eq!(seen.header("x-good"), Some("a"));
    assert_eq!(seen.header("host"), Some(site.authority().as_str()));
    assert_eq!(seen.header("connection"), Some("close"));
    assert!(seen.header("user-agent").is_some_and(|agent| agent.starts_with("capstan/")));
    Ok(())
}

// N14
#[tokio::test]
async fn tunnels_and_other_schemes_are_refused() -> Result<()> {
    let site = Site::saying("hello").await?;
    let probe = probe(&[http(&site.endpoint(), &[])]).await?;
    let url = format!("{}/", site.endpoint());
    for method in ["CONNECT", "TRACE"] {
        let outcome = probe.step(request(method, &url, json!({}))).await?;
        assert_eq!(outcome["error"], "ErrorCode::HttpRequestDenied", "{method}");
    }
    for scheme in ["file", "data", "ws", "unix", "ftp"] {
        let outcome = probe.step(get(&format!("{scheme}://{}/", site.authority()))).await?;
        assert_eq!(outcome["error"], "ErrorCode::HttpRequestDenied", "{scheme}");
    }
    assert!(site.seen().is_empty());
    // A server that switches to another protocol unasked.
    let upgrading = Site::answering(|_| {
        answer("101 Switching Protocols", "connection: upgrade\r\nupgrade: websocket\r\n", "")
    })
    .await?;
    let probe = self::probe(&[http(&upgrading.endpoint(), &[])]).await?;
    assert!(probe.step(get(&format!("{}/", upgrading.endpoint()))).await?["error"].is_string());
    Ok(())
}

// N12
#[tokio::test]
async fn requests_and_uploads_have_a_share_for_each_call() -> Result<()> {
    let site = Site::saying("hello").await?;
    let limits = HttpLimits { requests: 3, sent_bytes: 100_000, ..HttpLimits::default() };
    let network = Network::default().with_limits(limits);
    let probe = probe_in(network, &[http(&site.endpoint(), &["GET", "POST"])]).await?;
    let url = format!("{}/", site.endpoint());
    let logged = Logged::begin();
    let outcomes = probe.steps(Value::from(vec![get(&url); 6])).await?;
    assert!(outcomes[..3].iter().all(|outcome| outcome["ok"]["status"] == 200), "{outcomes:?}");
    assert!(
        outcomes[3..].iter().all(|outcome| outcome["error"] == "ErrorCode::HttpRequestDenied"),
        "{outcomes:?}"
    );
    assert_eq!((site.seen().len(), logged.with("has made its 3 requests").len()), (3, 1));

    // The next call has a share of its own.
    let upload = |bytes: usize| request("POST", &url, json!({ "more_bytes": bytes }));
    let outcomes = probe.steps(json!([upload(60_000), upload(60_000), upload(1)])).await?;
    assert_eq!(outcomes[0]["ok"]["status"], 200);
    assert!(
        outcomes[1]["error"].as_str().is_some_and(|error| error.contains("HttpRequestBodySize")),
        "{outcomes:?}"
    );
    assert_eq!(site.seen()[3].body.len(), 60_000);
    Ok(())
}

// N12
#[tokio::test]
async fn only_so_many_requests_are_under_way_at_once() -> Result<()> {
    let site = Site::saying("hello").await?;
    let limits = HttpLimits { concurrent: 2, ..HttpLimits::default() };
    let probe = probe_in(Network::default().with_limits(limits), &[http(&site.endpoint(), &[])]).await?;
    let request = get(&format!("{}/", site.endpoint()))["request"].clone();
    let many = json!({ "try": "http-many", "request": request, "times": 4 });
    let outcomes = probe.step(many).await?["ok"].clone();
    assert_eq!(
        outcomes,
        json!([200, 200, "ErrorCode::ConnectionLimitReached", "ErrorCode::ConnectionLimitReached"])
    );
    // One after another they are no more than one at once.
    let outcomes = probe.steps(Value::from(vec![get(&format!("{}/", site.endpoint())); 5])).await?;
    assert!(outcomes.iter().all(|outcome| outcome["ok"]["status"] == 200), "{outcomes:?}");
    Ok(())
}

#[tokio::test]
async fn paths_and_headers_have_a_size() -> Result<()> {
    let site = Site::saying("hello").await?;
    let probe = probe(&[http(&site.endpoint(), &[])]).await?;
    let long = format!("{}/{}", site.endpoint(), "a".repeat(9 << 10));
    assert_eq!(probe.step(get(&long)).await?["error"], "ErrorCode::HttpRequestUriTooLong");
    let many: Vec<_> = (0..65).map(|n| json!([format!("x-{n}"), "v"])).collect();
    let large = vec![json!(["x-large", "v".repeat(33 << 10)])];
    for headers in [many, large] {
        let step = request("GET", &format!("{}/", site.endpoint()), json!({ "headers": headers }));
        let outcome = probe.step(step).await?;
        assert!(
            outcome["error"].as_str().is_some_and(|error| error.contains("HttpRequestHeaderSectionSize")),
            "{outcome}"
        );
    }
    assert!(site.seen().is_empty());
    Ok(())
}

// N9
#[tokio::test]
async fn proxies_and_certificates_of_the_environment_are_ignored() -> Result<()> {
    let proxy = Site::saying("from the proxy").await?;
    let address = format!("http://{}", proxy.authority());
    for test in [
        "network::only_the_exact_endpoint_passes_however_it_is_written",
        "network::certificates::only_a_certificate_for_the_granted_name_from_a_trusted_authority_counts",
    ] {
        let mut again = tokio::process::Command::new(std::env::current_exe()?);
        again.args(["--exact", test]).env("NO_PROXY", "").env("no_proxy", "");
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            again.env(name, &address);
        }
        again.env("SSL_CERT_FILE", "/dev/null").env("SSL_CERT_DIR", "/dev/null");
        let output = again.output().await?;
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("1 passed"), "{told}");
    }
    assert!(proxy.seen().is_empty());
    Ok(())
}

// N15
#[tokio::test]
async fn every_request_has_a_connection_of_its_own() -> Result<()> {
    let keeping = Site::answering(|_| answer("200 OK", "connection: keep-alive\r\n", "hello")).await?;
    let fake = Fake::answering(&[&["93.184.216.34"]], keeping.address);
    let grant = [http("http://api.example.com", &[])];
    let (one, other) = (probe_in(fake.network(), &grant).await?, probe_in(fake.network(), &grant).await?);
    for probe in [&one, &other, &one] {
        assert_eq!(probe.step(get("http://api.example.com/")).await?["ok"]["status"], 200);
    }
    assert_eq!(fake.dialed().len(), 3);
    Ok(())
}
