//! `!` and `!!`: shell commands of the person.

use super::PROMPT;
use anyhow::Result;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::appears;
use capstan_tests::terminal::{Key, Terminal};
use std::sync::Arc;

// 001-011, 001-016 in the whole product; nobody is asked, because a person wrote it.
#[tokio::test]
async fn one_mark_shows_the_output_to_the_model_and_two_keep_it_from_it() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &["--permissions", "read-only"])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("!echo pub''lic; exit 3")?;
    terminal.wait_for("public").await?;
    terminal.wait_for("exit code 3").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("!!echo pri''vate; printf 'a\\033[2Jb'")?;
    terminal.wait_for("private").await?;
    let shown = terminal.wait_for("a\\u{1b}[2Jb").await?;
    assert!(!shown.contains("\u{1b}[2J"), "escaped: {shown:?}");
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("what was that?")?;
    terminal.wait_for("fine").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);

    let requests = server.requests();
    let said = Conversation::of(&requests[0]).said();
    assert!(said[0].contains("public") && said[0].contains("exited with code 3"), "{said:?}");
    assert!(!requests[0].body.to_string().contains("private"), "{said:?}");
    let lines = product.session()?;
    let ran: Vec<_> = lines.iter().filter(|line| line["message"]["role"] == "bashExecution").collect();
    assert_eq!(ran.len(), 2, "both are on record");
    assert_eq!(
        (&ran[0]["message"]["exitCode"], &ran[1]["message"]["excludeFromContext"]),
        (&3.into(), &true.into())
    );
    Ok(())
}

#[tokio::test]
async fn output_comes_while_the_command_runs_and_an_interrupt_ends_all_of_it() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("!echo be''gun; echo $$ > pid; sleep 60; echo ne''ver")?;
    terminal.wait_for("begun").await?;
    let pid = product.workspace().join("pid");
    appears(&pid).await?;
    terminal.press(Key::Interrupt)?;
    let shown = terminal.wait_for("interrupted").await?;
    assert!(!shown.contains("never"), "{shown:?}");
    terminal.wait_for(PROMPT).await?;
    let pid = std::fs::read_to_string(pid)?;
    let lives = tokio::process::Command::new("kill").args(["-0", pid.trim()]).output().await?;
    assert!(!lives.status.success(), "the command is gone");
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    let lines = product.session()?;
    let ran = lines.iter().find(|line| line["message"]["role"] == "bashExecution");
    assert_eq!(ran.map(|line| &line["message"]["cancelled"]), Some(&true.into()));
    Ok(())
}

#[tokio::test]
async fn of_much_output_the_end_is_shown_and_where_all_of_it_is() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &["--no-session"])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("!seq 1 30000")?;
    terminal.wait_for("29999\r\n30000").await?;
    terminal.wait_for("all of the output: ").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    Ok(())
}
