//! `capstan --mode rpc`, driven as another program drives it: over its stdin and stdout.

mod compaction;
mod extensions;
mod framing;
mod python;
mod questions;
mod runs;
mod sessions;
mod settings;
mod shell;

use anyhow::Result;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::Product;
use capstan_tests::rpc_client::RpcClient;
use serde_json::{Value, json};
use std::sync::Arc;

/// A model that says what it was told last, and a product that asks it.
async fn echoing() -> Result<(ScriptedServer, Product)> {
    let server = ScriptedServer::start(Arc::new(|_, request| {
        Answer::text(format!("you said {}", Conversation::of(request).said().last().cloned().unwrap_or_default()))
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    Ok((server, product))
}

/// Sends a prompt and waits for the end of its run.
async fn prompt(client: &mut RpcClient, text: &str) -> Result<Value> {
    client.done(json!({"type": "prompt", "message": text})).await?;
    client.event("agent_end").await
}

fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|line| line["type"].as_str()).collect()
}
