use super::*;

async fn asks_for_bash() -> Result<(ScriptedServer, Product)> {
    let server = ScriptedServer::start(Arc::new(|_, request| {
        let conversation = Conversation::of(request);
        match conversation.last_result() {
            Ok(result) if conversation.results().len() >= conversation.said().len() => Answer::text(result),
            _ => Answer::default().and_call("bash", json!({"command": "echo ran"})),
        }
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    Ok((server, product))
}

#[tokio::test]
async fn by_default_nobody_is_asked_and_what_may_change_something_is_denied() -> Result<()> {
    let (_server, product) = asks_for_bash().await?;
    let mut client = RpcClient::start(&product, &["--no-session"])?;
    prompt(&mut client, "go").await?;
    let last = client.done(json!({"type": "get_last_assistant_text"})).await?["text"].to_string();
    assert!(last.contains("--permissions"), "{last}");
    let (_, seen) = client.finish().await?;
    assert!(!types(&seen).contains(&"extension_ui_request"));
    Ok(())
}

// 001-142: extension_ui_request and extension_ui_response
#[tokio::test]
async fn a_permission_is_asked_of_the_client_and_counts_as_it_says() -> Result<()> {
    let (_server, product) = asks_for_bash().await?;
    let mut client = RpcClient::start(&product, &["--permissions", "ask"])?;
    let answers = [
        (json!({"value": "Allow once"}), "ran"),
        (json!({"value": "Deny"}), "the user said no"),
        (json!({"cancelled": true}), "the user said no"),
        (json!({"value": "whatever"}), "the user said no"),
        (json!({"value": "Allow in this session"}), "ran"),
    ];
    for (mut answer, expected) in answers {
        client.done(json!({"type": "prompt", "message": "go"})).await?;
        let request = client.event("extension_ui_request").await?;
        assert_eq!(request["method"], "select");
        assert!(request["title"].as_str().is_some_and(|title| title.contains("echo ran")), "{request}");
        // An answer to another question changes nothing.
        client.send(json!({"type": "extension_ui_response", "id": "other", "value": "Allow once"})).await?;
        client.done(json!({"type": "get_state"})).await?;
        answer["type"] = json!("extension_ui_response");
        answer["id"] = request["id"].clone();
        client.send(answer.clone()).await?;
        client.event("agent_end").await?;
        let last = client.done(json!({"type": "get_last_assistant_text"})).await?;
        assert!(last["text"].as_str().is_some_and(|text| text.contains(expected)), "{answer}: {last}");
    }
    // What was allowed for the session is not asked again.
    prompt(&mut client, "go").await?;
    let (_, seen) = client.finish().await?;
    assert_eq!(types(&seen).iter().filter(|kind| **kind == "extension_ui_request").count(), 5);
    Ok(())
}

#[tokio::test]
async fn a_question_can_be_aborted_and_is_a_no_at_the_end_of_stdin() -> Result<()> {
    let (_server, product) = asks_for_bash().await?;
    let mut client = RpcClient::start(&product, &["--permissions", "ask", "--no-session"])?;
    client.done(json!({"type": "prompt", "message": "go"})).await?;
    client.event("extension_ui_request").await?;
    client.done(json!({"type": "abort"})).await?;
    client.event("agent_end").await?;
    client.done(json!({"type": "prompt", "message": "go"})).await?;
    client.event("extension_ui_request").await?;
    let (finished, seen) = client.finish().await?;
    assert_eq!(finished.code, Some(0));
    let last = seen.iter().rev().find(|line| line["type"] == "tool_execution_end");
    assert!(last.is_some_and(|end| end.to_string().contains("the user said no")), "{last:?}");
    Ok(())
}
