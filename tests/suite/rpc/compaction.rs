use super::*;
use anyhow::Context;

/// Enough for a summary to be worth its while.
fn long(n: usize) -> String {
    format!("{n} {}", "many words ".repeat(5000))
}

/// Answers what it was told; a request that is no part of the conversation, for a summary, when `slow` says so never.
async fn talking(slow: bool) -> Result<(ScriptedServer, Product)> {
    let server = ScriptedServer::start(Arc::new(move |_, request: &RecordedRequest| {
        let answer = Answer::text("so it is");
        if slow && Conversation::of(request).tools().is_empty() {
            answer.delayed_ms(1_000_000)
        } else {
            answer
        }
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    Ok((server, product))
}

// 001-142: compact, set_auto_compaction
#[tokio::test]
async fn a_client_has_the_session_compacted_and_is_told_of_it() -> Result<()> {
    let (_server, product) = talking(false).await?;
    let mut client = RpcClient::start(&product, &[])?;
    let nothing = client.refused(json!({"type": "compact"})).await?;
    assert!(!nothing.is_empty());
    for n in 0..3 {
        prompt(&mut client, &long(n)).await?;
    }
    let data = client.done(json!({"type": "compact", "customInstructions": "short"})).await?;
    assert!(data["tokensBefore"].as_u64().is_some_and(|tokens| tokens > 0), "{data}");
    assert!(data["summary"].is_string() && data["firstKeptEntryId"].is_string(), "{data}");
    assert_eq!(client.event("compaction_start").await?["reason"], "manual");
    let end = client.event("compaction_end").await?;
    assert_eq!((&end["result"]["summary"], &end["aborted"]), (&data["summary"], &json!(false)));
    let messages = client.done(json!({"type": "get_messages"})).await?;
    assert_eq!(messages["messages"][0]["role"], "compactionSummary");
    prompt(&mut client, "on we go").await?;
    client.done(json!({"type": "set_auto_compaction", "enabled": false})).await?;
    let state = client.done(json!({"type": "get_state"})).await?;
    assert_eq!((&state["autoCompactionEnabled"], &state["isCompacting"]), (&json!(false), &json!(false)));
    client.finish().await?.0.with_code(0);
    Ok(())
}

// 001-155: prompts that come meanwhile are kept
#[tokio::test]
async fn a_compaction_is_ended_by_an_abort_and_a_prompt_waits_for_its_end() -> Result<()> {
    let (_server, product) = talking(true).await?;
    let mut client = RpcClient::start(&product, &[])?;
    for n in 0..3 {
        prompt(&mut client, &long(n)).await?;
    }
    client.send(json!({"id": "it", "type": "compact"})).await?;
    client.event("compaction_start").await?;
    let state = client.done(json!({"type": "get_state"})).await?;
    assert_eq!((&state["isCompacting"], &state["isStreaming"]), (&json!(true), &json!(false)));
    let busy = client.refused(json!({"type": "new_session"})).await?;
    assert!(busy.contains("compacted"), "{busy}");
    client.done(json!({"type": "abort"})).await?;
    let answer = client.take(|line| line["id"] == "it").await?;
    assert_eq!(answer["success"], false);
    assert_eq!(client.event("compaction_end").await?["aborted"], true);

    // An abort right behind it counts, too.
    let both = "{\"id\":\"it\",\"type\":\"compact\"}\n{\"type\":\"abort\"}\n";
    client.send_bytes(both.as_bytes()).await?;
    let answer = client.take(|line| line["id"] == "it").await?;
    assert_eq!(answer["success"], false);
    prompt(&mut client, "on we go").await?;
    let messages = client.done(json!({"type": "get_messages"})).await?;
    let roles: Vec<_> =
        messages["messages"].as_array().context("no list")?.iter().map(|said| &said["role"]).collect();
    assert_eq!(roles.len(), 8, "nothing is lost: {roles:?}");
    client.finish().await?.0.with_code(0);
    Ok(())
}
