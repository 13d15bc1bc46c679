//! What keys do at the prompt and during a turn.

use super::{PROMPT, QUESTION};
use anyhow::Result;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::{SOON, appears};
use capstan_tests::terminal::{Key, Terminal};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is said at the first Ctrl-C on an empty line.
const AGAIN: &str = "press Ctrl-C again or Ctrl-D to leave";

/// A server that answers everything alike.
async fn obliging() -> Result<ScriptedServer> {
    Ok(ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?)
}

// 001-139
#[tokio::test]
async fn an_interrupt_clears_a_line_and_two_on_an_empty_one_leave_with_0() -> Result<()> {
    let server = obliging().await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_text("half of a tho")?;
    terminal.wait_for("tho").await?;
    terminal.press(Key::Interrupt)?;
    let shown = terminal.wait_for(PROMPT).await?;
    assert!(!shown.contains(AGAIN), "{shown:?}");
    terminal.press(Key::Interrupt)?;
    terminal.wait_for(AGAIN).await?;
    terminal.wait_for(PROMPT).await?;
    // Whatever else is done in between, it is asked again.
    terminal.type_line("/help")?;
    terminal.wait_for("/quit").await?;
    terminal.wait_for("message that begins with /;").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::Interrupt)?;
    terminal.wait_for(AGAIN).await?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::Interrupt)?;
    assert_eq!(terminal.end().await?.0, 0);
    assert!(server.requests().is_empty(), "what was thrown away is not sent");
    Ok(())
}

// 001-139, X8
#[tokio::test]
async fn whoever_presses_the_interrupt_again_and_again_leaves_and_the_session_goes_on() -> Result<()> {
    let stubborn = "trap '' TERM INT HUP; touch started; while true; do sleep 0.1; done";
    let server = ScriptedServer::start(Arc::new(move |n, _| match n {
        0 => Answer::call("bash", json!({"command": stubborn})),
        _ => Answer::text("fine"),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &["--permissions", "all"])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("go")?;
    appears(&product.workspace().join("started")).await?;
    let pressed = Instant::now();
    // Somebody who wants to leave and does not look at what each press does. Whether the abort takes long enough for a second
    // one to end it, or two at the prompt are needed, is a matter of luck.
    while !terminal.has_ended()? {
        terminal.press(Key::Interrupt)?;
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(pressed.elapsed() < SOON, "{:?}", pressed.elapsed());
    }
    let code = terminal.end().await?.0;
    assert!(code == 130 || code == 0, "{code}");
    product.run(&["-c", "-p", "on"]).await?.with_code(0);
    Conversation::of(&server.requests()[1]).check_pairs()
}

#[tokio::test]
async fn a_backslash_continues_a_line_and_what_is_pasted_stays_one_message() -> Result<()> {
    let server = obliging().await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("one \\")?;
    terminal.wait_for("… ").await?;
    terminal.type_line("two")?;
    terminal.wait_for("fine").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.paste("three\n  four \\\nfive")?;
    terminal.type_line("")?;
    terminal.wait_for("fine").await?;
    terminal.wait_for(PROMPT).await?;
    // A continuation that is given up is no message.
    terminal.type_line("never \\")?;
    terminal.wait_for("… ").await?;
    terminal.press(Key::Interrupt)?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    let requests = server.requests();
    let said = Conversation::of(&requests[1]).said();
    assert_eq!(said, ["one \ntwo", "three\n  four \\\nfive"]);
    assert_eq!(requests.len(), 2);
    Ok(())
}

#[tokio::test]
async fn tab_completes_commands_and_the_history_is_there_the_next_time() -> Result<()> {
    let server = obliging().await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &["--no-session"])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_text("/thi\t")?;
    terminal.wait_for("/thinking ").await?;
    terminal.type_line("high")?;
    terminal.wait_for("thinking is high").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    let mut terminal = Terminal::start(&product, &["--no-session"])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_text("\u{1b}[A")?;
    terminal.wait_for("/thinking high").await?;
    Ok(())
}

// What was typed while a turn ran comes afterwards, and is never the answer to a question that nobody had seen.
#[tokio::test]
async fn what_is_typed_ahead_is_the_next_prompt_and_no_answer_to_a_question() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|n, _| match n {
        0 => Answer::text("word ".repeat(20)).slowed_ms(100),
        1 => Answer::text("second"),
        2 => Answer::call("bash", json!({"command": "touch never"}))
            .with_text("thinking ".repeat(20))
            .slowed_ms(100),
        _ => Answer::text("denied"),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("first")?;
    terminal.wait_for("word").await?;
    terminal.type_line("typed ahead")?;
    terminal.wait_for("second").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("now a command")?;
    terminal.wait_for("thinking").await?;
    terminal.type_line("y")?;
    terminal.wait_for(QUESTION).await?;
    terminal.type_line("n")?;
    terminal.wait_for("denied").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    assert!(!product.workspace().join("never").exists());
    assert_eq!(Conversation::of(&server.requests()[1]).said(), ["first", "typed ahead"]);
    Ok(())
}
