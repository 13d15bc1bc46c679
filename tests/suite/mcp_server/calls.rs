//! Calls: what guards them in a session guards them here.

use super::{greeter, with_probe};
use anyhow::{Context, Result, ensure};
use capstan_tests::guest::Guest;
use capstan_tests::mcp_client::McpClient;
use capstan_tests::product;
use capstan_tests::product::SOON;
use serde_json::json;
use std::time::{Duration, Instant};

/// Processor time of a process so far, in hundredths of a second.
fn processor_time(id: u32) -> Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The name of the program, in parentheses, can have spaces.
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let [user, system] = [11, 12].map(|at| fields.get(at).and_then(|field| field.parse::<u64>().ok()));
    Ok(user.context("no user time")? + system.context("no system time")?)
}

/// Waits until a process uses next to no processor time.
async fn comes_to_rest(id: u32) -> Result<()> {
    let began = Instant::now();
    loop {
        let before = processor_time(id)?;
        tokio::time::sleep(Duration::from_millis(300)).await;
        if processor_time(id)? - before <= 2 {
            return Ok(());
        }
        ensure!(began.elapsed() < SOON, "it computes on");
    }
}

#[tokio::test]
async fn a_tool_of_an_extension_answers_with_text_and_structured_content() -> Result<()> {
    let product = product!()?;
    product.install_built("repo-map")?;
    product.run(&["ext", "allow", "repo-map", "--yes"]).await?.with_code(0);
    std::fs::write(product.workspace().join("lib.rs"), "pub fn answer() -> u32 { 42 }\n")?;
    let mut client = McpClient::open(&product, &[]).await?;
    let listed = client.ask("tools/list", json!({})).await?;
    let tool = &listed["result"]["tools"][0];
    assert_eq!((&tool["name"], &tool["inputSchema"]["type"]), (&json!("repo_map"), &json!("object")));
    assert!(
        tool["title"].is_string() && tool["inputSchema"]["properties"]["max_bytes"].is_object(),
        "{tool}"
    );
    assert_eq!(tool["annotations"], json!({"readOnlyHint": true, "openWorldHint": false}));
    let result = client.call("repo_map", json!({})).await?;
    assert_eq!(result["isError"], false);
    assert!(
        result["content"][0]["text"].as_str().is_some_and(|text| text.contains("pub fn answer")),
        "{result}"
    );
    // Arguments are validated by the host, with the path of what is wrong.
    let wrong = client.call("repo_map", json!({"depth": "deep"})).await?;
    assert_eq!(wrong["isError"], true);
    assert!(wrong["content"][0]["text"].as_str().is_some_and(|text| text.contains("depth")), "{wrong}");
    let finished = client.finish().await?.with_code(0);
    assert_eq!(finished.stdout, "");
    Ok(())
}

#[tokio::test]
async fn gates_block_and_rewrite_calls_of_other_programs() -> Result<()> {
    let product = product!()?;
    product.install_built("repo-map")?;
    product.install_built("default-arguments")?;
    for name in ["repo-map", "default-arguments"] {
        product.run(&["ext", "allow", name, "--yes"]).await?.with_code(0);
    }
    product.install_built("command-guard")?;
    product.configure("[extension.default-arguments.tools.repo_map]\nmax_bytes = 1000\n")?;
    for n in 0..60 {
        std::fs::write(
            product.workspace().join(format!("file{n}.rs")),
            format!("pub fn with_a_long_name_{n}() {{}}\n"),
        )?;
    }
    let arguments = ["--builtin", "bash", "--permissions", "all"];
    let mut client = McpClient::open(&product, &arguments).await?;
    // The command works as long as nobody minds.
    let ran = client.call("bash", json!({"command": "echo fine"})).await?;
    assert_eq!(ran["isError"], false, "{ran}");
    let blocked = client.call("bash", json!({"command": "rm -rf /"})).await?;
    assert_eq!(blocked["isError"], true, "{blocked}");
    client.says("denied bash: ").await?;
    client.says("(hook command-guard; to go on without it: capstan ext revoke command-guard)").await?;
    let told = client.take(|line| line["method"] == "notifications/message").await?;
    assert_eq!((&told["params"]["level"], &told["params"]["logger"]), (&json!("warning"), &json!("capstan")));
    // A question is a denial: a model sits behind the client.
    let asked = client.call("bash", json!({"command": "git reset --hard"})).await?;
    assert_eq!(asked["isError"], true, "{asked}");
    client.says("nobody to ask").await?;
    let map = client.call("repo_map", json!({})).await?;
    let text = map["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.len() < 1500, "default-arguments did not rewrite the call: {} bytes", text.len());
    client.finish().await?.with_code(0);
    let explained = product.run(&["ext", "explain", "--last"]).await?.with_code(0);
    assert!(
        explained.stdout.contains("command-guard") && explained.stdout.contains("max_bytes"),
        "{}",
        explained.stdout
    );
    Ok(())
}

#[tokio::test]
async fn built_in_tools_are_offered_when_they_are_named_and_denied_beyond_the_permissions() -> Result<()> {
    let product = product!()?;
    std::fs::write(product.workspace().join("note.txt"), "a note\n")?;
    let mut client = McpClient::open(&product, &[]).await?;
    assert_eq!(client.tools().await?, Vec::<String>::new());
    let unknown =
        client.ask("tools/call", json!({"name": "read", "arguments": {"path": "note.txt"}})).await?;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    client.finish().await?.with_code(0);

    let mut client = McpClient::open(&product, &["--builtin", "read,write,bash"]).await?;
    assert_eq!(client.tools().await?, ["bash", "read", "write"]);
    let listed = client.ask("tools/list", json!({})).await?;
    for tool in listed["result"]["tools"].as_array().into_iter().flatten() {
        assert_eq!(tool["annotations"]["readOnlyHint"], tool["name"] == "read", "{tool}");
    }
    let read = client.call("read", json!({"path": "note.txt"})).await?;
    assert!(read["content"][0]["text"].as_str().is_some_and(|text| text.contains("a note")), "{read}");
    let denied = client.call("write", json!({"path": "new.txt", "content": "x"})).await?;
    assert!(
        denied["content"][0]["text"].as_str().is_some_and(|text| text.contains("--permissions workspace")),
        "{denied}"
    );
    assert!(!product.workspace().join("new.txt").exists());
    client.says("denied write: Permission denied").await?;
    client.finish().await?.with_code(0);

    // `ask` has nobody to ask, `workspace` allows it.
    for (mode, works) in [("ask", false), ("workspace", true)] {
        let arguments = ["--builtin", "write", "--permissions", mode];
        let mut client = McpClient::open(&product, &arguments).await?;
        let written = client.call("write", json!({"path": "new.txt", "content": "x"})).await?;
        assert_eq!(written["isError"], !works, "{mode}: {written}");
        assert_eq!(product.workspace().join("new.txt").exists(), works, "{mode}");
        client.finish().await?.with_code(0);
    }
    Ok(())
}

#[tokio::test]
async fn what_waits_for_its_grant_is_denied_by_name_until_the_user_gives_it() -> Result<()> {
    let product = product!()?;
    product.install_built("repo-map")?;
    let mut client = McpClient::open(&product, &[]).await?;
    assert_eq!(client.tools().await?, Vec::<String>::new());
    let denied = client.call("repo_map", json!({})).await?;
    assert_eq!(denied["isError"], true);
    assert!(
        denied["content"][0]["text"].as_str().is_some_and(|text| text.contains("capstan ext allow repo-map")),
        "{denied}"
    );
    client.says("denied repo_map: ").await?;
    product.run(&["ext", "allow", "repo-map", "--yes"]).await?.with_code(0);
    client.take(|line| line["method"] == "notifications/tools/list_changed").await?;
    assert_eq!(client.tools().await?, ["repo_map"]);
    assert_eq!(client.call("repo_map", json!({})).await?["isError"], false);
    product.run(&["ext", "revoke", "repo-map"]).await?.with_code(0);
    client.take(|line| line["method"] == "notifications/tools/list_changed").await?;
    assert_eq!(client.call("repo_map", json!({})).await?["isError"], true);
    client.finish().await?.with_code(0);
    Ok(())
}

#[tokio::test]
async fn progress_comes_before_the_result_and_a_spinning_guest_stops_when_cancelled() -> Result<()> {
    let product = with_probe().await?;
    let mut client = McpClient::open(&product, &[]).await?;
    let steps = json!({"steps": [{"try": "progress", "text": "half of it"}]});
    let params = json!({"name": "probe", "arguments": steps, "_meta": {"progressToken": 7}});
    let id = client.begin("tools/call", params).await?;
    let first = client.take(|_| true).await?;
    assert_eq!(first["method"], "notifications/progress");
    assert_eq!(first["params"], json!({"progressToken": 7, "progress": 1.0, "message": "half of it"}));
    assert_eq!(client.answer(id).await?["result"]["isError"], false);

    let steps = json!({"steps": [{"try": "progress", "text": "spinning"}, {"try": "spin"}]});
    let params = json!({"name": "probe", "arguments": steps, "_meta": {"progressToken": "spin"}});
    let id = client.begin("tools/call", params).await?;
    client.take(|line| line["params"]["progressToken"] == "spin").await?;
    client.tell("notifications/cancelled", json!({"requestId": id, "reason": "enough"})).await?;
    // In far less than its time limit nothing computes any more.
    comes_to_rest(client.id().context("it runs")?).await?;
    let steps = json!({"steps": [{"try": "arguments"}]});
    assert_eq!(client.call("probe", steps).await?["isError"], false);
    let finished = client.finish().await?.with_code(0);
    assert!(
        !finished.stdout.contains(&format!("\"id\":{id},")),
        "a cancelled call is not answered: {}",
        finished.stdout
    );
    Ok(())
}

#[tokio::test]
async fn a_hundred_calls_at_once_are_answered_each_with_its_own() -> Result<()> {
    let product = with_probe().await?;
    product.install(&greeter("greeter", "greet", "hello"))?;
    let mut client = McpClient::open(&product, &[]).await?;
    let mut ids = Vec::new();
    for n in 0..100 {
        let params = match n % 2 {
            0 => json!({"name": "greet", "arguments": {}}),
            _ => json!({"name": "probe", "arguments": {"steps": [{"try": "config"}]}}),
        };
        ids.push(client.begin("tools/call", params).await?);
    }
    for (n, id) in ids.into_iter().enumerate() {
        let text = client.answer(id).await?["result"]["content"][0]["text"].clone();
        assert_eq!(text == "hello", n % 2 == 0, "{n}: {text}");
    }
    client.finish().await?.with_code(0);
    Ok(())
}

#[tokio::test]
async fn garbage_does_not_end_the_server() -> Result<()> {
    let product = product!()?;
    product.install(&greeter("greeter", "greet", "hello"))?;
    let mut client = McpClient::open(&product, &[]).await?;
    client.send(b"\xff\xfe no json\n{\"jsonrpc\":\n[1,2]\nnull\n").await?;
    for _ in 0..4 {
        client.take(|line| line["error"].is_object() && line["id"].is_null()).await?;
    }
    // A hundred megabytes in one line: refused, and not kept.
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        client.send(&piece).await?;
    }
    client.send(b"\n").await?;
    let refused = client.take(|line| line["error"].is_object()).await?;
    assert_eq!(refused["error"]["code"], -32600);
    assert_eq!(client.call("greet", json!({})).await?["content"][0]["text"], "hello");
    let unknown = client.ask("tools/call", json!({"name": "nothing", "arguments": {}})).await?;
    assert_eq!(unknown["error"]["code"], -32602);
    client.finish().await?.with_code(0);
    Ok(())
}

#[tokio::test]
async fn the_end_of_stdin_and_signals_end_the_server_with_its_calls() -> Result<()> {
    let product = with_probe().await?;
    for (signal, code) in [(None, 0), (Some("TERM"), 143), (Some("INT"), 130)] {
        let mut client = McpClient::open(&product, &[]).await?;
        let steps = json!({"steps": [{"try": "progress", "text": "spinning"}, {"try": "spin"}]});
        client
            .begin("tools/call", json!({"name": "probe", "arguments": steps, "_meta": {"progressToken": 1}}))
            .await?;
        client.take(|line| line["method"] == "notifications/progress").await?;
        let told = Instant::now();
        match signal {
            Some(name) => client.signal(name).await?,
            None => client.close(),
        }
        client.ended().await?.with_code(code);
        assert!(told.elapsed() < SOON + Duration::from_secs(5), "{signal:?}: {:?}", told.elapsed());
    }
    Ok(())
}

#[tokio::test]
async fn a_gate_that_fails_keeps_calls_of_other_programs_closed() -> Result<()> {
    let product = product!()?;
    product.install(&greeter("greeter", "greet", "hello"))?;
    let mut client = McpClient::open(&product, &[]).await?;
    assert_eq!(client.call("greet", json!({})).await?["isError"], false);
    product.install(&Guest::new("trap").gate(&["greet"], "unreachable"))?;
    client.says("+ trap").await?;
    for _ in 0..2 {
        let denied = client.call("greet", json!({})).await?;
        assert_eq!(denied["isError"], true, "{denied}");
        assert!(denied["content"][0]["text"].as_str().is_some_and(|text| text.contains("trap")), "{denied}");
    }
    client.finish().await?.with_code(0);
    Ok(())
}
