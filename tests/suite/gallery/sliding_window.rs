//! `extensions/sliding-window` in sessions that grow too long.

use anyhow::{Context, Result};
use capstan_ports::model::ModelErrorKind;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use serde_json::json;

/// A window into which two long prompts do not fit.
const SMALL: &str = "[provider.openai.models.test-model]\ncontext_window = 4000\nmax_output_tokens = 500\n";

#[tokio::test]
async fn the_goal_and_the_newest_stay_and_a_note_tells_of_the_rest() -> Result<()> {
    let server = ScriptedServer::play([
        Answer::call("ls", json!({})),
        Answer::text("one"),
        Answer::text("two"),
        Answer::text("three"),
        Answer::text("four"),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure(SMALL)?;
    product.install_built("sliding-window")?;
    let before = product.run(&["-p", "mend the tests"]).await?.with_code(0);
    assert!(before.stderr.contains("capstan ext allow sliding-window"), "{}", before.stderr);
    product.run(&["ext", "allow", "sliding-window", "--yes"]).await?.with_code(0);
    let (second, third) =
        (format!("second {}", "word ".repeat(1_300)), format!("third {}", "word ".repeat(1_300)));
    product.run(&["-p", &second, "--continue"]).await?.with_code(0);
    assert_eq!(Conversation::of(&server.requests()[2]).said().len(), 2, "there was room");

    product.run(&["-p", &third, "--continue"]).await?.with_code(0);
    let requests = server.requests();
    let sent = Conversation::of(&requests[3]);
    sent.check_pairs()?;
    let said = sent.said();
    assert_eq!((said[0].as_str(), said[2].trim_end()), ("mend the tests", third.trim_end()));
    assert!(said[1].contains("5 earlier messages") && said[1].contains("ls ×1"), "{}", said[1]);
    assert!(said[1].contains("\n- second word word") && said.len() == 3, "{said:?}");

    // It is part of the session, which keeps everything else too.
    product.run(&["-p", "go on", "--continue"]).await?.with_code(0);
    let said = Conversation::of(&server.requests()[4]).said();
    assert_eq!((said.len(), said[3].as_str()), (4, "go on"));
    let entries = product.session()?;
    let compaction = entries.iter().find(|entry| entry["type"] == "compaction").context("no entry")?;
    assert_eq!(compaction["fromHook"], true);
    assert!(entries.iter().any(|entry| entry["message"]["content"][0]["text"] == second.as_str()));
    Ok(())
}

#[tokio::test]
async fn a_conversation_that_the_model_refuses_is_made_shorter_and_sent_again() -> Result<()> {
    let server = ScriptedServer::play([
        Answer::text("one"),
        Answer::text("two"),
        Answer::error(ModelErrorKind::ContextOverflow, "prompt is too long"),
        Answer::text("three"),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure(SMALL)?;
    product.install_built("sliding-window")?;
    product.run(&["ext", "allow", "sliding-window", "--yes"]).await?.with_code(0);
    product.run(&["-p", "the goal"]).await?.with_code(0);
    product.run(&["-p", &"word ".repeat(1_500), "--continue"]).await?.with_code(0);
    let run = product.run(&["-p", "now", "--continue"]).await?.with_code(0);
    assert_eq!(run.stdout, "three\n");
    let said = Conversation::of(&server.requests()[3]).said();
    assert_eq!((said[0].as_str(), said[2].as_str()), ("the goal", "now"));
    assert!(said[1].starts_with("[sliding-window] Left out here"), "{said:?}");
    Ok(())
}

#[tokio::test]
async fn a_configuration_that_contradicts_itself_is_told_and_the_host_compacts() -> Result<()> {
    let server = ScriptedServer::play([Answer::text("one")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure(&format!("{SMALL}[extension.sliding-window]\nkeep = 0.9\nstart = 0.2\n"))?;
    product.install_built("sliding-window")?;
    product.run(&["ext", "allow", "sliding-window", "--yes"]).await?.with_code(0);
    let run = product.run(&["-p", "hello"]).await?.with_code(0);
    assert_eq!(run.stdout, "one\n");
    assert!(run.stderr.contains("`keep` must be less than `start`"), "{}", run.stderr);
    Ok(())
}
