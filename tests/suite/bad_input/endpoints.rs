//! Model servers that are missing, refuse, or answer nonsense: a clear message, a whole session, and exit code 1.

use anyhow::{Context, Result};
use capstan_ports::ModelErrorKind;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::endpoint::Endpoint;
use capstan_tests::product;
use capstan_tests::product::{KEY, Product};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs a prompt that must fail with these texts on stderr, leave a sound session, and be continued by a working server.
async fn check(product: Product, told: &[&str]) -> Result<()> {
    let finished = product.run(&["-p", "first try"]).await?.with_code(1);
    assert_eq!(finished.stdout, "");
    for part in told {
        assert!(finished.stderr.contains(part), "{part}: {}", finished.stderr);
    }
    assert!(!finished.stderr.contains(KEY), "{}", finished.stderr);
    let lines = product.session()?;
    assert_eq!(lines[1]["message"]["role"], "user", "what the user said is kept");
    let last = lines.last().context("empty")?;
    assert_eq!(last["message"]["stopReason"], "error", "{last}");

    let server = ScriptedServer::play([Answer::text("better")]).await?;
    let product = product.with_openai(&server.base_url());
    let again = product.run(&["-c", "-p", "second try"]).await?.with_code(0);
    assert_eq!(again.stdout, "better\n");
    let requests = server.requests();
    // 001-072: failed answers stay out of the conversation.
    assert_eq!(Conversation::of(&requests[0]).answers(), Vec::<String>::new());
    assert_eq!(Conversation::of(&requests[0]).said(), ["first try", "second try"]);
    Ok(())
}

// 000-150, P4: tried again a few times, with a line about each, then given up.
#[tokio::test]
async fn an_endpoint_where_nothing_listens_is_named_after_some_tries() -> Result<()> {
    let address = Endpoint::nowhere().await?;
    let product = product!()?.with_openai(&address);
    product.configure("max_retries = 1\n")?;
    check(
        product,
        &["cannot connect", &address, "trying again in ", "s (1 of 1)", "Check that the server runs"],
    )
    .await
}

// P3: not tried again, the variable is named and the key is not shown.
#[tokio::test]
async fn a_refused_key_is_told_with_the_name_of_its_variable() -> Result<()> {
    let refusal = Answer::error(ModelErrorKind::Auth, format!("Incorrect API key provided: {KEY}"));
    let server = ScriptedServer::start(Arc::new(move |_, _| refusal.clone())).await?;
    let product = product!()?.with_openai(&server.base_url());
    check(product, &["401", "OPENAI_API_KEY", "refused"]).await?;
    assert_eq!(server.requests().len(), 1, "no second try with the same key");
    Ok(())
}

// P8, P12
#[tokio::test]
async fn answers_that_are_no_event_stream_are_told_with_a_piece_of_them() -> Result<()> {
    let html = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<html>Log in to the WiFi</html>";
    let endpoint = Endpoint::answering(html).await?;
    check(product!()?.with_openai(endpoint.base_url()), &["Log in to the WiFi", "Check that the base URL"])
        .await?;

    let endpoint = Endpoint::streaming("data: {\"choices\": [{\"delta\": {\"cont\n\n").await?;
    check(product!()?.with_openai(endpoint.base_url()), &["malformed", "choices"]).await?;

    let reported =
        "data: {\"error\": {\"type\": \"invalid_request_error\", \"message\": \"model is asleep\"}}\n\n";
    let endpoint = Endpoint::streaming(reported).await?;
    check(product!()?.with_openai(endpoint.base_url()), &["model is asleep"]).await
}

// P6, P7, 000-154: a call that was cut off is never made, however often its stream breaks.
#[tokio::test]
async fn a_call_that_is_cut_off_is_never_made() -> Result<()> {
    let call = json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "half", "type": "function",
        "function": {"name": "bash", "arguments": "{\"command\": \"touch marker\"}"}}]}, "finish_reason": null}]});
    let endpoint = Endpoint::streaming(&format!("data: {call}\n\n")).await?;
    let product = product!()?.with_openai(endpoint.base_url());
    product.configure("max_retries = 1\n")?;
    let finished = product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(1);
    assert!(finished.stderr.contains("stream ended without terminal message"), "{}", finished.stderr);
    assert!(!product.workspace().join("marker").exists());

    let server = ScriptedServer::play([Answer::text("done")]).await?;
    let product = product.with_openai(&server.base_url());
    product.run(&["-c", "-p", "on"]).await?.with_code(0);
    Conversation::of(&server.requests()[0]).check_pairs()?;
    assert!(!product.workspace().join("marker").exists());
    Ok(())
}

// P2, 000-170
#[tokio::test]
async fn a_passing_failure_is_waited_out_and_said() -> Result<()> {
    let server =
        ScriptedServer::play([Answer::error(ModelErrorKind::Server, "overloaded"), Answer::text("here")])
            .await?;
    let product = product!()?.with_openai(&server.base_url());
    let finished = product.run(&["-p", "go"]).await?.with_code(0);
    assert_eq!(finished.stdout, "here\n");
    assert!(
        finished.stderr.contains("overloaded") && finished.stderr.contains("trying again in "),
        "{}",
        finished.stderr
    );
    Ok(())
}

// X7
#[tokio::test]
async fn an_interrupt_during_the_wait_for_another_try_ends_the_run_at_once() -> Result<()> {
    let busy = "HTTP/1.1 503 Busy\r\nretry-after: 50\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let endpoint = Endpoint::answering(busy).await?;
    let product = product!()?.with_openai(endpoint.base_url());
    let began = Instant::now();
    let mut running = product.start(&["-p", "go"])?;
    running.says("trying again in ").await?;
    running.signal("INT").await?;
    running.finish().await?.with_code(130);
    assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
    Ok(())
}
