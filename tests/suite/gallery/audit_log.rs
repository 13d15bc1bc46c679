//! `audit-log`: a record over sessions and restarts.

use super::grant;
use anyhow::Result;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::product;
use serde_json::json;

fn answers() -> Vec<Answer> {
    vec![
        Answer::call("bash", json!({ "command": "echo a-secret-word; exit 3" })),
        Answer::call("read", json!({ "path": "missing" })),
        Answer::text("done"),
    ]
}

#[tokio::test]
async fn calls_of_several_runs_are_shown_by_a_later_one() -> Result<()> {
    let server = ScriptedServer::play([answers(), answers()].concat()).await?;
    let product = product!()?.with_openai(&server.base_url());
    grant(&product, "audit-log").await?;
    product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    product.run(&["-p", "go"]).await?.with_code(0);
    let shown = product.run_with(&[], "/audit\n/audit 1\n").await?.with_code(0);
    let lines: Vec<&str> = shown.stdout.lines().collect();
    let outcomes = ["exit code 3", "error", "denied", "error"];
    for (line, outcome) in lines.iter().zip(outcomes) {
        assert!(line.contains(outcome) && line.contains("openai/test-model"), "{}", shown.stdout);
    }
    assert_eq!(lines[4], "4 of 4 entries, times in UTC", "{}", shown.stdout);
    assert_eq!(lines[5..], [lines[3], "1 of 4 entries, times in UTC"], "{}", shown.stdout);
    assert!(!shown.stdout.contains("a-secret-word"));
    // Removed on request, and then it is gone.
    let cleared = product.run_with(&[], "/audit clear\n/audit\n").await?.with_code(0);
    assert_eq!(cleared.stdout, "Removed 4 entries.\nNothing is recorded yet.\n");
    Ok(())
}

#[tokio::test]
async fn without_its_grant_there_is_no_record_and_no_command() -> Result<()> {
    let server = ScriptedServer::play(answers()).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install_built("audit-log")?;
    product.run(&["-p", "go"]).await?.with_code(0);
    let shown = product.run_with(&[], "/audit\n").await?.with_code(0);
    assert!(shown.stderr.contains("there is no command /audit"), "{}", shown.stderr);
    product.run(&["ext", "allow", "audit-log", "--yes"]).await?.with_code(0);
    let shown = product.run_with(&[], "/audit\n").await?.with_code(0);
    assert_eq!(shown.stdout, "Nothing is recorded yet.\n", "{}", shown.stderr);
    Ok(())
}
