//! `capstan` in a terminal: what a person sees, and what their keys do.

mod commands;
mod elsewhere;
mod keys;
mod shell;
mod tree;

use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::guest::{Guest, Request};
use capstan_tests::product;
use capstan_tests::product::SOON;
use capstan_tests::terminal::{Key, Terminal};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the prompt looks like when it waits for a line.
const PROMPT: &str = "> ";
const QUESTION: &str = "[N]o: ";

/// Types a line, waits for what it leads to and for the next prompt, and answers what was shown.
async fn say(terminal: &mut Terminal, line: &str, expected: &str) -> Result<String> {
    terminal.type_line(line)?;
    let shown = terminal.wait_for(expected).await?;
    Ok(shown + &terminal.wait_for(PROMPT).await?)
}

/// Ends the session as a person does at the prompt.
async fn leave(mut terminal: Terminal) -> Result<()> {
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    Ok(())
}

// 001-139
#[tokio::test]
async fn text_is_streamed_as_it_comes_and_the_end_key_leaves_with_0() -> Result<()> {
    let server = ScriptedServer::play([Answer::text("one two three four").slowed_ms(150)]).await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    let greeting = terminal.wait_for(PROMPT).await?;
    assert!(greeting.contains("openai/test-model") && greeting.contains("Ctrl-D"), "{greeting:?}");
    terminal.type_line("count")?;
    terminal.wait_for("one").await?;
    assert!(server.requests()[0].answered.is_none(), "shown before the answer is complete");
    terminal.wait_for("four").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    assert_eq!(product.session()?.len(), 3, "header, prompt, answer");
    Ok(())
}

// 001-139; design §6: once, always here, no
#[tokio::test]
async fn a_person_is_asked_before_commands_and_each_answer_counts() -> Result<()> {
    let commands = ["touch once", "touch never", "echo x >> always", "echo x >> always", "touch other"];
    let server = ScriptedServer::start(Arc::new(move |n, _| match commands.get(n) {
        Some(command) => {
            Answer::default().and_call_with_id(format!("call-{n}"), "bash", json!({"command": command}))
        }
        None => Answer::text("All done."),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("work")?;
    let shown = terminal.wait_for(QUESTION).await?;
    assert!(shown.contains("→ bash touch once") && shown.contains("run this command?"), "{shown:?}");
    assert!(!product.workspace().join("once").exists(), "asked before, not after");
    terminal.type_line("y")?;
    terminal.wait_for("✓").await?;
    for (command, answer) in [("touch never", "n"), ("echo x >> always", "a")] {
        let shown = terminal.wait_for(QUESTION).await?;
        assert!(shown.contains(command), "{shown:?}");
        terminal.type_line(answer)?;
    }
    // The second `echo` is not asked about; another command is, and Enter alone is a no.
    let shown = terminal.wait_for(QUESTION).await?;
    assert!(shown.contains("touch other"), "{shown:?}");
    terminal.type_line("")?;
    terminal.wait_for("All done.").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);

    let there = |name: &str| product.workspace().join(name).exists();
    assert_eq!((there("once"), there("never"), there("other")), (true, false, false));
    assert_eq!(std::fs::read_to_string(product.workspace().join("always"))?, "x\nx\n");
    let results = Conversation::of(&server.requests()[5]).results();
    assert!(results[1].text.contains("the user said no"), "{:?}", results[1]);
    let history = std::fs::read_to_string(product.home().join("history"))?;
    assert_eq!(history.lines().filter(|line| *line == "work").count(), 1, "{history}");
    assert!(
        !history.lines().any(|line| matches!(line, "y" | "a" | "n")),
        "answers are no history: {history}"
    );
    Ok(())
}

// 001-139
#[tokio::test]
async fn an_interrupt_stops_the_answer_and_the_session_goes_on() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|n, _| match n {
        0 => Answer::text("slow ".repeat(200)).slowed_ms(100),
        _ => Answer::text("quick"),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("first")?;
    terminal.wait_for("slow").await?;
    let pressed = Instant::now();
    terminal.press(Key::Interrupt)?;
    terminal.wait_for("interrupted").await?;
    terminal.wait_for(PROMPT).await?;
    assert!(pressed.elapsed() < SOON, "{:?}", pressed.elapsed());
    terminal.type_line("second")?;
    terminal.wait_for("quick").await?;
    terminal.wait_for(PROMPT).await?;
    // At the prompt the key only clears the line.
    terminal.press(Key::Interrupt)?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    assert_eq!(Conversation::of(&server.requests()[1]).said(), ["first", "second"]);
    Ok(())
}

// X5, X6
#[tokio::test]
async fn an_interrupt_ends_a_command_and_is_a_no_to_a_question() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|n, _| match n {
        0 => Answer::call("bash", json!({"command": "echo $$ > pid; sleep 60"})),
        1 => Answer::call("bash", json!({"command": "touch never"})),
        _ => Answer::text("fine"),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("sleep")?;
    terminal.wait_for(QUESTION).await?;
    terminal.type_line("y")?;
    let pid = product.workspace().join("pid");
    capstan_tests::product::appears(&pid).await?;
    terminal.press(Key::Interrupt)?;
    terminal.wait_for(PROMPT).await?;
    let pid = std::fs::read_to_string(pid)?;
    let lives = tokio::process::Command::new("kill").args(["-0", pid.trim()]).output().await?;
    assert!(!lives.status.success(), "the command is gone");

    terminal.type_line("touch")?;
    terminal.wait_for(QUESTION).await?;
    terminal.press(Key::Interrupt)?;
    terminal.wait_for("fine").await?;
    terminal.wait_for(PROMPT).await?;
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    assert!(!product.workspace().join("never").exists());
    Conversation::of(&server.requests()[2]).check_pairs()
}

// X8
#[tokio::test]
async fn two_interrupts_end_a_run_at_once() -> Result<()> {
    // The command ignores the polite signals.
    let stubborn = "trap '' TERM INT HUP; touch started; while true; do sleep 0.1; done";
    let server = ScriptedServer::start(Arc::new(move |n, _| match n {
        0 => Answer::call("bash", json!({"command": stubborn})),
        _ => Answer::text("fine"),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let running = product.start(&["-p", "go", "--permissions", "all"])?;
    capstan_tests::product::appears(&product.workspace().join("started")).await?;
    running.signal("INT").await?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    running.signal("INT").await?;
    let pressed = Instant::now();
    running.finish().await?.with_code(130);
    assert!(pressed.elapsed() < SOON, "{:?}", pressed.elapsed());
    product.run(&["-c", "-p", "on"]).await?.with_code(0);
    Conversation::of(&server.requests()[1]).check_pairs()
}

// Design §6: one that asks is shown with its reasons and waits.
#[tokio::test]
async fn an_extension_that_waits_is_offered_for_a_grant_at_the_start() -> Result<()> {
    let (guest, body) = Guest::new("reader").text_result("peeked");
    let guest = guest.tool("peek", &body).request(Request::Directory(".".to_owned()));
    let server = ScriptedServer::start(Arc::new(|_, request| {
        let conversation = Conversation::of(request);
        match (conversation.tool("peek"), conversation.results().is_empty()) {
            (Ok(_), true) => Answer::call("peek", json!({})),
            (Ok(_), false) => Answer::text("I peeked."),
            (Err(_), _) => Answer::text("I cannot peek."),
        }
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&guest)?;
    for (answer, expected) in [("n", "I cannot peek."), ("y", "I peeked.")] {
        let mut terminal = Terminal::start(&product, &["--no-session"])?;
        let card = terminal.wait_for("Allow this? [y/N] ").await?;
        assert!(card.contains("reader") && card.contains("for the test"), "{card:?}");
        terminal.type_line(answer)?;
        terminal.wait_for("Ctrl-D").await?;
        terminal.wait_for(PROMPT).await?;
        terminal.type_line("peek")?;
        terminal.wait_for(expected).await?;
        terminal.wait_for(PROMPT).await?;
        terminal.press(Key::End)?;
        assert_eq!(terminal.end().await?.0, 0);
    }
    // Once answered with yes, nobody is asked again.
    let mut terminal = Terminal::start(&product, &["--no-session"])?;
    let greeting = terminal.wait_for(PROMPT).await?;
    assert!(greeting.contains("with reader") && !greeting.contains("Allow"), "{greeting:?}");
    Ok(())
}

#[tokio::test]
async fn allowing_at_a_terminal_is_confirmed_first() -> Result<()> {
    let (guest, body) = Guest::new("reader").text_result("peeked");
    let product = product!()?;
    product.install(&guest.tool("peek", &body).request(Request::Directory(".".to_owned())))?;
    let grants = product.home().join("grants.toml");
    for (answer, code) in [("n", 1), ("", 1), ("y", 0)] {
        assert!(!grants.exists());
        let mut terminal = Terminal::start(&product, &["ext", "allow", "reader"])?;
        terminal.wait_for("[y/N]").await?;
        terminal.type_line(answer)?;
        assert_eq!(terminal.end().await?.0, code, "{answer:?}");
    }
    assert!(grants.exists());
    Ok(())
}

/// Sets the title, clears the screen, writes the clipboard, turns the direction of writing.
const HOSTILE: &str = "safe\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}]52;c;AAAA\u{7}\rlie\u{202e}";

/// Fails if any of it arrived as it was. The product's own styles and line editing use other sequences.
fn check_harmless(shown: &str) {
    for sequence in ["\u{1b}]", "\u{1b}[2J", "\u{7}", "\rlie", "\u{202e}"] {
        assert!(!shown.contains(sequence), "{sequence:?} arrived: {shown:?}");
    }
    assert!(shown.contains("\\u{1b}]0;owned\\u{7}"), "it is shown, escaped: {shown:?}");
}

// O3
#[tokio::test]
async fn control_sequences_of_models_tools_and_commands_arrive_escaped() -> Result<()> {
    let server = ScriptedServer::play([
        Answer::call("bash", json!({"command": format!("printf '%s' '{HOSTILE}'")})).with_text(HOSTILE),
        Answer::text(HOSTILE).with_thinking(HOSTILE),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    terminal.type_line("go")?;
    let mut shown = terminal.wait_for(QUESTION).await?;
    terminal.type_line("y")?;
    check_harmless(&shown);
    shown = terminal.wait_for(PROMPT).await?;
    assert_eq!(shown.matches("owned").count(), 3, "result, thinking and answer: {shown:?}");
    check_harmless(&shown);
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    // Where it is data, it is whole.
    assert_eq!(Conversation::of(&server.requests()[1]).last_result()?, HOSTILE);
    Ok(())
}

// O3: a single answer on a terminal is shown, not piped.
#[tokio::test]
async fn a_printed_answer_is_escaped_on_a_terminal_and_untouched_in_a_pipe() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text(HOSTILE))).await?;
    let product = product!()?.with_openai(&server.base_url());
    let (code, shown) = Terminal::start(&product, &["-p", "go"])?.end().await?;
    assert_eq!(code, 0);
    check_harmless(&shown);
    assert_eq!(product.run(&["-p", "go"]).await?.with_code(0).stdout, format!("{HOSTILE}\n"));
    Ok(())
}

// Design §9
#[tokio::test]
async fn colours_are_for_terminals_and_for_those_who_want_them() -> Result<()> {
    let (guest, body) = Guest::new("greeter").text_result("hello");
    let product = product!()?;
    product.install(&guest.tool("greet", &body))?;
    let (_, coloured) = Terminal::start(&product, &["ext", "list"])?.end().await?;
    assert!(coloured.contains("\u{1b}[1m"), "{coloured:?}");
    let product = product.with("NO_COLOR", "1");
    let (_, plain) = Terminal::start(&product, &["ext", "list"])?.end().await?;
    assert!(plain.contains("greeter") && !plain.contains('\u{1b}'), "{plain:?}");
    Ok(())
}

// SIGTERM
#[tokio::test]
async fn a_request_to_end_is_heard_at_the_prompt_as_well() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    // After a turn, because a turn watches for the signal itself.
    terminal.type_line("go")?;
    terminal.wait_for("fine").await?;
    terminal.wait_for(PROMPT).await?;
    let id = terminal.id()?.to_string();
    let sent = tokio::process::Command::new("kill").args(["-TERM", &id]).status().await?;
    assert!(sent.success());
    let asked = Instant::now();
    let (code, last) = terminal.end().await.context("it has to end")?;
    assert_eq!(code, 143);
    assert!(last.contains("\u{1b}[?2004l"), "the terminal is given back: {last:?}");
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    Ok(())
}

// A gate's `defer`: the turn ends, the person is asked, and the model gets the answer.
#[tokio::test]
async fn a_call_that_a_gate_put_off_is_asked_about_and_goes_on_with_the_answer() -> Result<()> {
    let server = ScriptedServer::play([
        Answer::call("bash", json!({"command": "touch later"})),
        Answer::text("It is done."),
        Answer::call("bash", json!({"command": "touch never"})),
        Answer::text("So be it."),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let (guest, body) = Guest::new("patient").verdict(3, "wait for the release");
    product.install(&guest.gate(&["bash"], &body))?;

    // With nobody there the call stays open, and the run says how to go on.
    let first = product.run(&["-p", "work", "--permissions", "all"]).await?;
    assert!(
        first.stderr.contains("capstan --continue") && first.stderr.contains("wait for the release"),
        "{}",
        first.stderr
    );
    assert!(!product.workspace().join("later").exists());

    let mut terminal = Terminal::start(&product, &["-c", "--permissions", "all"])?;
    let shown = terminal.wait_for(QUESTION).await?;
    assert!(shown.contains("wait for the release"), "{shown:?}");
    terminal.type_line("y")?;
    terminal.wait_for("It is done.").await?;
    terminal.wait_for(PROMPT).await?;
    assert!(product.workspace().join("later").exists());

    terminal.type_line("more")?;
    terminal.wait_for(QUESTION).await?;
    terminal.type_line("n")?;
    terminal.wait_for("So be it.").await?;
    terminal.wait_for(PROMPT).await?;
    assert!(!product.workspace().join("never").exists());
    terminal.press(Key::End)?;
    assert_eq!(terminal.end().await?.0, 0);
    let results = Conversation::of(&server.requests()[3]).results();
    assert!(results.iter().any(|result| result.text.contains("said no")), "{results:?}");
    Ok(())
}
