use super::*;

// 001-143
#[tokio::test]
async fn a_megabyte_in_pieces_of_three_bytes_is_one_line_and_other_separators_end_none() -> Result<()> {
    let (server, product) = echoing().await?;
    let mut client = RpcClient::start(&product, &["--no-session"])?;
    let text = format!("a\u{2028}b\u{2029}c\u{85}{}", "é😀".repeat(175_000));
    let line = format!("{}\r\n", json!({"id": 1, "type": "prompt", "message": text}));
    assert!(line.len() > 1_000_000);
    for piece in line.as_bytes().chunks(3) {
        client.send_bytes(piece).await?;
    }
    let accepted = client.event("response").await?;
    assert_eq!(accepted, json!({"id": 1, "type": "response", "command": "prompt", "success": true}));
    client.event("agent_end").await?;
    assert!(Conversation::of(&server.requests()[0]).said() == std::slice::from_ref(&text));
    let last = client.done(json!({"type": "get_last_assistant_text"})).await?;
    assert_eq!(last["text"], format!("you said {} characters", text.chars().count()));
    client.finish().await?.0.with_code(0);
    Ok(())
}

// 001-142
#[tokio::test]
async fn a_malformed_line_is_answered_and_the_process_lives_on() -> Result<()> {
    let (_server, product) = echoing().await?;
    let mut client = RpcClient::start(&product, &["--no-session"])?;
    for bad in [&b"{not json\n"[..], b"\n", b"[]\n", b"{\"type\":\"\xff\"}\n", b"{\"id\":5,\"type\":null}\n"]
    {
        client.send_bytes(bad).await?;
        let answer = client.event("response").await?;
        assert_eq!((&answer["command"], &answer["success"]), (&json!("parse"), &json!(false)), "{answer}");
    }
    let unknown = client.call(json!({"type": "make_tea"})).await?;
    assert_eq!((&unknown["command"], &unknown["success"]), (&json!("make_tea"), &json!(false)));
    for id in [json!(1), json!("x"), json!(null), json!({"a": [1]}), json!(1.5)] {
        client.send(json!({"id": id, "type": "prompt"})).await?;
        let answer = client.event("response").await?;
        assert_eq!((&answer["id"], &answer["command"]), (&id, &json!("prompt")));
        assert!(answer["error"].as_str().is_some_and(|text| text.contains("`message`")), "{answer}");
    }
    for kind in ["prompt", "steer", "follow_up"] {
        let empty = client.refused(json!({"type": kind, "message": " "})).await?;
        assert!(empty.contains("empty"), "{empty}");
    }
    client.send(json!({"type": "get_state"})).await?;
    let answer = client.event("response").await?;
    assert!(answer.get("id").is_none() && answer["success"] == true, "{answer}");
    // The last line needs no end.
    client.send_bytes(br#"{"id":"last","type":"abort_bash"}"#).await?;
    let (finished, seen) = client.finish().await?;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    let last = json!({"id": "last", "type": "response", "command": "abort_bash", "success": true});
    assert_eq!(seen.last(), Some(&last));
    Ok(())
}

#[tokio::test]
async fn nothing_but_answers_and_events_is_on_stdout_and_a_prompt_beside_the_mode_is_refused() -> Result<()> {
    let (_server, product) = echoing().await?;
    let mut client = RpcClient::start(&product, &[])?;
    prompt(&mut client, "hello").await?;
    let (finished, seen) = client.finish().await?;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    assert_eq!(types(&seen)[..4], ["response", "agent_start", "turn_start", "message_start"]);
    assert_eq!(types(&seen).last(), Some(&"agent_end"));
    let refused = product.run(&["--mode", "rpc", "-p", "x"]).await?.with_code(1);
    assert!(refused.stdout.is_empty() && refused.stderr.contains("from stdin"), "{}", refused.stderr);
    Ok(())
}
