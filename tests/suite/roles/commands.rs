//! Slash commands: what a person types, what they are shown, and that the model hears nothing of it.

use super::{TRAP, bad_guests, install_roles, lies_beneath, roles};
use anyhow::{Context, Result, bail};
use capstan_engine::Extension;
use capstan_ports::command::CommandPort;
use capstan_ports::session::SessionId;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::guest::Guest;
use capstan_tests::product;
use capstan_tests::product::SOON;
use capstan_tests::sandboxed::{Granted, Place};
use capstan_tests::terminal::{Key, Terminal};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// What the prompt looks like when it waits for a line.
const PROMPT: &str = "> ";

fn command(extension: &Extension, name: &str) -> Result<Arc<dyn CommandPort>> {
    let mut commands = extension.commands().into_iter();
    commands.find(|command| command.name() == name).with_context(|| format!("there is no {name}"))
}

#[tokio::test]
async fn a_command_answers_with_text_or_with_an_error() -> Result<()> {
    let extension = roles(&Place::with_cache()?, Granted::Nothing).await?;
    let (session, never) = (SessionId::new("test"), CancellationToken::new());
    let count = command(&extension, "count")?;
    assert_eq!((count.owner(), count.description()), ("roles", "Counts the words of the line."));
    assert_eq!(count.run(&session, "a b c", &never).await?, "3 words");
    let painted = command(&extension, "paint")?.run(&session, "", &never).await?;
    assert_eq!(painted, "\\u{1b}[31mred\\u{202e}");
    let refused = command(&extension, "refuse")?.run(&session, "that", &never).await;
    let error = refused.err().context("it must fail")?;
    assert_eq!(error.to_string(), "/refuse failed: not with `that`");
    Ok(())
}

#[tokio::test]
async fn a_command_that_goes_wrong_is_an_error_that_names_its_owner() -> Result<()> {
    let place = Place::new()?;
    for (said, guest) in bad_guests(|guest, body| guest.command("bad", body)) {
        if guest.id == "spinner" {
            // A person waits for a command as long as they like; see below.
            continue;
        }
        let bad = command(&place.load(&guest).await?, "bad")?;
        let ran = bad.run(&SessionId::new("test"), "", &CancellationToken::new()).await;
        let error = ran.err().context("it must fail")?;
        assert!(error.to_string().contains(said) && error.to_string().contains(&guest.id), "{error}");
        assert!(lies_beneath(&error), "{error:?}");
    }
    Ok(())
}

// C6
#[tokio::test]
async fn a_command_that_spins_ends_when_it_is_cancelled() -> Result<()> {
    let spin = command(&roles(&Place::with_cache()?, Granted::Nothing).await?, "spin")?;
    let (session, cancel) = (SessionId::new("test"), CancellationToken::new());
    let ended = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    };
    let (ran, ()) = tokio::join!(spin.run(&session, "", &cancel), ended);
    match ran {
        Ok(text) => bail!("it never ends by itself, and said {text:?}"),
        Err(error) => assert!(error.to_string().contains("aborted"), "{error}"),
    }
    Ok(())
}

#[tokio::test]
async fn a_person_runs_commands_and_the_model_hears_nothing_of_them() -> Result<()> {
    let server = ScriptedServer::play([Answer::text("a path, I think")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    install_roles(&product).await?;
    product.install(&Guest::new("trapper").command("trap", TRAP))?;
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    for (line, answer) in [
        ("/count a b c", "3 words"),
        ("/paint", "\\u{1b}[31mred"),
        ("/refuse that", "/refuse failed: not with `that`"),
        ("/trap", "/trap failed: the extension trapper: it trapped"),
        ("/help", "(trapper)"),
        ("/etc/hosts", "there is no command /etc/hosts"),
    ] {
        terminal.type_line(line)?;
        // The terminal echoes the line first.
        terminal.wait_for("\n").await?;
        terminal.wait_for(answer).await?;
        terminal.wait_for(PROMPT).await?;
    }
    assert!(server.requests().is_empty());
    terminal.type_line("//etc/hosts is what?")?;
    terminal.wait_for("a path, I think").await?;
    terminal.wait_for(PROMPT).await?;
    assert_eq!(Conversation::of(&server.requests()[0]).said(), ["/etc/hosts is what?"]);
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    Ok(())
}

// 001-139
#[tokio::test]
async fn an_interrupt_ends_a_command_and_the_session_goes_on() -> Result<()> {
    let server = ScriptedServer::play([]).await?;
    let product = product!()?.with_openai(&server.base_url());
    install_roles(&product).await?;
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    // One that ends by itself first: after it the signal is watched.
    terminal.type_line("/count a")?;
    terminal.wait_for("1 words").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("/spin")?;
    terminal.wait_for("\n").await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let pressed = Instant::now();
    terminal.press(Key::Interrupt)?;
    terminal.wait_for("/spin was interrupted").await?;
    terminal.wait_for(PROMPT).await?;
    assert!(pressed.elapsed() < SOON, "{:?}", pressed.elapsed());
    terminal.type_line("/count a b")?;
    terminal.wait_for("2 words").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    Ok(())
}

#[tokio::test]
async fn a_command_that_two_extensions_offer_is_neithers() -> Result<()> {
    let server = ScriptedServer::play([]).await?;
    let product = product!()?.with_openai(&server.base_url());
    for id in ["one", "other"] {
        let (guest, body) = Guest::new(id).answer(0, "it is I");
        product.install(&guest.command("who", &body))?;
    }
    let run = product.run_with(&[], "/who\n").await?.with_code(0);
    assert!(run.stderr.contains("/who is offered by one and other"), "{}", run.stderr);
    assert!(run.stderr.contains("there is no command /who"), "{}", run.stderr);
    assert!(!run.stdout.contains("it is I"), "{}", run.stdout);
    Ok(())
}
