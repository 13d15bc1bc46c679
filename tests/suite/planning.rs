//! `capstan plan` of the built product: a plan over HTTP, read by the own parser or a component's, carried out step by step.

mod bad;
mod going_on;
mod person;

use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::probe::built_guest;
use capstan_tests::product;
use capstan_tests::product::Product;
use serde_json::{Value, json};

const TWO_STEPS: &str = r#"Here it is: {"steps": [{"description": "look"}, {"description": "act"}]}"#;

async fn playing(answers: impl IntoIterator<Item = Answer>) -> Result<(ScriptedServer, Product)> {
    let server = ScriptedServer::play(answers).await?;
    let product = product!()?.with_openai(&server.base_url());
    Ok((server, product))
}

/// What the model was told by the user, up to the last request.
fn said(server: &ScriptedServer) -> Result<Vec<String>> {
    Ok(Conversation::of(server.requests().last().context("no request")?).said())
}

/// The data of the session's entries about plans.
fn entries(product: &Product) -> Result<Vec<Value>> {
    let lines = product.session()?.into_iter();
    let of_plans = lines.filter(|line| line["type"] == "custom" && line["customType"] == "capstan.plan");
    Ok(of_plans.map(|line| line["data"].clone()).collect())
}

fn of_type<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == kind).collect()
}

// 004-082, 004-101: with the parser of the program
#[tokio::test]
async fn a_goal_is_planned_and_carried_out_in_one_session() -> Result<()> {
    let (server, product) =
        playing([Answer::text(TWO_STEPS), Answer::text("I looked."), Answer::text("I acted.")]).await?;
    let finished = product.run(&["plan", "tidy up", "--yes", "--parser", "json"]).await?.with_code(0);
    assert_eq!(finished.stdout, "I looked.\nI acted.\n", "answers are the data");
    for shown in
        ["Plan: tidy up", "1. look", "2. act", "✓ [1/2] look", "▸ [2/2] act", "2 of 2 steps are done"]
    {
        assert!(finished.stderr.contains(shown), "{shown}: {}", finished.stderr);
    }
    assert_eq!(server.requests().len(), 3);
    let said = said(&server)?;
    assert!(
        said[0].contains("Goal: tidy up") && said[0].contains(r#"{"steps": [{"description""#),
        "{}",
        said[0]
    );
    assert_eq!(said[1..], ["look", "act"]);
    let entries = entries(&product)?;
    assert_eq!(entries[0]["event"], "begun");
    let statuses: Vec<_> =
        entries[1..].iter().map(|entry| (entry["step"].as_u64(), entry["status"].as_str())).collect();
    assert_eq!(
        statuses,
        [
            (Some(0), Some("running")),
            (Some(0), Some("completed")),
            (Some(1), Some("running")),
            (Some(1), Some("completed"))
        ]
    );
    Ok(())
}

// 004-100: with a component's
#[tokio::test]
async fn a_component_reads_the_plan() -> Result<()> {
    let list = "The steps:\n\n- look\n- act\n";
    let answers = [Answer::text(list), Answer::text("I looked."), Answer::text("I acted.")];
    let (server, product) = playing(answers.clone()).await?;
    crate::roles::install_roles(&product).await?;
    let finished = product.run(&["plan", "tidy up", "--yes", "--parser", "roles/list"]).await?.with_code(0);
    assert_eq!(finished.stdout, "I looked.\nI acted.\n");
    let said = said(&server)?;
    assert!(said[0].contains("the format `list`") && said[0].contains("`roles`"), "{}", said[0]);
    assert_eq!(said[1..], ["look", "act"]);

    // Named in the configuration, after one that does not understand it, and with a format of the user's words.
    let (server, other) = playing(answers).await?;
    crate::roles::install_roles(&other).await?;
    other.configure("plan_parser = [\"json\", \"roles/list\"]\n")?;
    other.run(&["plan", "tidy up", "--yes", "--format", "a list with dashes"]).await?.with_code(0);
    let said = self::said(&server)?;
    assert!(said[0].ends_with("Write the plan as a list with dashes"), "{}", said[0]);
    assert_eq!(said[1..], ["look", "act"]);
    Ok(())
}

#[tokio::test]
async fn a_parser_that_is_not_there_is_wrong_usage_and_the_others_are_named() -> Result<()> {
    let (server, product) = playing([]).await?;
    crate::roles::install_roles(&product).await?;
    for (name, said) in [
        ("yaml", "there is no plan parser `yaml`; there is json, roles/list, roles/surroundings"),
        ("roles", "`roles` has more than one plan parser"),
    ] {
        let finished = product.run(&["plan", "tidy up", "--yes", "--parser", name]).await?.with_code(2);
        assert!(finished.stderr.contains(said), "{}", finished.stderr);
    }
    product.run(&["ext", "revoke", "roles"]).await?.with_code(0);
    let off = product.run(&["plan", "tidy up", "--yes", "--parser", "roles/list"]).await?.with_code(2);
    assert!(off.stderr.contains("there is json. "), "{}", off.stderr);
    assert!(server.requests().is_empty());
    Ok(())
}

// 004-089, 004-122: a component's hook
#[tokio::test]
async fn hooks_of_extensions_are_told_of_each_step() -> Result<()> {
    let failing = Answer::error(capstan_ports::ModelErrorKind::InvalidRequest, "no such thing");
    let (_server, product) = playing([Answer::text(TWO_STEPS), Answer::text("I looked."), failing]).await?;
    product.install_bytes("stages.wasm", &std::fs::read(built_guest("stages")?)?)?;
    product.run(&["ext", "allow", "stages", "--yes"]).await?.with_code(0);
    let finished = product.run(&["plan", "tidy up", "--yes", "-v"]).await?.with_code(1);
    let told: Vec<_> = finished.stderr.lines().filter(|line| line.contains("plan-step: ")).collect();
    assert_eq!(told.len(), 4, "{}", finished.stderr);
    for (line, (step, status)) in
        told.iter().zip([(0, "Running"), (0, "Completed"), (1, "Running"), (1, "Failed")])
    {
        assert!(line.contains(&format!("plan-step: {step} ")) && line.contains(status), "{status}: {line}");
    }
    Ok(())
}

#[tokio::test]
async fn programs_read_every_change_as_a_line() -> Result<()> {
    let (_server, product) =
        playing([Answer::text(TWO_STEPS), Answer::text("I looked."), Answer::text("I acted.")]).await?;
    let finished = product.run(&["plan", "tidy up", "--yes", "--mode", "json"]).await?.with_code(0);
    let lines = finished.json_lines()?;
    assert_eq!(lines[0]["type"], "session");
    let created = of_type(&lines, "plan_created").pop().context("no plan")?;
    assert_eq!(
        (&created["plan"]["goal"], &created["plan"]["steps"][1]),
        (&json!("tidy up"), &json!({"description": "act", "status": "pending"}))
    );
    let started: Vec<_> =
        of_type(&lines, "plan_step_start").iter().map(|line| line["description"].clone()).collect();
    assert_eq!(started, ["look", "act"]);
    let ended: Vec<_> = of_type(&lines, "plan_step_end").iter().map(|line| line["answer"].clone()).collect();
    assert_eq!(ended, ["I looked.", "I acted."]);
    let last = lines.last().context("no lines")?;
    assert_eq!(
        last,
        &json!({
            "type": "plan_end", "plan": created["plan"]["id"], "outcome": "completed", "completed": 2, "steps": 2,
        })
    );
    assert_eq!(of_type(&lines, "agent_end").len(), 3, "the events of the turns are between them");
    Ok(())
}

// Nobody has agreed to anything while the plan is made.
#[tokio::test]
async fn nothing_is_changed_before_the_plan_is_agreed_to() -> Result<()> {
    let write = |name: &str| Answer::call("write", json!({"path": name, "content": "x"}));
    let one = r#"{"steps": [{"description": "write it"}]}"#;
    let (server, product) =
        playing([write("early"), Answer::text(one), write("late"), Answer::text("written")]).await?;
    product.run(&["plan", "tidy up", "--yes", "--permissions", "all"]).await?.with_code(0);
    assert!(!product.workspace().join("early").exists());
    assert!(product.workspace().join("late").exists(), "what was agreed to is done");
    let requests = server.requests();
    assert!(Conversation::of(&requests[1]).last_result()?.contains("Permission denied"));
    Ok(())
}
