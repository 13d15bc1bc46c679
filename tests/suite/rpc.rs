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
use capstan_provider::scripted::server::{RecordedRequest, ScriptedServer};
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::Product;
use capstan_tests::rpc_client::RpcClient;
use serde_json::{Value, json};
use std::sync::Arc;

/// What a model says that repeats what it was told last. Of a long text it only tells the length: every update of an answer
/// holds the answer so far, so a long one takes its time.
fn echo(request: &RecordedRequest) -> Answer {
    let said = Conversation::of(request).said().pop().unwrap_or_default();
    match said.chars().count() {
        0..1000 => Answer::text(format!("you said {said}")),
        n => Answer::text(format!("you said {n} characters")),
    }
}

/// Such a model, and a product that asks it.
async fn echoing() -> Result<(ScriptedServer, Product)> {
    let server = ScriptedServer::start(Arc::new(|_, request| echo(request))).await?;
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
