use super::*;
use anyhow::Context;
use capstan_ports::ModelErrorKind;
use capstan_tests::guest::Guest;
use capstan_tests::product::TIME_LIMIT;
use std::time::Duration;

/// A model that asks for a command which lasts until a file is there, and answers once it has the result.
async fn waiting() -> Result<(ScriptedServer, Product)> {
    let server = ScriptedServer::start(Arc::new(|_, request| {
        let conversation = Conversation::of(request);
        match conversation.said().last().map(String::as_str) {
            Some("wait") if request.body["messages"].as_array().is_some_and(|all| is_of_user(all.last())) => {
                let wait = json!({"command": "touch started; while ! test -e go; do sleep 0.01; done"});
                Answer::default().and_call("bash", wait)
            }
            Some(said) => Answer::text(format!("you said {said}")),
            None => Answer::text("nothing"),
        }
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    Ok((server, product))
}

fn is_of_user(message: Option<&Value>) -> bool {
    message.is_some_and(|message| message["role"] == "user")
}

async fn started(product: &Product) -> Result<()> {
    capstan_tests::product::appears(&product.workspace().join("started")).await
}

fn go(product: &Product) -> Result<()> {
    Ok(std::fs::write(product.workspace().join("go"), "")?)
}

// 001-142: prompt, steer, follow_up, get_state, get_messages
#[tokio::test]
async fn a_run_is_looked_at_steered_and_followed_up_while_it_is_on() -> Result<()> {
    let (server, product) = waiting().await?;
    let mut client = RpcClient::start(&product, &["--permissions", "all"])?;
    client.done(json!({"type": "prompt", "message": "wait"})).await?;
    started(&product).await?;
    let state = client.done(json!({"type": "get_state"})).await?;
    assert_eq!((&state["isStreaming"], &state["pendingMessageCount"]), (&json!(true), &json!(0)));

    let busy = client.refused(json!({"type": "prompt", "message": "and now?"})).await?;
    assert!(busy.contains("streamingBehavior"), "{busy}");
    client.done(json!({"type": "follow_up", "message": "last"})).await?;
    client.done(json!({"type": "steer", "message": "first"})).await?;
    client.done(json!({"type": "prompt", "message": "second", "streamingBehavior": "steer"})).await?;
    client.done(json!({"type": "prompt", "message": "very last", "streamingBehavior": "followUp"})).await?;
    let state = client.done(json!({"type": "get_state"})).await?;
    assert_eq!(state["pendingMessageCount"], 4);
    let update = client.take(|line| line["followUp"] == json!(["last", "very last"])).await?;
    assert_eq!(update["steering"], json!(["first", "second"]));
    for refused in ["new_session", "clone"] {
        let reason = client.refused(json!({"type": refused})).await?;
        assert!(reason.contains("busy"), "{reason}");
    }
    go(&product)?;
    client.event("agent_end").await?;
    let update = client.take(|line| line["followUp"] == json!([]) && line["steering"] == json!([])).await?;
    assert_eq!(update["type"], "queue_update");
    let state = client.done(json!({"type": "get_state"})).await?;
    assert_eq!((&state["isStreaming"], &state["pendingMessageCount"]), (&json!(false), &json!(0)));
    let last = server.requests().pop().context("no request")?;
    assert_eq!(Conversation::of(&last).said(), ["wait", "first", "second", "last", "very last"]);

    let messages = client.done(json!({"type": "get_messages"})).await?;
    let messages = messages["messages"].as_array().context("no messages")?;
    assert_eq!(state["messageCount"], messages.len());
    let roles: Vec<_> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
    assert_eq!(roles[..4], ["user", "assistant", "toolResult", "user"]);
    let (finished, seen) = client.finish().await?;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    assert_eq!(types(&seen).iter().filter(|kind| **kind == "agent_start").count(), 1);
    Ok(())
}

// 001-142: abort
#[tokio::test]
async fn an_abort_ends_the_run_and_is_answered_after_its_end() -> Result<()> {
    let (_server, product) = waiting().await?;
    let mut client = RpcClient::start(&product, &["--permissions", "all"])?;
    client.done(json!({"type": "abort"})).await?;
    client.done(json!({"type": "prompt", "message": "wait"})).await?;
    started(&product).await?;
    client.done(json!({"type": "follow_up", "message": "later"})).await?;
    client.done(json!({"type": "abort"})).await?;
    assert!(types(&client.seen).contains(&"agent_end"), "{:?}", types(&client.seen));
    let end = client.event("agent_end").await?;
    let last = end["messages"].as_array().and_then(|messages| messages.last()).context("no messages")?;
    assert_eq!(last["stopReason"], "aborted");
    // What was queued waits for the next prompt.
    let state = client.done(json!({"type": "get_state"})).await?;
    assert_eq!((&state["isStreaming"], &state["pendingMessageCount"]), (&json!(false), &json!(1)));
    prompt(&mut client, "go on").await?;
    let last = client.done(json!({"type": "get_last_assistant_text"})).await?;
    assert_eq!(last["text"], "you said later");
    client.finish().await?.0.with_code(0);
    Ok(())
}

// An abort that comes before the run has begun is not lost.
#[tokio::test]
async fn an_abort_right_behind_a_prompt_counts() -> Result<()> {
    let (_server, product) = waiting().await?;
    let mut client = RpcClient::start(&product, &["--permissions", "all", "--no-session"])?;
    for _ in 0..20 {
        let both =
            format!("{}\n{}\n", json!({"type": "prompt", "message": "wait"}), json!({"type": "abort"}));
        client.send_bytes(both.as_bytes()).await?;
        client.take(|line| line["command"] == "abort").await?;
        let end = client.event("agent_end").await?;
        let last = end["messages"].as_array().and_then(|messages| messages.last()).context("no messages")?;
        assert_eq!(last["stopReason"], "aborted", "{end}");
    }
    client.finish().await?.0.with_code(0);
    Ok(())
}

// A client sends its next prompt as soon as it reads agent_end.
#[tokio::test]
async fn the_next_prompt_may_follow_the_end_of_a_run_at_once() -> Result<()> {
    let (server, product) = echoing().await?;
    let mut client = RpcClient::start(&product, &[])?;
    for n in 0..30 {
        prompt(&mut client, &format!("number {n}")).await?;
    }
    assert_eq!(server.requests().len(), 30);
    client.finish().await?.0.with_code(0);
    assert_eq!(product.session()?.len(), 61, "a header, 30 prompts, 30 answers");
    Ok(())
}

#[tokio::test]
async fn what_is_on_at_the_end_of_stdin_goes_on_to_its_end() -> Result<()> {
    let (server, product) = waiting().await?;
    let mut client = RpcClient::start(&product, &["--permissions", "all"])?;
    client.done(json!({"type": "prompt", "message": "wait"})).await?;
    client.done(json!({"type": "follow_up", "message": "more"})).await?;
    started(&product).await?;
    client.close();
    go(&product)?;
    let (finished, seen) = client.finish().await?;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    assert_eq!(types(&seen).last(), Some(&"agent_end"));
    assert_eq!(server.requests().len(), 3);
    assert!(product.session()?.iter().any(|line| line["message"]["content"][0]["text"] == "you said more"));
    Ok(())
}

#[tokio::test]
async fn a_client_that_reads_no_more_ends_the_run_and_leaves_a_whole_session() -> Result<()> {
    let (_server, product) = waiting().await?;
    let mut client = RpcClient::start(&product, &["--permissions", "all"])?;
    client.done(json!({"type": "prompt", "message": "wait"})).await?;
    started(&product).await?;
    client.stop_reading();
    // The next lines meet a closed pipe.
    for _ in 0..3 {
        drop(client.send(json!({"type": "get_state"})).await);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (finished, _) = tokio::time::timeout(TIME_LIMIT, client.finish()).await??;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    let lines = product.session()?;
    let results = lines.iter().filter(|line| line["message"]["role"] == "toolResult").count();
    assert_eq!(results, 1, "the call that was on has its result");
    Ok(())
}

#[tokio::test]
async fn signals_end_the_run_and_the_program_with_their_codes() -> Result<()> {
    for (name, code) in [("TERM", 143), ("INT", 130)] {
        let (_server, product) = waiting().await?;
        let mut client = RpcClient::start(&product, &["--permissions", "all"])?;
        client.done(json!({"type": "prompt", "message": "wait"})).await?;
        started(&product).await?;
        let id = client.id().context("it has ended")?.to_string();
        let sent = tokio::process::Command::new("kill").args([&format!("-{name}"), &id]).status().await?;
        assert!(sent.success());
        client.event("agent_end").await?;
        client.finish().await?.0.with_code(code);
        assert!(product.session()?.iter().any(|line| line["message"]["role"] == "toolResult"));
    }
    Ok(())
}

// 001-142: set_auto_retry, abort_retry
#[tokio::test]
async fn a_retry_is_told_of_and_can_be_called_off() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, request| {
        match Conversation::of(request).said().last().map(String::as_str) {
            Some("be fine") => Answer::text("fine"),
            _ => Answer::error(ModelErrorKind::RateLimited, "slow down"),
        }
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut client = RpcClient::start(&product, &[])?;
    client.done(json!({"type": "prompt", "message": "go"})).await?;
    let start = client.event("auto_retry_start").await?;
    assert_eq!((&start["attempt"], &start["maxAttempts"]), (&json!(1), &json!(3)));
    assert!(start["delayMs"].is_u64() && start["errorMessage"].as_str().is_some(), "{start}");
    client.done(json!({"type": "abort_retry"})).await?;
    let end = client.event("auto_retry_end").await?;
    assert_eq!(end["success"], false);
    // Were it not called off, there would be one request more than retries.
    assert_eq!(end["attempt"], server.requests().len());
    client.event("agent_end").await?;

    client.done(json!({"type": "set_auto_retry", "enabled": false})).await?;
    let before = server.requests().len();
    let end = prompt(&mut client, "again").await?;
    assert!(end.to_string().contains("slow down"), "{end}");
    assert_eq!(server.requests().len(), before + 1);
    client.done(json!({"type": "set_auto_retry", "enabled": true})).await?;
    prompt(&mut client, "be fine").await?;
    assert_eq!(client.done(json!({"type": "get_last_assistant_text"})).await?["text"], "fine");
    client.finish().await?.0.with_code(0);
    Ok(())
}

#[tokio::test]
async fn an_extension_that_comes_is_there_for_one_of_the_next_prompts() -> Result<()> {
    let (server, product) = waiting().await?;
    let mut client = RpcClient::start(&product, &["--no-session"])?;
    assert_eq!(client.done(json!({"type": "get_commands"})).await?, json!({"commands": []}));
    prompt(&mut client, "one").await?;
    let (guest, body) = Guest::new("greeter").text_result("hello");
    product.install(&guest.tool("greet", &body))?;
    // The folder is followed; the tool is there for one of the next prompts.
    let mut n = 0;
    while Conversation::of(&server.requests()[n]).tools().iter().all(|tool| tool.0 != "greet") {
        prompt(&mut client, "again").await?;
        n = server.requests().len() - 1;
    }
    client.finish().await?.0.with_code(0);
    Ok(())
}
