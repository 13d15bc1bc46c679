//! `extensions/todo` in a session and from the prompt. Left out, with a line that says so, where there is no npm to build it.

use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::node;
use capstan_tests::product;
use capstan_tests::product::Product;
use capstan_tests::terminal::{Key, Terminal};
use serde_json::json;

const PROMPT: &str = "> ";

/// Whether it could be built on this machine.
fn is_installed(product: &Product) -> Result<bool> {
    if !node::is_usable() {
        eprintln!("left out: todo is built from TypeScript, and there is no Node.js 20 with npm");
        return Ok(false);
    }
    product.install_built("todo")?;
    Ok(true)
}

fn add(items: &[&str]) -> Answer {
    Answer::call("todo", json!({ "action": "add", "items": items }))
}

#[tokio::test]
async fn the_model_and_the_person_keep_one_list_over_sessions() -> Result<()> {
    let done = Answer::call("todo", json!({ "action": "done", "ids": [1] }));
    let server =
        ScriptedServer::play([add(&["look", "act"]), Answer::text("noted"), done, Answer::text("did")])
            .await?;
    let product = product!()?.with_openai(&server.base_url());
    if !is_installed(&product)? {
        return Ok(());
    }
    product.run(&["ext", "allow", "todo", "--yes"]).await?.with_code(0);
    product.run(&["-p", "plan it", "--no-session"]).await?.with_code(0);
    let results = Conversation::of(server.requests().last().context("no request")?).last_result()?;
    assert_eq!(results, "2 open, 0 done\n[ ] 1 look\n[ ] 2 act");

    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    for (line, answer) in [
        ("/todo add drink tea", "[ ] 3 drink tea"),
        ("/todo done it", "/todo failed: `it` is no number of an item"),
        ("/help", "Shows the list of things to do"),
        ("mark it", "did"),
        ("/todo", "2 open, 1 done"),
    ] {
        terminal.type_line(line)?;
        // The terminal echoes the line first.
        terminal.wait_for("\n").await?;
        terminal.wait_for(answer).await?;
        terminal.wait_for(PROMPT).await?;
    }
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    Ok(())
}

#[tokio::test]
async fn without_the_grant_the_model_reads_what_is_missing_and_nothing_is_kept() -> Result<()> {
    let server = ScriptedServer::play([add(&["look"]), Answer::text("a pity")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    if !is_installed(&product)? {
        return Ok(());
    }
    product.run(&["-p", "plan it"]).await?.with_code(0);
    let requests = server.requests();
    let last = Conversation::of(requests.last().context("no request")?);
    // Waiting for the user's decision, it is not even offered.
    assert!(last.tools().iter().all(|(name, _, _)| *name != "todo"), "{:?}", last.tools());
    assert!(!last.last_result()?.contains("1 open"));
    Ok(())
}
