//! `extensions/markdown-plan` reads what the model wrote for `capstan plan`.

use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::Product;

const ANSWER: &str = "Sure! I looked at:\n\n- main.rs\n- args.rs\n- README.md\n\n## Plan\n\n1. **Look** around\n   - twice\n\
                      2. [x] Done before\n3. Act\n\n| a | b |\n|---|---|\n\n## Risks\n\n- a\n- b\n- c\n- d\n";

async fn planning(answers: &[&str]) -> Result<(ScriptedServer, Product)> {
    let server = ScriptedServer::play(answers.iter().copied().map(Answer::text)).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install_built("markdown-plan")?;
    Ok((server, product))
}

#[tokio::test]
async fn a_plan_among_talk_and_other_lists_is_found_and_carried_out() -> Result<()> {
    let (server, product) = planning(&[ANSWER, "I looked.", "I acted."]).await?;
    let run = ["plan", "tidy up", "--yes", "--parser", "markdown-plan/markdown"];
    let finished = product.run(&run).await?.with_code(0);
    assert_eq!(finished.stdout, "I looked.\nI acted.\n");
    assert!(finished.stderr.contains("2 of 2 steps are done"), "{}", finished.stderr);
    let said = Conversation::of(server.requests().last().context("no request")?).said();
    assert!(said[0].contains("the format `markdown`") && said[0].contains("check list"), "{}", said[0]);
    assert_eq!(said[1..], ["Look around\n- twice", "Act"]);
    Ok(())
}

#[tokio::test]
async fn the_user_says_what_becomes_of_items_below_items_and_of_what_is_done() -> Result<()> {
    let (server, product) = planning(&[ANSWER, "one", "two", "three"]).await?;
    product.configure(
        "plan_parser = \"markdown-plan\"\n[extension.markdown-plan]\nnested = \"steps\"\ndone = \"keep\"\n",
    )?;
    product.run(&["plan", "tidy up", "--yes"]).await?.with_code(0);
    let said = Conversation::of(server.requests().last().context("no request")?).said();
    assert_eq!(said[1..], ["Look around: twice", "Done before", "Act"]);
    Ok(())
}

#[tokio::test]
async fn an_answer_without_a_plan_is_told_with_its_lines() -> Result<()> {
    let (_server, product) = planning(&["I would rather not.\nSorry."]).await?;
    let finished =
        product.run(&["plan", "tidy up", "--yes", "--parser", "markdown-plan"]).await?.with_code(1);
    let said = finished.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("there is no plan in lines 1 to 2"), "{said}");
    Ok(())
}
