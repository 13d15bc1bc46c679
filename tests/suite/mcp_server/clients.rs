//! Clients that others wrote: the protocol's official SDKs for Rust and Python, and its inspector.
//!
//! Those that are not installed are left out, with a line that says so.

use super::http::Server;
use super::with_probe;
use anyhow::{Context, Result};
use capstan_tests::product::Product;
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A program below `target/mcp-peers`. `None` where it is not installed, which is said.
fn peer(below: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/mcp-peers").join(below);
    let is_there = path.is_file();
    if !is_there {
        eprintln!(
            "left out: {below} is not installed; `cargo xtask peers` installs it where npm and python3 are"
        );
    }
    is_there.then_some(path)
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is no text")
}

#[tokio::test]
async fn the_sdk_for_rust_lists_and_calls() -> Result<()> {
    let product = with_probe().await?;
    let transport = TokioChildProcess::new(product.command(&["mcp", "serve"]))?;
    let client = ().serve(transport).await?;
    let tools = client.list_all_tools().await?;
    assert_eq!(tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), ["probe"]);
    let arguments = json!({"steps": [{"try": "arguments"}]}).as_object().cloned().unwrap_or_default();
    let called = client.call_tool(CallToolRequestParams::new("probe").with_arguments(arguments)).await?;
    assert_eq!(called.is_error, Some(false), "{called:?}");
    client.cancel().await?;
    Ok(())
}

/// What the script says came of everything that it tried.
async fn python(product: &Product, arguments: &[&str]) -> Result<Option<Value>> {
    let Some(python) = peer("python/bin/python") else { return Ok(None) };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp/client.py");
    let all: Vec<_> = [text(&script)?].into_iter().chain(arguments.iter().copied()).collect();
    product.run_other(&python, &all).await?.with_code(0).json().map(Some)
}

fn all_is_well(came: &Value, revision: &str) {
    assert_eq!(came["revision"], revision, "{came}");
    assert_eq!((&came["server"], &came["tools"]), (&json!("capstan"), &json!(["probe"])), "{came}");
    assert_eq!(came["call"], json!({"is_error": false, "text": r#"[{"ok":null},{"ok":[]}]"#}), "{came}");
    assert_eq!(came["reports"], json!([[1.0, "half of it"]]), "{came}");
    assert_eq!((&came["cancelled"], &came["after"]), (&json!(true), &json!(false)), "{came}");
}

#[tokio::test]
async fn the_sdk_for_python_lists_calls_hears_of_progress_and_cancels_over_stdio() -> Result<()> {
    let product = with_probe().await?;
    for (mode, revision) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let Some(came) = python(&product, &[mode, product.program()?, "mcp", "serve"]).await? else { break };
        all_is_well(&came, revision);
    }
    Ok(())
}

#[tokio::test]
async fn the_sdk_for_python_lists_calls_hears_of_progress_and_cancels_over_http() -> Result<()> {
    let product = with_probe().await?;
    let server = Server::start(&product, &[]).await?;
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    for (mode, revision) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let Some(came) = python(&product, &[mode, &url, &server.token]).await? else { break };
        all_is_well(&came, revision);
    }
    server.running.kill().await
}

#[tokio::test]
async fn the_inspector_finds_nothing_to_object_to_and_calls() -> Result<()> {
    let Some(inspector) = peer("inspector/node_modules/.bin/mcp-inspector") else { return Ok(()) };
    let product = with_probe().await?;
    let server = Server::start(&product, &[]).await?;
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let shown = format!("Authorization: Bearer {}", server.token);
    let usual = ["--cli", "--format", "json", "--quiet"];
    let http = ["--transport", "http", "--server-url", &url, "--header", &shown];
    let home = format!("CAPSTAN_HOME={}", product.home().display());
    let stdio = ["-e", &home, product.program()?, "mcp", "serve"];
    let list = ["--strict", "--method", "tools/list"];
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "probe",
        "--tool-args-json",
        r#"{"steps":[{"try":"arguments"}]}"#,
    ];
    for era in ["legacy", "modern"] {
        for target in [&http[..], &stdio[..]] {
            let run = async |asked: &[&str]| {
                let parts = [&usual[..], &["--protocol-era", era], asked, target];
                let finished = product.run_other(&inspector, &parts.concat()).await?;
                finished.with_code(0).json()
            };
            let listed = run(&list).await?;
            assert_eq!(listed["result"]["tools"][0]["name"], "probe", "{era}: {listed}");
            let called = run(&call).await?;
            assert_eq!(called["result"]["content"][0]["text"], r#"[{"ok":[]}]"#, "{era}: {called}");
        }
    }
    server.running.kill().await
}
