//! A person who reads the plan and decides.

use super::{TWO_STEPS, entries, playing};
use anyhow::Result;
use capstan_provider::Answer;
use capstan_tests::terminal::{Key, Terminal};
use serde_json::json;

const QUESTION: &str = "Carry this out? [y/N] ";

#[tokio::test]
async fn a_person_sees_the_plan_and_agrees() -> Result<()> {
    let (_server, product) =
        playing([Answer::text(TWO_STEPS), Answer::text("I looked."), Answer::text("I acted.")]).await?;
    let mut terminal = Terminal::start(&product, &["plan", "tidy up"])?;
    let shown = terminal.wait_for(QUESTION).await?;
    assert!(shown.contains("1. look") && shown.contains("2. act"), "{shown:?}");
    assert!(
        !shown.contains("description"),
        "what the model wrote is shown as the plan that it is: {shown:?}"
    );
    terminal.type_line("y")?;
    terminal.wait_for("I looked.").await?;
    terminal.wait_for("I acted.").await?;
    let (code, rest) = terminal.end().await?;
    assert_eq!(code, 0);
    assert!(rest.contains("2 of 2 steps are done"), "{rest:?}");
    Ok(())
}

#[tokio::test]
async fn without_a_yes_nothing_is_carried_out() -> Result<()> {
    for (answer, code) in [(Some("n"), 1), (Some(""), 1), (None, 130)] {
        let (server, product) = playing([Answer::text(TWO_STEPS)]).await?;
        let mut terminal = Terminal::start(&product, &["plan", "tidy up"])?;
        terminal.wait_for(QUESTION).await?;
        match answer {
            Some(answer) => terminal.type_line(answer)?,
            None => terminal.press(Key::Interrupt)?,
        }
        let (ended, rest) = terminal.end().await?;
        assert_eq!(ended, code, "{rest:?}");
        assert!(rest.contains("go on with: capstan plan --session"), "{rest:?}");
        assert_eq!((server.requests().len(), entries(&product)?.len()), (1, 1));
    }
    Ok(())
}

// The person is asked about tools of a step, as in any session.
#[tokio::test]
async fn a_step_asks_before_it_writes() -> Result<()> {
    let one = r#"{"steps": [{"description": "write it"}]}"#;
    let write = Answer::call("write", json!({"path": "new.txt", "content": "x"}));
    let (_server, product) = playing([Answer::text(one), write, Answer::text("written")]).await?;
    let mut terminal = Terminal::start(&product, &["plan", "tidy up"])?;
    terminal.wait_for(QUESTION).await?;
    terminal.type_line("yes")?;
    terminal.wait_for("[y]es once").await?;
    assert!(!product.workspace().join("new.txt").exists());
    terminal.type_line("y")?;
    assert_eq!(terminal.end().await?.0, 0);
    assert!(product.workspace().join("new.txt").exists());
    Ok(())
}
