use super::*;
use anyhow::Context;

// 001-142: set_model, cycle_model, get_available_models
#[tokio::test]
async fn the_model_can_be_changed_to_any_that_is_configured() -> Result<()> {
    let (server, product) = echoing().await?;
    product.configure(&format!(
        "model = \"openai/test-model\"\n[provider.other]\napi = \"openai-completions\"\nbase_url = {:?}\n\
         [provider.other.models.\"big/one\"]\ncontext_window = 1000\nimages = true\ncost = {{ input = 2, output = 8.5 }}\n",
        server.base_url()
    ))?;
    let mut client = RpcClient::start(&product, &[])?;
    let models = client.done(json!({"type": "get_available_models"})).await?;
    let names: Vec<_> =
        models["models"].as_array().context("no list")?.iter().map(|model| &model["id"]).collect();
    assert_eq!(names, ["test-model", "big/one"]);
    let big = &models["models"][1];
    assert_eq!((&big["provider"], &big["contextWindow"]), (&json!("other"), &json!(1000)));
    assert_eq!(big["cost"], json!({"input": 2.0, "output": 8.5, "cacheRead": 0.0, "cacheWrite": 0.0}));
    assert_eq!((&big["input"], &big["api"]), (&json!(["text", "image"]), &json!("openai-completions")));

    let cycled = client.done(json!({"type": "cycle_model"})).await?;
    assert_eq!(cycled, json!({"model": big, "thinkingLevel": "off", "isScoped": false}));
    assert_eq!(client.done(json!({"type": "get_state"})).await?["model"], *big);
    prompt(&mut client, "hi").await?;
    assert_eq!(server.requests()[0].body["model"], "big/one");
    let back = client.done(json!({"type": "cycle_model"})).await?;
    assert_eq!(back["model"]["id"], "test-model");

    // A provider can be asked for more than what the configuration lists.
    let set = json!({"type": "set_model", "provider": "other", "modelId": "small"});
    assert_eq!(client.done(set).await?["id"], "small");
    let missing = client.refused(json!({"type": "set_model", "provider": "nobody", "modelId": "x"})).await?;
    assert!(missing.contains("no provider nobody"), "{missing}");
    assert_eq!(client.done(json!({"type": "get_state"})).await?["model"]["id"], "small");
    client.finish().await?.0.with_code(0);
    // What was said with the model that has a price has a cost.
    let lines = product.session()?;
    let answer = lines.iter().find(|line| line["message"]["role"] == "assistant").context("no answer")?;
    let usage = &answer["message"]["usage"];
    let dollars = |tokens: &Value, price: f64| tokens.as_f64().unwrap_or_default() * price / 1e6;
    let expected = dollars(&usage["input"], 2.0) + dollars(&usage["output"], 8.5);
    let cost = usage["cost"]["total"].as_f64().unwrap_or_default();
    assert!(expected > 0.0 && (cost - expected).abs() < 1e-12, "{usage}");
    let changes: Vec<_> = lines.into_iter().filter(|line| line["type"] == "model_change").collect();
    assert_eq!(changes.last().map(|change| &change["modelId"]), Some(&json!("small")));
    Ok(())
}

#[tokio::test]
async fn there_is_no_other_model_to_cycle_to_where_one_is_configured() -> Result<()> {
    let (_server, product) = echoing().await?;
    product.configure("model = \"openai/test-model\"\n")?;
    let mut client = RpcClient::start(&product, &["--no-session"])?;
    let answer = client.call(json!({"type": "cycle_model"})).await?;
    assert_eq!((&answer["success"], answer.get("data")), (&json!(true), Some(&Value::Null)));
    client.finish().await?.0.with_code(0);
    Ok(())
}

// 001-142: thinking levels and queue modes
#[tokio::test]
async fn thinking_queues_and_names_are_settings_that_state_shows() -> Result<()> {
    let (_server, product) = echoing().await?;
    let mut client = RpcClient::start(&product, &[])?;
    let state = client.done(json!({"type": "get_state"})).await?;
    assert_eq!(state["thinkingLevel"], "off");
    assert_eq!(
        (&state["steeringMode"], &state["followUpMode"]),
        (&json!("one-at-a-time"), &json!("one-at-a-time"))
    );
    assert_eq!((&state["messageCount"], &state["isStreaming"]), (&json!(0), &json!(false)));
    assert!(state.get("sessionName").is_none());
    let file = state["sessionFile"].as_str().context("no file")?;
    assert_eq!(product.session_files()?, [std::path::PathBuf::from(file)]);
    assert!(file.contains(state["sessionId"].as_str().context("no id")?));

    client.done(json!({"type": "set_thinking_level", "level": "xhigh"})).await?;
    assert_eq!(client.event("thinking_level_changed").await?["level"], "xhigh");
    assert_eq!(client.done(json!({"type": "cycle_thinking_level"})).await?, json!({"level": "off"}));
    assert_eq!(client.done(json!({"type": "cycle_thinking_level"})).await?, json!({"level": "minimal"}));
    client.done(json!({"type": "set_steering_mode", "mode": "all"})).await?;
    client.done(json!({"type": "set_follow_up_mode", "mode": "all"})).await?;
    client.done(json!({"type": "set_session_name", "name": " my work "})).await?;
    assert_eq!(client.event("session_info_changed").await?["name"], "my work");
    assert!(client.refused(json!({"type": "set_session_name", "name": " "})).await?.contains("empty"));
    let state = client.done(json!({"type": "get_state"})).await?;
    assert_eq!((&state["thinkingLevel"], &state["sessionName"]), (&json!("minimal"), &json!("my work")));
    assert_eq!((&state["steeringMode"], &state["followUpMode"]), (&json!("all"), &json!("all")));
    client.finish().await?.0.with_code(0);
    let lines = product.session()?;
    assert!(lines.iter().any(|line| line["type"] == "session_info" && line["name"] == "my work"));
    assert!(lines.iter().any(|line| line["thinkingLevel"] == "xhigh"));
    Ok(())
}

// 001-142: get_session_stats, get_last_assistant_text
#[tokio::test]
async fn counts_are_those_of_the_session() -> Result<()> {
    let (_server, product) = echoing().await?;
    let mut client = RpcClient::start(&product, &["--no-session"])?;
    let last = client.done(json!({"type": "get_last_assistant_text"})).await?;
    assert_eq!(last, json!({"text": null}));
    let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
    client.done(json!({"type": "prompt", "message": "look", "images": [image]})).await?;
    client.event("agent_end").await?;
    let messages = client.done(json!({"type": "get_messages"})).await?;
    assert_eq!(messages["messages"][0]["content"], json!([{"type": "text", "text": "look"}, image]));
    let stats = client.done(json!({"type": "get_session_stats"})).await?;
    assert!(stats.get("sessionFile").is_none() && stats["sessionId"].is_string(), "{stats}");
    for (field, n) in [("userMessages", 1), ("assistantMessages", 1), ("toolCalls", 0), ("totalMessages", 2)]
    {
        assert_eq!(stats[field], n, "{field}");
    }
    let total = stats["tokens"]["total"].as_u64().context("no tokens")?;
    assert!(total > 0 && stats["contextUsage"]["tokens"] == total, "{stats}");
    client.finish().await?.0.with_code(0);
    Ok(())
}
