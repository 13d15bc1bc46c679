//! Answers that are too large, too slow, or broken.

use super::{get, probe, probe_in};
use anyhow::Result;
use capstan_engine::{HttpLimits, Network};
use capstan_tests::endpoint::Endpoint;
use capstan_tests::logged::Logged;
use capstan_tests::probe::http;
use capstan_tests::site::{Part, Site, answer};
use serde_json::{Value, json};
use std::time::Duration;

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";

async fn fetch(site: &Site, limits: HttpLimits) -> Result<Value> {
    let probe = probe_in(Network::default().with_limits(limits), &[http(&site.endpoint(), &[])]).await?;
    Ok(probe.step(get(&format!("{}/", site.endpoint()))).await?)
}

// N10
#[tokio::test]
async fn an_answer_without_end_is_cut_at_the_share_of_the_call() -> Result<()> {
    let limits = HttpLimits { received_bytes: 200_000, ..HttpLimits::default() };
    let fits = Site::answering(|_| answer("200 OK", "", vec![b'x'; 199_000])).await?;
    assert_eq!(fetch(&fits, limits).await?["ok"]["bytes"], 199_000);

    let endless = |head: &'static [u8], piece: Vec<u8>| {
        move |_: &capstan_tests::site::Seen| {
            vec![Part::Bytes(head.to_vec()), Part::Endless(piece.clone(), Duration::ZERO)]
        }
    };
    let chunk = [b"1000\r\n".as_slice(), &[b'x'; 0x1000], b"\r\n"].concat();
    for site in [
        Site::answering(endless(HEAD, vec![b'x'; 4096])).await?,
        Site::answering(endless(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", chunk)).await?,
    ] {
        let outcome = fetch(&site, limits).await?["ok"].clone();
        assert!(outcome["bytes"].as_u64().is_some_and(|bytes| bytes <= 200_000), "{outcome}");
        assert!(
            outcome["bodyError"].as_str().is_some_and(|error| error.contains("HttpResponseBodySize")),
            "{outcome}"
        );
    }
    // Ten gigabytes that are announced are not even begun.
    let announced = Site::answering(|_| {
        vec![Part::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n".to_vec())]
    })
    .await?;
    let outcome = fetch(&announced, limits).await?;
    assert!(
        outcome["error"]
            .as_str()
            .is_some_and(|error| error.contains("HttpResponseBodySize(Some(10737418240))")),
        "{outcome}"
    );
    Ok(())
}

// N10: nothing is decompressed, so a bomb stays as small as it is.
#[tokio::test]
async fn compressed_answers_reach_the_guest_as_they_are() -> Result<()> {
    let bomb =
        Site::answering(|_| answer("200 OK", "content-encoding: gzip\r\n", b"\x1f\x8b not unpacked")).await?;
    let outcome = fetch(&bomb, HttpLimits::default()).await?;
    assert_eq!(outcome["ok"]["bytes"], 15, "{outcome}");
    Ok(())
}

#[tokio::test]
async fn a_header_without_end_is_cut() -> Result<()> {
    let field = Site::answering(|_| {
        vec![Part::Bytes(b"HTTP/1.1 200 OK\r\nx: ".to_vec()), Part::Endless(vec![b'x'; 4096], Duration::ZERO)]
    })
    .await?;
    let fields = Site::answering(|_| {
        vec![
            Part::Bytes(b"HTTP/1.1 200 OK\r\n".to_vec()),
            Part::Endless(b"a: b\r\n".to_vec(), Duration::ZERO),
        ]
    })
    .await?;
    for site in [field, fields] {
        let outcome = fetch(&site, HttpLimits::default()).await?;
        assert!(outcome["error"].is_string(), "{outcome}");
    }
    Ok(())
}

// N11
#[tokio::test]
async fn a_server_that_trickles_meets_the_total_deadline() -> Result<()> {
    let limits = HttpLimits { total: Duration::from_millis(300), ..HttpLimits::default() };
    let drip = Duration::from_millis(20);
    let body = Site::answering(move |_| vec![Part::Bytes(HEAD.to_vec()), Part::Endless(b"x".to_vec(), drip)])
        .await?;
    let outcome = fetch(&body, limits).await?["ok"].clone();
    assert_eq!(outcome["bodyError"], "ErrorCode::HttpResponseTimeout", "{outcome}");
    let head = Site::answering(move |_| {
        vec![Part::Bytes(b"HTTP/1.1 200 OK\r\nx: ".to_vec()), Part::Endless(b"x".to_vec(), drip)]
    })
    .await?;
    assert_eq!(fetch(&head, limits).await?["error"], "ErrorCode::HttpResponseTimeout");
    let silent = Site::answering(|_| vec![Part::Pause(Duration::from_secs(60))]).await?;
    assert_eq!(fetch(&silent, limits).await?["error"], "ErrorCode::HttpResponseTimeout");
    Ok(())
}

// N17: the code tells whether the request can have arrived: refused means no, incomplete and terminated mean maybe.
#[tokio::test]
async fn broken_connections_have_codes_that_say_whether_the_request_was_sent() -> Result<()> {
    let logged = Logged::begin();
    let nowhere = Endpoint::nowhere().await?.replace("/v1", "");
    let refused = probe(&[http(&nowhere, &[])]).await?.step(get(&format!("{nowhere}/"))).await?;
    assert_eq!(refused["error"], "ErrorCode::ConnectionRefused");
    let failed = logged.with("failed");
    assert!(
        failed.len() == 1 && failed[0].contains("INFO") && failed[0].contains("no connection"),
        "{failed:?}"
    );

    let reset = Site::answering(|_| vec![Part::Reset]).await?;
    let outcome = fetch(&reset, HttpLimits::default()).await?;
    let code = outcome["error"].as_str().unwrap_or_default();
    assert!(
        ["ErrorCode::HttpResponseIncomplete", "ErrorCode::ConnectionTerminated"].contains(&code),
        "{outcome}"
    );
    assert!(!logged.with("may have been sent").is_empty() || !logged.with("had been sent").is_empty());

    let half =
        Site::answering(|_| vec![Part::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec())])
            .await?;
    let outcome = fetch(&half, HttpLimits::default()).await?["ok"].clone();
    assert_eq!(
        (&outcome["body"], &outcome["bodyError"]),
        (&json!("half"), &json!("ErrorCode::HttpResponseIncomplete"))
    );

    let nonsense = Site::answering(|_| vec![Part::Bytes(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec())]).await?;
    assert_eq!(fetch(&nonsense, HttpLimits::default()).await?["error"], "ErrorCode::HttpProtocolError");
    Ok(())
}
