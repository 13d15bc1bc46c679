//! `output-trimmer`: what the model reads of a test run.

use super::grant;
use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::Product;
use serde_json::json;
use std::path::{Path, PathBuf};

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/output-trimmer").join(name)
}

/// Lets the model run a script that prints a recorded test run and fails as it did. Answers what the model reads.
async fn run(product: &Product, server: &ScriptedServer) -> Result<String> {
    std::fs::copy(corpus("cargo-test-failing.txt"), product.workspace().join("recorded"))?;
    std::fs::write(product.workspace().join("check.sh"), "cat recorded\nexit 101\n")?;
    product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    Conversation::of(server.requests().last().context("it asked")?).last_result()
}

async fn server(command: &str) -> Result<ScriptedServer> {
    Ok(ScriptedServer::play([Answer::call("bash", json!({ "command": command })), Answer::text("done")])
        .await?)
}

#[tokio::test]
async fn passing_tests_are_left_out_and_each_line_that_matters_is_there() -> Result<()> {
    let server = server("sh check.sh").await?;
    let product = product!()?.with_openai(&server.base_url());
    grant(&product, "output-trimmer").await?;
    let result = run(&product, &server).await?;
    let recorded = std::fs::read_to_string(corpus("cargo-test-failing.txt"))?;
    assert!(result.len() * 3 < recorded.len() * 2, "{} of {}: {result}", result.len(), recorded.len());
    let expected = std::fs::read_to_string(corpus("cargo-test-failing.keep"))?;
    let (_, keep) = expected.split_once("---\n").context("it has two parts")?;
    for line in keep.lines() {
        assert!(result.contains(line), "{line} is missing in\n{result}");
    }
    assert!(result.contains("lines of passing tests left out]"), "{result}");
    // The session has the counts, which the model never sees.
    let session = product.session()?;
    let details = session
        .iter()
        .map(|entry| &entry["message"]["details"])
        .find(|details| details["trimmed"].is_object());
    let details = details.context("no entry has them")?;
    assert_eq!(details["exitCode"], 101);
    assert!(details["trimmed"]["linesLeftOut"]["passing tests"].as_u64() > Some(30), "{details}");
    assert!(!result.contains("linesLeftOut"));
    Ok(())
}

#[tokio::test]
async fn the_model_gets_everything_if_it_asks_and_if_the_extension_is_off() -> Result<()> {
    for (command, is_granted) in [("sh check.sh # full", true), ("sh check.sh", false)] {
        let server = server(command).await?;
        let product = product!()?.with_openai(&server.base_url());
        if is_granted {
            grant(&product, "output-trimmer").await?;
        } else {
            product.install_built("output-trimmer")?;
        }
        let result = run(&product, &server).await?;
        assert_eq!(result.matches("... ok").count(), 43, "{command}: {result}");
    }
    Ok(())
}
