//! Servers that do not do what they should: every call has an end, and every end has a reason.

use super::{Pair, WAYS, call, context, look, text};
use anyhow::Result;
use capstan_mcp::client::{Approvals, ServerSettings, Servers};
use capstan_ports::ToolError;
use capstan_tests::mcp::{Scripted, Way, is_there, no_longer};
use capstan_tests::product::SOON;
use capstan_tests::scripted_mcp;
use serde_json::json;
use std::time::Instant;

// 003-142, 003-144
#[tokio::test]
async fn an_error_of_a_tool_is_an_error_result_and_a_refusal_says_so() -> Result<()> {
    for way in WAYS {
        let pair = Pair::new(way).await?;
        let failed = pair.call("fail", json!({})).await?;
        assert!(failed.is_error);
        assert_eq!(text(&failed), "it failed");
        let refused = pair.call("refuse", json!({})).await.unwrap_err().to_string();
        assert_eq!(refused, "the server refuses the call: no such thing", "{way:?}");
        let malformed = pair.call("malformed", json!({})).await.unwrap_err().to_string();
        assert!(malformed.contains("not one of the protocol"), "{way:?}: {malformed}");
        assert_eq!(text(&pair.call("echo", json!({"text": "well"})).await?), "well");
        pair.servers.shut_down().await;
    }
    Ok(())
}

// 003-142
#[tokio::test]
async fn lines_that_are_no_messages_are_passed_over() -> Result<()> {
    let pair = Pair::new(Way::Stdio).await?;
    assert_eq!(text(&pair.call("garbage", json!({})).await?), "after all");
    assert_eq!(text(&pair.call("nonsense", json!({})).await?), "fine");
    pair.servers.shut_down().await;
    // Over HTTP the answer to a request is the body of its response, so there one call fails.
    let pair = Pair::new(Way::Http).await?;
    assert!(pair.call("garbage", json!({})).await.is_err());
    assert_eq!(text(&pair.call("echo", json!({"text": "well"})).await?), "well");
    pair.servers.shut_down().await;
    Ok(())
}

// 003-142
#[tokio::test]
async fn a_crash_is_an_error_result_and_the_next_call_finds_the_server_started_again() -> Result<()> {
    let pair = Pair::new(Way::Stdio).await?;
    let before = pair.scripted.pid()?;
    let error = pair.call("crash", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("exit status: 7"), "{error}");
    assert!(!error.contains("out of cheese"), "stderr is for the user: {error}");
    assert!(!is_there(before), "reaped");
    assert_eq!(text(&pair.call("echo", json!({"text": "again"})).await?), "again");
    assert_ne!(pair.scripted.pid()?, before);
    pair.servers.shut_down().await;
    Ok(())
}

// 003-142
#[tokio::test]
async fn a_server_that_crashes_again_and_again_is_given_time_and_then_left_alone() -> Result<()> {
    let pair = Pair::new(Way::Stdio).await?;
    for _ in 0..2 {
        let error = pair.call("crash", json!({})).await.unwrap_err().to_string();
        assert!(error.contains("exit status: 7"), "{error}");
    }
    let pid = pair.scripted.pid()?;
    let error = pair.call("crash", json!({})).await.unwrap_err().to_string();
    assert!(error.contains("tried again in"), "{error}");
    assert_eq!(pair.scripted.pid()?, pid, "it was not started");
    pair.servers.shut_down().await;
    Ok(())
}

// 003-142, 003-144
#[tokio::test]
async fn an_endless_answer_is_not_read_to_its_end() -> Result<()> {
    for way in WAYS {
        let pair = Pair::new(way).await?;
        let began = Instant::now();
        let error = pair.call("flood", json!({})).await.unwrap_err().to_string();
        assert!(began.elapsed() < SOON, "it did not wait for the timeout");
        if way == Way::Stdio {
            assert!(error.contains("more than 16 MiB"), "{error}");
        }
        assert_eq!(text(&pair.call("echo", json!({"text": "well"})).await?), "well", "{way:?}");
        pair.servers.shut_down().await;
    }
    Ok(())
}

// 003-142, 003-144
#[tokio::test]
async fn a_call_without_an_answer_ends_with_its_time() -> Result<()> {
    for way in WAYS {
        let scripted = Scripted::new(way, scripted_mcp!()).await?;
        let settings = ServerSettings { timeout_ms: Some(300), ..scripted.settings(&[]) };
        let pair = Pair::of(scripted, settings).await?;
        let error = pair.tool("never")?.execute(&call(json!({})), &context()).await.unwrap_err();
        assert!(matches!(&error, ToolError::TimedOut(text) if text.contains("0.3 s")), "{error}");
        pair.scripted.hears(|message| message["method"] == "notifications/cancelled").await?;
        pair.servers.shut_down().await;
    }
    Ok(())
}

// 003-144: over HTTP a connection may break under each call.
#[tokio::test]
async fn a_broken_connection_costs_one_call() -> Result<()> {
    let pair = Pair::new(Way::Http).await?;
    let error = pair.call("crash", json!({})).await.unwrap_err().to_string();
    assert!(error.starts_with("the server cannot be reached: ") && !error.contains("http:"), "{error}");
    assert_eq!(text(&pair.call("echo", json!({"text": "well"})).await?), "well");
    pair.servers.shut_down().await;
    Ok(())
}

// 003-142
#[tokio::test]
async fn a_start_that_fails_says_why_and_leaves_nothing_behind() -> Result<()> {
    for (flags, expected) in [
        (&["--exit"][..], "there is no database"),
        (&["--deaf", "--stay"], "not ready within 0.5 s"),
        (&["--slow", "60000"], "not ready within 0.5 s"),
    ] {
        let scripted = Scripted::new(Way::Stdio, scripted_mcp!()).await?;
        let start_timeout_ms = if flags == ["--exit"] { None } else { Some(500) };
        let settings = ServerSettings { start_timeout_ms, ..scripted.settings(flags) };
        let servers =
            Servers::new([scripted.server("s", settings)?], Approvals::default(), scripted.folder());
        let error = look(&servers).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{flags:?}: {error}");
        let pid = scripted.pid()?;
        no_longer(|| is_there(pid)).await?;
        servers.shut_down().await;
    }
    Ok(())
}

// 003-142
#[tokio::test]
async fn an_address_where_nobody_answers_is_a_failed_start() -> Result<()> {
    let url = capstan_tests::endpoint::Endpoint::nowhere().await?;
    let scripted = Scripted::new(Way::Stdio, scripted_mcp!()).await?;
    let settings = ServerSettings { url: Some(url), ..ServerSettings::default() };
    let servers = Servers::new([scripted.server("s", settings)?], Approvals::default(), scripted.folder());
    let error = look(&servers).await.unwrap_err().to_string();
    assert!(error.contains("its address") && !error.contains("http:"), "{error}");
    let told = capstan_tests::endpoint::Endpoint::answering(
        "HTTP/1.1 500 Broken\r\ncontent-length: 3\r\nconnection: close\r\n\r\nno!",
    )
    .await?;
    let settings = ServerSettings { url: Some(told.base_url().to_owned()), ..ServerSettings::default() };
    let servers = Servers::new([scripted.server("s", settings)?], Approvals::default(), scripted.folder());
    let error = look(&servers).await.unwrap_err().to_string();
    assert!(error.contains("500"), "{error}");
    Ok(())
}
