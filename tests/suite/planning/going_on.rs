//! Plans that were not finished, and what becomes of them in another process.

use super::{TWO_STEPS, entries, of_type, playing, said};
use anyhow::{Context, Result};
use capstan_ports::ModelErrorKind;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::{SOON, appears};
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

#[tokio::test]
async fn a_plan_can_be_looked_at_first_and_carried_out_later() -> Result<()> {
    let (server, product) =
        playing([Answer::text(TWO_STEPS), Answer::text("I looked."), Answer::text("I acted.")]).await?;
    let shown = product.run(&["plan", "tidy up", "--dry-run"]).await?.with_code(0);
    assert!(shown.stdout.contains("1. look") && shown.stdout.contains("2. act"), "{}", shown.stdout);
    assert!(shown.stderr.contains("go on with: capstan plan --session "), "{}", shown.stderr);
    assert_eq!(server.requests().len(), 1);

    let done = product.run(&["plan", "--continue", "--yes"]).await?.with_code(0);
    assert_eq!(done.stdout, "I looked.\nI acted.\n");
    assert_eq!(server.requests().len(), 3, "it was not planned again");
    // 004-093
    let again = product.run(&["plan", "--continue", "--yes"]).await?.with_code(0);
    assert!(again.stderr.contains("nothing is left to do"), "{}", again.stderr);
    assert_eq!((again.stdout.as_str(), server.requests().len()), ("", 3));
    Ok(())
}

// 004-085, 004-088, 004-093: what failed is tried again when somebody asks for it, what was done is not.
#[tokio::test]
async fn a_failed_plan_goes_on_with_the_step_that_failed() -> Result<()> {
    let three = r#"{"steps": [{"description": "look"}, {"description": "act"}, {"description": "check"}]}"#;
    let (server, product) = playing([
        Answer::text(three),
        Answer::text("I looked."),
        Answer::error(ModelErrorKind::InvalidRequest, "no such thing"),
        Answer::text("I acted."),
        Answer::text("I checked."),
    ])
    .await?;
    let failed = product.run(&["plan", "tidy up", "--yes"]).await?.with_code(1);
    assert_eq!(failed.stdout, "I looked.\n");
    assert!(
        failed.stderr.contains("✗ [2/3] act: ") && failed.stderr.contains("no such thing"),
        "{}",
        failed.stderr
    );
    assert!(!failed.stderr.contains("[3/3]"), "{}", failed.stderr);
    assert!(failed.stderr.contains("1 of 3 steps are done"), "{}", failed.stderr);
    assert_eq!(server.requests().len(), 3);

    let went_on = product.run(&["plan", "--continue", "--yes"]).await?.with_code(0);
    assert_eq!(went_on.stdout, "I acted.\nI checked.\n");
    assert!(went_on.stderr.contains("✓    1. look"), "{}", went_on.stderr);
    assert_eq!(said(&server)?[1..], ["look", "act", "act", "check"]);
    let entries = entries(&product)?;
    let begun: Vec<_> = entries.iter().filter(|entry| entry["event"] == "begun").collect();
    assert_eq!(begun.len(), 2);
    assert_ne!(begun[0]["plan"]["id"], begun[1]["plan"]["id"], "another try is another plan");
    Ok(())
}

/// A plan whose second step runs a command that takes long, the first time.
async fn slow() -> Result<ScriptedServer> {
    Ok(ScriptedServer::start(Arc::new(|n, _| match n {
        0 => Answer::text(TWO_STEPS),
        1 => Answer::text("I looked."),
        2 => Answer::call("bash", json!({"command": "touch started; sleep 60"})),
        _ => Answer::text("I acted."),
    }))
    .await?)
}

const GO: [&str; 5] = ["plan", "tidy up", "--yes", "--permissions", "all"];
const GO_ON: [&str; 5] = ["plan", "--continue", "--yes", "--permissions", "all"];

// 004-092: SIGINT and SIGTERM end the step and the plan; the rest waits.
#[tokio::test]
async fn a_plan_that_is_stopped_goes_on_where_it_was() -> Result<()> {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let server = slow().await?;
        let product = product!()?.with_openai(&server.base_url());
        let running = product.start(&[&GO[..], &["--mode", "json"]].concat())?;
        appears(&product.workspace().join("started")).await?;
        let pressed = Instant::now();
        running.signal(signal).await?;
        let finished = running.finish().await?.with_code(code);
        assert!(pressed.elapsed() < SOON, "{signal}: {:?}", pressed.elapsed());
        let lines = finished.json_lines()?;
        let end = lines.last().context("no lines")?;
        assert_eq!((&end["outcome"], &end["completed"]), (&json!("stopped"), &json!(1)), "{end}");
        assert_eq!(of_type(&lines, "plan_step_end")[1]["status"], "failed");
        assert_eq!(server.requests().len(), 3);

        let went_on = product.run(&GO_ON).await?.with_code(0);
        assert_eq!(went_on.stdout, "I acted.\n");
        Conversation::of(server.requests().last().context("no request")?).check_pairs()?;
    }
    Ok(())
}

// J1: also one that was killed.
#[tokio::test]
async fn a_plan_whose_process_was_killed_goes_on() -> Result<()> {
    let server = slow().await?;
    let product = product!()?.with_openai(&server.base_url());
    let running = product.start(&GO)?;
    appears(&product.workspace().join("started")).await?;
    running.kill().await?;
    let last = entries(&product)?.pop().context("no entries")?;
    assert_eq!((&last["step"], &last["status"]), (&json!(1), &json!("running")));

    let went_on = product.run(&GO_ON).await?.with_code(0);
    assert_eq!(went_on.stdout, "I acted.\n");
    let said = said(&server)?;
    assert_eq!(said[1..], ["look", "act", "act"]);
    Conversation::of(server.requests().last().context("no request")?).check_pairs()?;
    Ok(())
}

#[tokio::test]
async fn a_plan_that_was_not_kept_leaves_nothing() -> Result<()> {
    let (_server, product) =
        playing([Answer::text(TWO_STEPS), Answer::text("I looked."), Answer::text("I acted.")]).await?;
    let finished = product.run(&["plan", "tidy up", "--yes", "--no-session"]).await?.with_code(0);
    assert_eq!(finished.stdout, "I looked.\nI acted.\n");
    assert!(product.session_files()?.is_empty());
    Ok(())
}
