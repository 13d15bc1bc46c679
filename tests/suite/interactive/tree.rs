//! Moving within a session, and summaries in the place of what was said.

use super::{PROMPT, leave, say};
use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::{RecordedRequest, ScriptedServer};
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::Product;
use capstan_tests::terminal::{Key, Terminal};
use serde_json::Value;
use std::sync::Arc;

/// What `/goto` asks when something is left behind.
const SUMMARIZE: &str = "for the model? [y/N] ";

/// What the model writes when a summary is wanted of it.
const SUMMARY: &str = "They tried the second way.";

/// A server that answers everything alike but for summaries.
async fn summarizing() -> Result<ScriptedServer> {
    let answer = |_, request: &RecordedRequest| {
        let is_summary = request.body.to_string().contains("<conversation>");
        Answer::text(if is_summary { SUMMARY } else { "fine" })
    };
    Ok(ScriptedServer::start(Arc::new(answer)).await?)
}

/// The id of the message of this role with this text.
fn entry(product: &Product, role: &str, text: &str) -> Result<String> {
    let lines = product.session()?;
    let is_it = |line: &&Value| {
        line["message"]["role"] == role && line["message"]["content"].to_string().contains(text)
    };
    let entry = lines.iter().find(is_it).with_context(|| format!("no {role} said {text}"))?;
    Ok(entry["id"].as_str().context("no id")?.to_owned())
}

fn last_said(server: &ScriptedServer) -> Result<Vec<String>> {
    Ok(Conversation::of(server.requests().last().context("no request")?).said())
}

// 001-157
#[tokio::test]
async fn an_earlier_prompt_comes_back_to_be_changed_with_a_summary_of_what_is_left() -> Result<()> {
    let server = summarizing().await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    for prompt in ["first", "second", "third"] {
        say(&mut terminal, prompt, "fine").await?;
    }
    let second = entry(&product, "user", "second")?;
    terminal.type_line(&format!("/goto {second}"))?;
    terminal.wait_for(SUMMARIZE).await?;
    terminal.type_line("y")?;
    terminal.wait_for("> second").await?;
    say(&mut terminal, " way", "fine").await?;
    let said = last_said(&server)?;
    assert_eq!((said[0].as_str(), said[said.len() - 1].as_str()), ("first", "second way"));
    assert!(said.len() == 3 && said[1].contains(SUMMARY), "{said:?}");

    let shown = say(&mut terminal, "/tree", "→").await?;
    for part in ["user: first", "user: second", "user: third", "user: second way", SUMMARY] {
        assert!(shown.contains(part), "{part}: {shown:?}");
    }
    leave(terminal).await?;
    let lines = product.session()?;
    let summary = lines.iter().find(|line| line["type"] == "branch_summary").context("no summary")?;
    assert!(summary["summary"].as_str().is_some_and(|text| text.contains(SUMMARY)), "{summary}");
    Ok(())
}

// 001-069, 001-157
#[tokio::test]
async fn one_goes_on_after_an_answer_without_a_summary_and_stays_when_one_would_rather_not() -> Result<()> {
    let server = summarizing().await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    say(&mut terminal, "first", "fine").await?;
    let answer = entry(&product, "assistant", "fine")?;
    say(&mut terminal, "second", "fine").await?;

    terminal.type_line(&format!("/goto {answer}"))?;
    terminal.wait_for(SUMMARIZE).await?;
    terminal.press(Key::Interrupt)?;
    terminal.wait_for(PROMPT).await?;
    say(&mut terminal, "third", "fine").await?;
    assert_eq!(last_said(&server)?, ["first", "second", "third"], "it stayed");

    terminal.type_line(&format!("/goto {}", &answer[..answer.len() - 1]))?;
    terminal.wait_for(SUMMARIZE).await?;
    terminal.type_line("")?;
    terminal.wait_for("2 messages").await?;
    terminal.wait_for(PROMPT).await?;
    say(&mut terminal, "other", "fine").await?;
    assert_eq!(last_said(&server)?, ["first", "other"]);
    say(&mut terminal, "/goto nowhere", "has no entry nowhere").await?;
    say(&mut terminal, "/goto", "an entry's id is needed").await?;
    leave(terminal).await?;
    // 001-146: the leaf is where it was left.
    product.run(&["-c", "-p", "on"]).await?.with_code(0);
    assert_eq!(last_said(&server)?, ["first", "other", "on"]);
    Ok(())
}

// 001-151 in the whole product
#[tokio::test]
async fn compacting_by_hand_puts_a_summary_in_the_place_of_what_was_said() -> Result<()> {
    let server = summarizing().await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure("[compaction]\nkeep_recent_tokens = 10\n")?;
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    say(&mut terminal, "/compact", "capstan:").await?;
    assert!(server.requests().is_empty(), "there is nothing to summarize");
    say(&mut terminal, &"first ".repeat(50), "fine").await?;
    say(&mut terminal, &"second ".repeat(50), "fine").await?;
    let shown = say(&mut terminal, "/compact mind the order", "a summary stands for").await?;
    assert!(shown.contains("summarizing what was said") && shown.contains(SUMMARY), "{shown:?}");
    assert!(server.requests()[2].body.to_string().contains("mind the order"));
    say(&mut terminal, "third", "fine").await?;
    let said = last_said(&server)?;
    assert!(said[0].contains(SUMMARY) && !said[0].contains("first first"), "{said:?}");
    leave(terminal).await?;
    assert_eq!(product.session()?.iter().filter(|line| line["type"] == "compaction").count(), 1);
    Ok(())
}

#[tokio::test]
async fn a_session_is_exported_to_a_new_file_only() -> Result<()> {
    let server = summarizing().await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut terminal = Terminal::start(&product, &[])?;
    terminal.wait_for(PROMPT).await?;
    say(&mut terminal, "remember the milk", "fine").await?;
    say(&mut terminal, "/export", "a file is needed").await?;
    say(&mut terminal, "/export notes.txt", "has to end in").await?;
    for name in ["notes.md", "notes.html", "notes.json"] {
        say(&mut terminal, &format!("/export {name}"), "is now also in").await?;
        let text = std::fs::read_to_string(product.workspace().join(name))?;
        assert!(text.contains("remember the milk"), "{name}: {text}");
    }
    let before = std::fs::read(product.workspace().join("notes.md"))?;
    say(&mut terminal, "/export notes.md", "is there already").await?;
    leave(terminal).await?;
    assert_eq!(std::fs::read(product.workspace().join("notes.md"))?, before);
    let mut unkept = Terminal::start(&product, &["--no-session"])?;
    unkept.wait_for(PROMPT).await?;
    say(&mut unkept, "/export other.md", "is not kept").await?;
    leave(unkept).await
}
