//! What is on offer, as it changes.

use super::greeter;
use anyhow::Result;
use capstan_tests::guest::Request;
use capstan_tests::mcp_client::McpClient;
use capstan_tests::product;
use serde_json::json;

#[tokio::test]
async fn a_component_that_is_dropped_into_the_folder_is_on_offer_at_once() -> Result<()> {
    let product = product!()?;
    product.install(&greeter("first", "greet", "hello"))?;
    let mut client = McpClient::open(&product, &[]).await?;
    assert_eq!(client.tools().await?, ["greet"]);
    product.install(&greeter("second", "leave", "goodbye"))?;
    client.take(|line| line["method"] == "notifications/tools/list_changed").await?;
    assert_eq!(client.tools().await?, ["greet", "leave"]);
    assert_eq!(client.call("leave", json!({})).await?["content"][0]["text"], "goodbye");
    // Something else under the same name: the list is the same, the tool is not.
    product.install(&greeter("second", "leave", "farewell"))?;
    client.says("~ second").await?;
    assert_eq!(client.call("leave", json!({})).await?["content"][0]["text"], "farewell");
    std::fs::remove_file(product.extensions().join("second.wasm"))?;
    client.take(|line| line["method"] == "notifications/tools/list_changed").await?;
    assert_eq!(client.tools().await?, ["greet"]);
    client.finish().await?.with_code(0);
    Ok(())
}

#[tokio::test]
async fn nothing_but_the_protocol_is_on_stdout_and_a_session_is_not_kept() -> Result<()> {
    let product = product!()?;
    product.install_built("repo-map")?;
    product.install_bytes("broken.wasm", b"no component")?;
    let client = McpClient::open(&product, &[]).await?;
    let finished = client.finish().await?.with_code(0);
    assert_eq!(finished.stdout, "");
    // What is not in force is said where people look.
    assert!(finished.stderr.contains("capstan ext allow repo-map"), "{}", finished.stderr);
    assert!(finished.stderr.contains("broken.wasm"), "{}", finished.stderr);
    assert!(finished.stderr.contains("no tools are on offer"), "{}", finished.stderr);
    assert_eq!(product.session_files()?, Vec::<std::path::PathBuf>::new());
    Ok(())
}

#[tokio::test]
async fn requests_in_a_pipe_are_answered_before_the_end() -> Result<()> {
    let product = product!()?;
    product.install(&greeter("greeter", "greet", "hello"))?;
    let about = json!({"name": "pipe", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "greet", "arguments": {}}}),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let finished = product.run_with(&["mcp", "serve"], &input).await?.with_code(0);
    let answers = finished.json_lines()?;
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "capstan");
    assert_eq!(answers[1]["result"]["content"][0]["text"], "hello");
    Ok(())
}

#[tokio::test]
async fn hints_follow_from_grants_and_not_from_what_a_component_says() -> Result<()> {
    let product = product!()?;
    let reader = greeter("reader", "look", "seen").request(Request::Directory(".".to_owned()));
    let keeper = greeter("keeper", "keep", "kept").request(Request::KeyValue(1000));
    let fetcher =
        greeter("fetcher", "fetch", "here").request(Request::Http("https://example.com".to_owned()));
    for guest in [&reader, &keeper, &fetcher] {
        product.install(guest)?;
        product.run(&["ext", "allow", &guest.id, "--yes"]).await?.with_code(0);
    }
    let mut client = McpClient::open(&product, &[]).await?;
    let listed = client.ask("tools/list", json!({})).await?;
    let tools = listed["result"]["tools"].as_array().cloned().unwrap_or_default();
    assert_eq!(tools.len(), 3, "{listed}");
    for tool in tools {
        let hints = match tool["name"].as_str() {
            Some("fetch") => json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true}),
            _ => json!({"readOnlyHint": true, "openWorldHint": false}),
        };
        assert_eq!(tool["annotations"], hints, "{tool}");
    }
    client.finish().await?.with_code(0);
    let probe = super::with_probe().await?;
    let mut client = McpClient::open(&probe, &[]).await?;
    let listed = client.ask("tools/list", json!({})).await?;
    let hints = json!({"readOnlyHint": false, "destructiveHint": true, "openWorldHint": false});
    assert_eq!(listed["result"]["tools"][0]["annotations"], hints);
    client.finish().await?.with_code(0);
    Ok(())
}
