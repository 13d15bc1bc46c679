use super::*;
use capstan_tests::guest::Guest;

/// A model that asks for this command in answer to each message of the user, and then says what came of it.
async fn asks_for(command: &'static str) -> Result<(ScriptedServer, Product)> {
    let server = ScriptedServer::start(Arc::new(move |_, request| {
        let messages = request.body["messages"].as_array();
        match messages.and_then(|all| all.last()) {
            Some(last) if last["role"] == "user" => Answer::call("bash", json!({"command": command})),
            _ => Answer::text(Conversation::of(request).last_result().unwrap_or_default()),
        }
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    Ok((server, product))
}

// 001-142: get_commands; what starts with a slash
#[tokio::test]
async fn slash_commands_run_in_extensions_and_templates_become_prompts() -> Result<()> {
    let (server, product) = echoing().await?;
    let (greeter, body) = Guest::new("greeter").answer(0, "it is I");
    let greeter = product.install(&greeter.command("greet", &body))?;
    let (refuser, body) = Guest::new("refuser").answer(1, "not today");
    let refuser = product.install(&refuser.command("refuse", &body))?;
    std::fs::create_dir_all(product.home().join("prompts"))?;
    std::fs::write(product.home().join("prompts/review.md"), "Review $1 with care.")?;
    let mut client = RpcClient::start(&product, &["--no-session"])?;

    let commands = client.done(json!({"type": "get_commands"})).await?;
    let found = |name: &str| {
        let all = commands["commands"].as_array().into_iter().flatten();
        all.filter(|command| command["name"] == name).cloned().collect::<Vec<_>>()
    };
    assert_eq!(
        (&found("greet")[0]["source"], &found("greet")[0]["path"]),
        (&json!("extension"), &json!(greeter))
    );
    assert_eq!(
        (&found("review")[0]["source"], &found("review")[0]["location"]),
        (&json!("prompt"), &json!("user"))
    );

    client.done(json!({"type": "prompt", "message": "/greet everybody"})).await?;
    let shown = client.event("extension_ui_request").await?;
    assert_eq!((&shown["method"], &shown["message"]), (&json!("notify"), &json!("it is I")));
    client.done(json!({"type": "prompt", "message": "/refuse"})).await?;
    let error = client.event("extension_error").await?;
    assert_eq!((&error["extensionPath"], &error["event"]), (&json!(refuser), &json!("command")));
    assert!(error["error"].as_str().is_some_and(|text| text.contains("not today")), "{error}");
    let refused = client.refused(json!({"type": "steer", "message": "/greet"})).await?;
    assert!(refused.contains("send it with prompt"), "{refused}");
    assert!(server.requests().is_empty(), "the model hears nothing of commands");

    prompt(&mut client, "/review main.rs").await?;
    prompt(&mut client, "/etc/hosts is what?").await?;
    prompt(&mut client, "//greet").await?;
    let said: Vec<_> =
        server.requests().iter().filter_map(|request| Conversation::of(request).said().pop()).collect();
    assert_eq!(said, ["Review main.rs with care.", "/etc/hosts is what?", "/greet"]);
    client.finish().await?.0.with_code(0);
    Ok(())
}

// 001-142: a gate's question
#[tokio::test]
async fn a_gate_asks_the_client_and_its_answer_counts_for_the_call() -> Result<()> {
    let (_server, product) = asks_for("echo ran").await?;
    let (guest, body) = Guest::new("careful").verdict(4, "is that wise?");
    product.install(&guest.gate(&["bash"], &body))?;
    let mut client = RpcClient::start(&product, &["--permissions", "all"])?;
    for (answer, expected) in
        [(json!(true), "ran"), (json!(false), "The user said no"), (json!(null), "The user said no")]
    {
        client.done(json!({"type": "prompt", "message": "go"})).await?;
        let request = client.event("extension_ui_request").await?;
        assert_eq!((&request["method"], &request["title"]), (&json!("confirm"), &json!("bash")));
        assert_eq!(request["message"], "careful asks: is that wise?");
        let id = &request["id"];
        client.send(json!({"type": "extension_ui_response", "id": id, "confirmed": answer})).await?;
        client.event("agent_end").await?;
        let last = client.done(json!({"type": "get_last_assistant_text"})).await?;
        assert!(last["text"].as_str().is_some_and(|text| text.contains(expected)), "{answer}: {last}");
    }
    client.finish().await?.0.with_code(0);
    Ok(())
}

#[tokio::test]
async fn a_call_that_was_put_off_is_asked_about_and_goes_on_with_the_answer() -> Result<()> {
    let (_server, product) = asks_for("touch later").await?;
    let (guest, body) = Guest::new("patient").verdict(3, "wait for the release");
    product.install(&guest.gate(&["bash"], &body))?;
    let mut client = RpcClient::start(&product, &["--permissions", "all"])?;
    prompt(&mut client, "go").await?;
    let request = client.event("extension_ui_request").await?;
    assert!(
        request["message"].as_str().is_some_and(|text| text.contains("wait for the release")),
        "{request}"
    );
    assert!(!product.workspace().join("later").exists());
    // Nobody answers now. The question is asked again when the session is continued.
    let (finished, _) = client.finish().await?;
    assert!(finished.stderr.contains("capstan --continue"), "{}", finished.stderr);

    let mut client = RpcClient::start(&product, &["--continue", "--permissions", "all"])?;
    let request = client.event("extension_ui_request").await?;
    // Whoever does not answer can still talk.
    client.done(json!({"type": "get_state"})).await?;
    client.send(json!({"type": "extension_ui_response", "id": request["id"], "confirmed": true})).await?;
    client.event("agent_end").await?;
    assert!(product.workspace().join("later").exists());
    let (finished, seen) = client.finish().await?;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    assert_eq!(types(&seen).iter().filter(|kind| **kind == "extension_ui_request").count(), 1);
    Ok(())
}

#[tokio::test]
async fn a_hook_that_fails_is_told_of() -> Result<()> {
    let (_server, product) = asks_for("touch never").await?;
    let path = product.install(&Guest::new("trapper").gate(&["bash"], "unreachable"))?;
    let mut client = RpcClient::start(&product, &["--permissions", "all", "--no-session"])?;
    client.done(json!({"type": "prompt", "message": "go"})).await?;
    let error = client.event("extension_error").await?;
    assert_eq!((&error["extensionPath"], &error["event"]), (&json!(path), &json!("before-tool-call")));
    assert!(error["error"].as_str().is_some_and(|text| text.contains("trapped")), "{error}");
    client.event("agent_end").await?;
    assert!(!product.workspace().join("never").exists());
    client.finish().await?.0.with_code(0);
    Ok(())
}
