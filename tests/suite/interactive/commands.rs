//! Slash commands about the session that is there.

use super::{PROMPT, leave, say};
use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::guest::{Guest, Request};
use capstan_tests::product;
use capstan_tests::product::Product;
use capstan_tests::terminal::Terminal;
use serde_json::{Value, json};
use std::sync::Arc;

/// A product with two models at one server, and a terminal that waits for a line.
async fn at_the_prompt(arguments: &[&str]) -> Result<(ScriptedServer, Product, Terminal)> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure(&format!(
        "[provider.second]\napi = \"openai-completions\"\nbase_url = \"{}\"\n[provider.second.models.other]\n",
        server.base_url()
    ))?;
    let mut terminal = Terminal::start(&product, arguments)?;
    terminal.wait_for(PROMPT).await?;
    Ok((server, product, terminal))
}

fn of_type<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

#[tokio::test]
async fn help_lists_the_own_commands_and_quit_leaves() -> Result<()> {
    let (_server, _product, mut terminal) = at_the_prompt(&[]).await?;
    let shown = say(&mut terminal, "/help", "message that begins with /;").await?;
    for command in ["/session", "/model [PROVIDER/MODEL]", "/tree", "/compact", "!COMMAND"] {
        assert!(shown.contains(command), "{command}: {shown:?}");
    }
    let shown = say(&mut terminal, "/nonsense", "there is no command /nonsense").await?;
    assert!(!shown.contains("panicked"), "{shown:?}");
    terminal.type_line("/quit")?;
    assert_eq!(terminal.end().await?.0, 0);
    Ok(())
}

// 001-067 in the whole product
#[tokio::test]
async fn another_model_answers_from_then_on_and_both_choices_are_on_record() -> Result<()> {
    let (server, product, mut terminal) = at_the_prompt(&[]).await?;
    let shown = say(&mut terminal, "/model", "any other: /model").await?;
    assert!(shown.contains("* openai/test-model") && shown.contains("second/other"), "{shown:?}");
    say(&mut terminal, "/model nowhere/x", "there is no provider nowhere").await?;
    say(&mut terminal, "/model other", "second/other answers from now on").await?;
    say(&mut terminal, "/thinking", "now: off").await?;
    say(&mut terminal, "/thinking much", "there is no thinking level much").await?;
    say(&mut terminal, "/thinking high", "thinking is high").await?;
    say(&mut terminal, "hello", "fine").await?;
    leave(terminal).await?;
    assert_eq!(server.requests()[0].body["model"], "other");
    let lines = product.session()?;
    let change = of_type(&lines, "model_change").pop().context("no model change")?;
    assert_eq!((&change["provider"], &change["modelId"]), (&json!("second"), &json!("other")));
    let change = of_type(&lines, "thinking_level_change").pop().context("no change of thinking")?;
    assert_eq!(change["thinkingLevel"], "high");
    Ok(())
}

#[tokio::test]
async fn a_session_is_named_looked_at_and_bookmarked() -> Result<()> {
    let (_server, product, mut terminal) = at_the_prompt(&[]).await?;
    say(&mut terminal, "hello", "fine").await?;
    say(&mut terminal, "/name  The  first", "this session is The first").await?;
    let shown = say(&mut terminal, "/session", "tokens").await?;
    let file = product.session_files()?.remove(0);
    for part in ["The first", "openai/test-model", "1 of yours, 1 answers", &file.to_string_lossy()] {
        assert!(shown.contains(part), "{part}: {shown:?}");
    }
    let lines = product.session()?;
    let prompt = lines.iter().find(|line| line["message"]["role"] == "user").context("no prompt")?;
    let id = prompt["id"].as_str().context("no id")?.to_owned();
    say(&mut terminal, &format!("/label {id} begin here"), "is bookmarked as begin here").await?;
    let shown = say(&mut terminal, "/tree", "→").await?;
    assert!(shown.contains("[begin here]") && shown.contains("user: hello"), "{shown:?}");
    say(&mut terminal, "/label nowhere x", "has no entry nowhere").await?;
    say(&mut terminal, &format!("/label {id}"), "has no bookmark now").await?;
    say(&mut terminal, "/name", "has no name now").await?;
    leave(terminal).await?;
    let lines = product.session()?;
    assert_eq!(of_type(&lines, "session_info")[0]["name"], "The first");
    assert_eq!(of_type(&lines, "label")[0]["label"], "begin here");
    Ok(())
}

#[tokio::test]
async fn extensions_are_shown_with_their_state() -> Result<()> {
    let (greeter, body) = Guest::new("greeter").text_result("hello");
    let (reader, other) = Guest::new("reader").text_result("peeked");
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &["--no-session"])?;
    terminal.wait_for(PROMPT).await?;
    say(&mut terminal, "/ext", "There are no extensions").await?;
    leave(terminal).await?;
    product.install(&greeter.tool("greet", &body))?;
    product.install(&reader.tool("peek", &other).request(Request::Directory(".".to_owned())))?;
    let mut terminal = Terminal::start(&product, &["--no-session"])?;
    terminal.wait_for("Allow this? [y/N] ").await?;
    terminal.type_line("n")?;
    terminal.wait_for("Ctrl-D").await?;
    terminal.wait_for(PROMPT).await?;
    let shown = say(&mut terminal, "/ext", "reader").await?;
    assert!(shown.contains("greeter") && shown.contains("active"), "{shown:?}");
    assert!(shown.contains("capstan ext allow reader"), "{shown:?}");
    leave(terminal).await
}
