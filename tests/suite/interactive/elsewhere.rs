//! Going on with other sessions, from the start and from within one.

use super::{PROMPT, leave, say};
use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::Product;
use capstan_tests::terminal::Terminal;
use std::sync::Arc;

/// What the list of sessions asks.
const WHICH: &str = "nothing: none) ";

async fn obliging() -> Result<(ScriptedServer, Product)> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    Ok((server, product))
}

/// What the user said in the last request.
fn last_said(server: &ScriptedServer) -> Result<Vec<String>> {
    Ok(Conversation::of(server.requests().last().context("no request")?).said())
}

// 001-145
#[tokio::test]
async fn resume_without_a_session_offers_those_of_the_directory() -> Result<()> {
    let (server, product) = obliging().await?;
    for prompt in ["plant a tree", "water the garden", "paint a tree"] {
        product.run(&["-p", prompt]).await?.with_code(0);
    }
    let mut terminal = Terminal::start(&product, &["--resume"])?;
    let shown = terminal.wait_for(WHICH).await?;
    let at = |text| shown.find(text).unwrap_or(usize::MAX);
    assert!(at("paint a tree") < at("plant a tree"), "the latest first: {shown:?}");
    assert!(shown.contains("2 messages"), "{shown:?}");
    terminal.type_line("tree")?;
    let shown = terminal.wait_for(WHICH).await?;
    assert!(shown.contains("plant") && shown.contains("paint") && !shown.contains("water"), "{shown:?}");
    terminal.type_line("PLANT")?;
    terminal.wait_for("fine").await?;
    terminal.wait_for(PROMPT).await?;
    say(&mut terminal, "and now?", "fine").await?;
    leave(terminal).await?;
    assert_eq!(last_said(&server)?, ["plant a tree", "and now?"]);

    let mut terminal = Terminal::start(&product, &["-r"])?;
    terminal.wait_for(WHICH).await?;
    terminal.type_line("")?;
    assert_eq!(terminal.end().await?.0, 0, "who chooses none has nothing to go on with");
    let nobody = product.run(&["--resume"]).await?.with_code(1);
    assert!(nobody.stderr.contains("capstan session list"), "{}", nobody.stderr);
    assert_eq!(product.session_files()?.len(), 3, "nothing was begun meanwhile");
    Ok(())
}

// 001-145, 001-158
#[tokio::test]
async fn a_session_gives_way_to_a_new_one_another_one_and_parts_of_itself() -> Result<()> {
    let (server, product) = obliging().await?;
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    say(&mut terminal, "first", "fine").await?;
    say(&mut terminal, "second", "fine").await?;
    let file = product.session_files()?.remove(0);
    let before = std::fs::read_to_string(&file)?;

    say(&mut terminal, "/new", "0 messages").await?;
    say(&mut terminal, "other", "fine").await?;
    assert_eq!(last_said(&server)?, ["other"]);

    terminal.type_line("/resume")?;
    let shown = terminal.wait_for(WHICH).await?;
    assert!(shown.contains("first") && !shown.contains("other"), "{shown:?}");
    say(&mut terminal, "1", "4 messages").await?;

    // The text of the prompt comes back to be changed.
    terminal.type_line("/fork")?;
    let shown = terminal.wait_for(WHICH).await?;
    assert!(shown.contains("first") && shown.contains("second"), "{shown:?}");
    terminal.type_line("second")?;
    terminal.wait_for("2 messages").await?;
    terminal.wait_for("> second").await?;
    say(&mut terminal, " thought", "fine").await?;
    assert_eq!(last_said(&server)?, ["first", "second thought"]);

    say(&mut terminal, "/clone", "4 messages").await?;
    say(&mut terminal, "in the clone", "fine").await?;
    assert_eq!(last_said(&server)?, ["first", "second thought", "in the clone"]);
    leave(terminal).await?;
    assert_eq!(std::fs::read_to_string(&file)?, before, "the first session is as it was");
    assert_eq!(product.session_files()?.len(), 4);
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_gone_on_with_leaves_the_session_as_it_is() -> Result<()> {
    let (server, product) = obliging().await?;
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    say(&mut terminal, "/resume", "there is no other session").await?;
    say(&mut terminal, "/resume nowhere", "nowhere").await?;
    say(&mut terminal, "/fork", "nothing was said yet").await?;
    say(&mut terminal, "/fork nowhere", "has no entry nowhere").await?;
    say(&mut terminal, "still here", "fine").await?;
    leave(terminal).await?;
    assert_eq!(last_said(&server)?, ["still here"]);
    assert_eq!(product.session_files()?.len(), 1);
    Ok(())
}
