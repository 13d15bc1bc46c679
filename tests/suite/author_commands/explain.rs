//! `capstan ext explain`.

use super::{gate, tool};
use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::guest::{Guest, Request};
use capstan_tests::probe::built_guest;
use capstan_tests::product;
use capstan_tests::product::Product;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

/// A server that calls `work`, then answers.
async fn server() -> Result<ScriptedServer> {
    Ok(ScriptedServer::start(Arc::new(|n, _| match n % 2 {
        0 => Answer::call("work", json!({"n": 1})),
        _ => Answer::text("done"),
    }))
    .await?)
}

fn rewriter(id: &str) -> Guest {
    gate(id, &["work"], 1, r#"{"n":2,"more":true}"#).request(Request::RewriteArguments)
}

async fn last(product: &Product) -> Result<Value> {
    product.run(&["ext", "explain", "--last", "--json"]).await?.with_code(0).json()
}

/// Hook, tool and effect of each record.
fn effects(run: &Value) -> Result<Vec<(&str, &str, &Value)>> {
    let records = run["hooks"].as_array().context("no hooks")?;
    Ok(records
        .iter()
        .map(|record| {
            let text = |name: &str| record[name].as_str().unwrap_or_default();
            (text("hook"), text("tool"), &record["effect"])
        })
        .collect())
}

#[tokio::test]
async fn the_last_run_is_explained_with_what_was_changed_and_who_was_not_asked() -> Result<()> {
    let server = server().await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&tool("worker", "work"))?;
    product.install(&rewriter("a-rewriter"))?;
    product.install(&gate("b-other", &["bash"], 2, "no"))?;
    product.install(&gate("c-block", &["*"], 2, "not today"))?;
    product.install(&gate("d-late", &[], 0, ""))?;
    product.install(&tool("wisher", "wish").request(Request::Directory(".".to_owned())))?;
    product.install_bytes("zero.wasm", b"")?;
    let early = product.run(&["ext", "explain", "--last"]).await?.with_code(1);
    assert!(early.stderr.contains("no run to explain yet"), "{}", early.stderr);

    product.run(&["ext", "allow", "a-rewriter"]).await?.with_code(0);
    product.run(&["-p", "go"]).await?.with_code(0);
    let run = last(&product).await?;
    let change =
        |field: &str, before: Value, after: &str| json!({"field": field, "before": before, "after": after});
    let changed = json!({"changed": [change("n", json!("1"), "2"), change("more", Value::Null, "true")]});
    assert_eq!(
        effects(&run)?,
        [
            ("a-rewriter", "work", &changed),
            ("b-other", "work", &json!({"not-asked": "other-tool"})),
            ("c-block", "work", &json!({"blocked": "not today"})),
            ("d-late", "work", &json!({"not-asked": {"decided-by": "c-block"}})),
        ]
    );
    assert!(run["hooks"][0]["took_us"].as_u64().is_some_and(|took| took > 0));
    assert_eq!(run["session"], product.session()?[0]["id"]);
    let absent: Vec<_> = run["absent"].as_array().into_iter().flatten().map(|it| &it["name"]).collect();
    assert_eq!(absent, ["wisher", "zero"]);

    let text = product.run(&["ext", "explain", "--last"]).await?.with_code(0).stdout;
    for part in ["n: 1 -> 2", "more: (nothing) -> true", "blocked: not today", "c-block had decided already"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("wisher") && text.contains("capstan ext allow wisher"), "{text}");
    let one = product.run(&["ext", "explain", "b-other", "--last"]).await?.with_code(0).stdout;
    assert!(one.contains("its filter does not name this tool") && !one.contains("a-rewriter"), "{one}");
    Ok(())
}

// The arguments of tools are as private as the session.
#[tokio::test]
async fn what_is_kept_is_for_its_user_alone_and_of_the_last_run_alone() -> Result<()> {
    let server = server().await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&tool("worker", "work"))?;
    product.install(&gate("guard", &[], 0, ""))?;
    product.run(&["-p", "go"]).await?.with_code(0);
    let first = last(&product).await?;
    product.run(&["--mode", "json", "-p", "go", "--no-session"]).await?.with_code(0);
    let second = last(&product).await?;
    assert_ne!(first["session"], second["session"]);
    assert_eq!((effects(&first)?.len(), effects(&second)?.len()), (1, 1));

    let folder = product.home().join("explain");
    let file = folder.join("last.jsonl");
    assert_eq!(file.metadata()?.permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(&folder)?.count(), 1, "nothing else is left there");
    std::fs::write(&file, "{\"type\":\"run\",\"version\":99}\n")?;
    let other = product.run(&["ext", "explain", "--last"]).await?.with_code(1);
    assert!(other.stderr.contains("the next run replaces it"), "{}", other.stderr);
    Ok(())
}

#[tokio::test]
async fn each_turn_of_an_interactive_session_is_kept_when_it_ends() -> Result<()> {
    let server = server().await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&tool("worker", "work"))?;
    product.install(&gate("guard", &[], 2, "no"))?;
    product.run_with(&[], "go\ngo again\n").await?.with_code(0);
    let run = last(&product).await?;
    assert_eq!(effects(&run)?, [("guard", "work", &json!({"blocked": "no"}))], "the last turn alone");
    Ok(())
}

// A gate that failed stays closed, and each call is told why.
#[tokio::test]
async fn a_hook_that_fails_is_shown_with_its_failure() -> Result<()> {
    let server = server().await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&tool("worker", "work"))?;
    product.install(&Guest::new("frail").gate(&[], "unreachable"))?;
    product.run(&["-p", "go"]).await?.with_code(0);
    let text = product.run(&["ext", "explain", "--last"]).await?.with_code(0).stdout;
    assert!(text.contains("failed: ") && text.contains("trapped"), "{text}");
    Ok(())
}

// A rewriter that failed is left out from then on (design, failure rules), and the trace says so.
#[tokio::test]
async fn a_rewriter_that_switched_itself_off_is_not_asked_again_and_the_reason_stands_there() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("done"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install_bytes("stages.wasm", &std::fs::read(built_guest("stages")?)?)?;
    product.run(&["ext", "allow", "stages"]).await?.with_code(0);
    let before_turn = |run: &Value| {
        let records = run["hooks"].as_array().into_iter().flatten();
        let mut of_stage = records.filter(|record| record["stage"] == "before-turn");
        of_stage.next().map(|record| record["effect"].clone()).unwrap_or_default()
    };
    product.run_with(&[], "[keep] go\n").await?.with_code(0);
    assert_eq!(before_turn(&last(&product).await?), json!("passed"));
    product.run_with(&[], "[trap] go\n").await?.with_code(0);
    let failed = before_turn(&last(&product).await?);
    assert!(failed["failed"].as_str().is_some_and(|text| text.contains("trapped")), "{failed}");
    product.run_with(&[], "[trap] go\n[keep] go\n").await?.with_code(0);
    let off = before_turn(&last(&product).await?);
    assert!(off["not-asked"]["off"].as_str().is_some_and(|text| text.contains("trapped")), "{off}");
    Ok(())
}

#[tokio::test]
async fn without_a_run_the_order_of_the_hooks_is_explained() -> Result<()> {
    let product = product!()?;
    let mut first = gate("z-first", &["bash", "w*"], 0, "");
    first.hooks[0].priority = -5;
    product.install(&first)?;
    product.install(&gate("a-second", &[], 0, ""))?;
    product.install(&tool("worker", "work"))?;
    product.install(&rewriter("waiting"))?;
    let value = product.run(&["ext", "explain", "--json"]).await?.with_code(0).json()?;
    let order: Vec<_> =
        value["hooks"].as_array().into_iter().flatten().map(|hook| &hook["extension"]).collect();
    assert_eq!(order, ["z-first", "a-second"]);
    let text = product.run(&["ext", "explain", "a-second"]).await?.with_code(0).stdout;
    assert!(text.contains("before-tool-call") && text.contains("tools bash, w*"), "{text}");
    let waiting = product.run(&["ext", "explain", "waiting"]).await?.with_code(0).stdout;
    assert!(waiting.contains("capstan ext allow waiting"), "{waiting}");
    let none = product.run(&["ext", "explain", "worker"]).await?.with_code(1);
    assert!(none.stderr.contains("has no hooks"), "{}", none.stderr);
    product.run(&["ext", "explain", "nobody"]).await?.with_code(1);
    Ok(())
}
