//! Compaction by the program's own means: through a real file and real HTTP.

use anyhow::{Context, Result};
use capstan_ports::message::Usage;
use capstan_ports::model::ModelErrorKind;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use serde_json::{Value, json};

/// Small numbers, so that a prompt of a few thousand words is much.
const SMALL: &str = "[compaction]\nreserve_tokens = 2000\nkeep_recent_tokens = 100\n\
                     [provider.openai.models.test-model]\ncontext_window = 10000\nmax_output_tokens = 1000\n";

/// An answer after a request of so many tokens.
fn counted(text: &str, input: u64) -> Answer {
    let usage = Usage { input, output: 10, total_tokens: input + 10, ..Usage::default() };
    Answer { usage: Some(usage), ..Answer::text(text) }
}

fn lines(text: &str) -> Result<Vec<Value>> {
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

// 001-147, 001-149, 001-150
#[tokio::test]
async fn a_long_conversation_is_compacted_after_the_run_and_goes_on_from_the_summary() -> Result<()> {
    let server = ScriptedServer::play([
        counted("one", 7990),
        Answer::text("two"),
        Answer::text("in short"),
        Answer::text("three"),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure(SMALL)?;
    let long = format!("pasted {}", "word ".repeat(3000));
    let run = product.run(&["-p", &long, "--mode", "json"]).await?.with_code(0);
    assert!(!run.stdout.contains("compaction"), "exactly at the limit: {}", run.stdout);
    // Its own few tokens are too much now.
    let run = product.run(&["-p", "second", "--continue", "--mode", "json"]).await?.with_code(0);
    let events = lines(&run.stdout)?;
    let of_compaction: Vec<_> = events
        .iter()
        .filter(|event| event["type"].as_str().is_some_and(|name| name.starts_with("compaction")))
        .collect();
    assert_eq!(of_compaction[0], &json!({"type": "compaction_start", "reason": "threshold"}));
    let end = of_compaction[1];
    assert_eq!(
        (&end["type"], &end["aborted"], &end["willRetry"]),
        (&json!("compaction_end"), &json!(false), &json!(false))
    );
    assert!(end["result"]["summary"].as_str().is_some_and(|summary| summary.contains("two")), "{end}");
    assert_eq!(of_compaction.len(), 2);

    let asked = Conversation::of(&server.requests()[1]).said();
    assert!(
        asked[0].contains("<conversation>\n[User]: pasted word") && asked[0].contains("## Original Request")
    );
    product.run(&["-p", "third", "--continue"]).await?.with_code(0);
    let said = Conversation::of(&server.requests()[3]).said();
    assert!(said[0].contains("compacted into the following summary") && said.len() == 3, "{said:?}");
    assert_eq!(said[1..], ["second", "third"]);
    let entries = product.session()?;
    let entry = entries.iter().find(|entry| entry["type"] == "compaction").context("no entry")?;
    let kept =
        entries.iter().find(|other| other["id"] == entry["firstKeptEntryId"]).context("nothing kept")?;
    assert_eq!(kept["message"]["content"][0]["text"], "one");
    Ok(())
}

// 001-153
#[tokio::test]
async fn a_refused_conversation_is_compacted_and_sent_again() -> Result<()> {
    let refusal = || Answer::error(ModelErrorKind::ContextOverflow, "prompt is too long");
    let server =
        ScriptedServer::play([Answer::text("one"), refusal(), Answer::text("in short"), Answer::text("two")])
            .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure(&SMALL.replace("10000", "100000"))?;
    product.run(&["-p", &"word ".repeat(3000)]).await?.with_code(0);
    let run = product.run(&["-p", "second", "--continue"]).await?.with_code(0);
    assert_eq!(run.stdout, "two\n");
    let said = Conversation::of(&server.requests()[3]).said();
    assert!(said[0].contains("in short") && said.last().is_some_and(|last| last == "second"), "{said:?}");
    Ok(())
}

// 001-153: with automatic compaction switched off nothing is done about it, and that is said.
#[tokio::test]
async fn with_compaction_off_a_refusal_is_told() -> Result<()> {
    let refusal = Answer::error(ModelErrorKind::ContextOverflow, "prompt is too long");
    let server = ScriptedServer::play([refusal]).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure("[compaction]\nenabled = false\n")?;
    let run = product.run(&["-p", "hello"]).await?;
    assert!(run.stderr.contains("Automatic compaction is off"), "{}", run.stderr);
    assert_eq!(server.requests().len(), 1);
    Ok(())
}
