use super::*;
use anyhow::Context;
use std::path::Path;

// 001-142: bash
#[tokio::test]
async fn a_command_of_the_client_runs_at_once_and_the_model_reads_of_it_with_the_next_prompt() -> Result<()> {
    let (server, product) = echoing().await?;
    let mut client = RpcClient::start(&product, &[])?;
    let ran = client.done(json!({"type": "bash", "command": "pwd; echo oops >&2; exit 3"})).await?;
    let output = format!("{}\noops\n", product.workspace().display());
    assert_eq!(ran, json!({"output": output, "exitCode": 3, "cancelled": false, "truncated": false}));
    let secret = json!({"type": "bash", "command": "echo private", "excludeFromContext": true});
    assert_eq!(client.done(secret).await?["output"], "private\n");
    let keys = client.done(json!({"type": "bash", "command": "env"})).await?;
    assert!(!keys["output"].as_str().context("no output")?.contains(product::KEY));

    let messages = client.done(json!({"type": "get_messages"})).await?;
    assert_eq!(messages["messages"][1]["role"], "bashExecution");
    prompt(&mut client, "what did I do?").await?;
    let said = Conversation::of(&server.requests()[0]).said().join("\n");
    assert!(said.contains("Ran `pwd;") && said.contains("Command exited with code 3"), "{said}");
    assert!(!said.contains("private"), "{said}");
    client.finish().await?.0.with_code(0);
    let roles: Vec<_> = product.session()?.iter().map(|line| line["message"]["role"].clone()).collect();
    assert_eq!(roles.iter().filter(|role| **role == "bashExecution").count(), 3);
    Ok(())
}

// 001-142: abort_bash
#[tokio::test]
async fn a_command_can_be_watched_and_ended_while_others_are_answered() -> Result<()> {
    let (_server, product) = echoing().await?;
    let mut client = RpcClient::start(&product, &["--no-session"])?;
    client.send(json!({"id": "long", "type": "bash", "command": "echo begun; sleep 1000"})).await?;
    let update = client.event("bash_execution_update").await?;
    assert_eq!((&update["id"], &update["output"]), (&json!("long"), &json!("begun\n")));
    client.done(json!({"type": "get_state"})).await?;
    prompt(&mut client, "beside").await?;
    client.done(json!({"type": "abort_bash"})).await?;
    let answer = client.take(|line| line["id"] == "long" && line["type"] == "response").await?;
    let data = json!({"output": "begun\n", "cancelled": true, "truncated": false});
    assert_eq!((&answer["success"], &answer["data"]), (&json!(true), &data));
    // The next one runs.
    assert_eq!(client.done(json!({"type": "bash", "command": "echo ok"})).await?["exitCode"], 0);
    client.finish().await?.0.with_code(0);
    Ok(())
}

#[tokio::test]
async fn long_output_is_cut_and_kept_in_a_file() -> Result<()> {
    let (_server, product) = echoing().await?;
    let mut client = RpcClient::start(&product, &["--no-session"])?;
    let ran = client.done(json!({"type": "bash", "command": "seq 1 100000"})).await?;
    assert_eq!(ran["truncated"], true);
    let shown = ran["output"].as_str().context("no output")?;
    assert!(shown.ends_with("100000\n") && shown.len() <= 50 * 1024, "{}", shown.len());
    let whole = std::fs::read_to_string(Path::new(ran["fullOutputPath"].as_str().context("no file")?))?;
    assert!(whole.starts_with("1\n2\n") && whole.ends_with("99999\n100000\n"));
    client.finish().await?.0.with_code(0);
    Ok(())
}
