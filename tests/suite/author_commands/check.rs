//! `capstan ext check`.

use super::{file, gate, tool};
use anyhow::{Context, Result};
use capstan_tests::guest::{Guest, Request};
use capstan_tests::product;
use capstan_tests::product::Product;
use serde_json::Value;

/// What is found out about one file.
async fn report(product: &Product, path: &str, code: i32) -> Result<Value> {
    let reports = product.run(&["ext", "check", "--json", path]).await?.with_code(code).json()?;
    reports.get(0).cloned().context("no report")
}

/// The warnings about a file, whatever else there is.
async fn warnings_of(product: &Product, path: &str) -> Result<Vec<String>> {
    let reports = product.run(&["ext", "check", "--json", path]).await?.json()?;
    Ok(texts(&reports[0], "warnings"))
}

fn texts(report: &Value, list: &str) -> Vec<String> {
    let texts = report[list].as_array().into_iter().flatten();
    texts.filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn every_extension_of_this_repository_passes_without_a_warning() -> Result<()> {
    let product = product!()?;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../extensions"))? {
        let entry = entry?;
        if entry.path().join("Cargo.toml").is_file() {
            product.install_built(&entry.file_name().to_string_lossy())?;
        }
    }
    let reports = product.run(&["ext", "check", "--json"]).await?.with_code(0).json()?;
    let reports = reports.as_array().context("no array")?;
    assert!(reports.len() >= 3, "{reports:?}");
    for report in reports {
        assert_eq!(
            (texts(report, "problems"), texts(report, "warnings")),
            (Vec::new(), Vec::new()),
            "{report}"
        );
        assert_eq!(report["contract"], "0.1.0");
    }
    Ok(())
}

#[tokio::test]
async fn a_schema_that_no_validator_takes_is_a_problem() -> Result<()> {
    let product = product!()?;
    let mut guest = tool("strange", "work");
    let good = file(&product, &guest)?;
    assert_eq!(texts(&report(&product, &good, 0).await?, "problems"), [""; 0]);
    guest.tools[0].parameters = r#"{"type":"object","properties":{"n":{"type":"nonsense"}}}"#.to_owned();
    let bad = file(&product, &guest)?;
    let problems = texts(&report(&product, &bad, 1).await?, "problems");
    assert!(problems.len() == 1 && problems[0].contains("tool `work`: parameters"), "{problems:?}");
    Ok(())
}

#[tokio::test]
async fn what_can_never_be_granted_or_used_is_said() -> Result<()> {
    let product = product!()?;
    let up = file(&product, &tool("climber", "work").request(Request::Directory("../up".to_owned())))?;
    let problems = texts(&report(&product, &up, 1).await?, "problems");
    assert!(problems[0].contains("cannot be granted") && problems[0].contains(".."), "{problems:?}");

    let useless = file(&product, &tool("useless", "work").request(Request::RewriteArguments))?;
    let warnings = texts(&report(&product, &useless, 0).await?, "warnings");
    assert!(warnings[0].contains("a grant would do nothing"), "{warnings:?}");
    let useful = gate("useful", &[], 0, "").request(Request::RewriteArguments);
    assert_eq!(texts(&report(&product, &file(&product, &useful)?, 0).await?, "warnings"), [""; 0]);

    let kv = r#"(import "capstan:extension/key-value@0.1.0" "get" (func $get (param i32 i32 i32)))"#;
    let silent = tool("silent", "work").import("key-value", kv);
    let warnings = texts(&report(&product, &file(&product, &silent)?, 0).await?, "warnings");
    assert!(warnings[0].contains("key-value") && warnings[0].contains("denied"), "{warnings:?}");
    let asking = silent.request(Request::KeyValue(1000));
    assert_eq!(warnings_of(&product, &file(&product, &asking)?).await?, [""; 0]);
    Ok(())
}

#[tokio::test]
async fn the_users_table_for_an_installed_extension_is_checked() -> Result<()> {
    let product = product!()?;
    product.install_built("command-guard")?;
    product.configure("[extension.command-guard]\nunreadable = \"block\"\n")?;
    product.run(&["ext", "check"]).await?.with_code(0);
    product.configure("[extension.command-guard]\nunreadable = \"maybe\"\n")?;
    let bad = product.run(&["ext", "check"]).await?.with_code(1);
    assert!(
        bad.stdout.contains("[extension.command-guard]") && bad.stdout.contains("unreadable"),
        "{}",
        bad.stdout
    );
    Ok(())
}

#[tokio::test]
async fn installed_files_that_cannot_be_used_are_problems_and_waiting_ones_are_not() -> Result<()> {
    let product = product!()?;
    product.install(&tool("waiter", "wait").request(Request::Directory(".".to_owned())))?;
    let waits = product.run(&["ext", "check"]).await?.with_code(0);
    assert!(waits.stdout.contains("capstan ext allow waiter"), "{}", waits.stdout);
    product.install(&tool("one", "same"))?;
    product.install(&tool("two", "same"))?;
    product.install(&Guest::new("three").describe_with("unreachable"))?;
    let bad = product.run(&["ext", "check", "--json"]).await?.with_code(1).json()?;
    let problems: Vec<_> =
        bad.as_array().into_iter().flatten().map(|report| texts(report, "problems").len()).collect();
    assert_eq!(problems, [1, 1, 1, 0], "{bad}");
    Ok(())
}
