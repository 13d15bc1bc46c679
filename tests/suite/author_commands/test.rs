//! `capstan ext test`.

use super::{file, gate, tool};
use anyhow::{Context, Result};
use capstan_tests::guest::Request;
use capstan_tests::product;
use std::path::Path;

#[tokio::test]
async fn the_recorded_cases_of_the_extensions_of_this_repository_hold() -> Result<()> {
    let product = product!()?;
    for name in
        ["repo-map", "command-guard", "default-arguments", "secret-redactor", "output-trimmer", "audit-log"]
    {
        let wasm = product.install_built(name)?.to_string_lossy().into_owned();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../extensions").join(name);
        let cases = sources.join(format!("{name}.cases.toml")).to_string_lossy().into_owned();
        let finished = product.run(&["ext", "test", &wasm, "--cases", &cases]).await?.with_code(0);
        assert!(finished.stdout.contains(" passed, 0 failed"), "{}", finished.stdout);
    }
    Ok(())
}

const CASES: &str = r#"# About these cases.

[[case]]
name = "answers its name"
tool = "work"

[case.expect]
text = "work"

[[case]]
name = "answers something else" # wrongly
tool = "work"

[case.expect]
text = "play"

[[case]]
name = "has no expectation"
tool = "work"
"#;

#[tokio::test]
async fn a_case_that_does_not_hold_fails_the_run_until_it_is_recorded() -> Result<()> {
    let product = product!()?;
    let wasm = file(&product, &tool("alpha", "work"))?;
    let missing = product.run(&["ext", "test", &wasm]).await?.with_code(1);
    assert!(missing.stderr.contains("alpha.cases.toml"), "{}", missing.stderr);
    let cases = product.beside("alpha.cases.toml");
    std::fs::write(&cases, CASES)?;

    let failing = product.run(&["ext", "test", &wasm]).await?.with_code(1);
    assert!(
        failing.stdout.contains("1 passed, 2 failed") && failing.stdout.contains("\"play\""),
        "{}",
        failing.stdout
    );
    assert_eq!(std::fs::read_to_string(&cases)?, CASES, "a test changes nothing by itself");
    let reports = product.run(&["ext", "test", &wasm, "--json"]).await?.with_code(1).json()?;
    let states: Vec<_> = reports.as_array().context("no array")?.iter().map(|case| &case["state"]).collect();
    assert_eq!(states, ["ok", "failed", "failed"]);

    let recorded = product.run(&["ext", "test", &wasm, "--update"]).await?.with_code(0);
    assert!(recorded.stdout.contains("1 passed, 0 failed, 2 recorded"), "{}", recorded.stdout);
    let text = std::fs::read_to_string(&cases)?;
    assert!(text.starts_with("# About these cases.") && text.contains("# wrongly"), "{text}");
    product.run(&["ext", "test", &wasm]).await?.with_code(0);
    // A folder of components and their cases is a suite as well.
    let folder = product.beside("").to_string_lossy().into_owned();
    let all = product.run(&["ext", "test", &folder]).await?.with_code(0);
    assert!(all.stdout.contains("3 passed"), "{}", all.stdout);
    Ok(())
}

#[tokio::test]
async fn hooks_grants_files_and_failures_are_cases_too() -> Result<()> {
    let product = product!()?;
    let guest = gate("changer", &["bash"], 1, r#"{"command":"pwd"}"#).request(Request::RewriteArguments);
    let wasm = file(&product, &guest)?;
    let cases = |allow: &str, expect: &str| {
        format!(
            "[[case]]\nname = \"one\"\nhook = \"before-tool-call\"\n\
             input = {{ tool = \"bash\", arguments = {{ command = \"ls\" }} }}\nallow = {allow}\n[case.expect]\n{expect}\n"
        )
    };
    for (allow, expect, code) in [
        (
            "[\"rewrite-arguments\"]",
            "answer = { verdict = \"rewrite\", arguments = { command = \"pwd\" } }",
            0,
        ),
        ("[\"all\"]", "verdict = \"rewrite\"", 0),
        ("[]", "failure = \"rewrite-arguments\"", 0),
        ("[]", "verdict = \"rewrite\"", 1),
        ("[\"http\"]", "verdict = \"rewrite\"", 1),
    ] {
        std::fs::write(product.beside("changer.cases.toml"), cases(allow, expect))?;
        product.run(&["ext", "test", &wasm]).await?.with_code(code);
    }
    Ok(())
}

// A case gives the same on every machine and touches nothing of the user's.
#[tokio::test]
async fn a_case_cannot_be_granted_folders_of_the_machine_or_write_outside_its_workspace() -> Result<()> {
    let product = product!()?;
    let outside = product.beside("outside").to_string_lossy().into_owned();
    std::fs::create_dir(&outside)?;
    let case = |more: &str| {
        format!("[[case]]\nname = \"one\"\ntool = \"work\"\n{more}\n[case.expect]\ntext = \"work\"\n")
    };
    let check = async |folder: &str, more: &str, code: i32| {
        let wasm = file(&product, &tool("far", "work").request(Request::Directory(folder.to_owned())))?;
        std::fs::write(product.beside("far.cases.toml"), case(more))?;
        anyhow::Ok(product.run(&["ext", "test", &wasm]).await?.with_code(code).stdout)
    };
    check(".", "allow = [\"all\"]", 0).await?;
    let refused = check(&outside, "allow = [\"all\"]", 1).await?;
    assert!(refused.contains("only folders of its own workspace"), "{refused}");
    check(".", "files = { \"a/b.txt\" = \"x\" }", 0).await?;
    let up = check(".", "files = { \"../escaped.txt\" = \"x\" }", 1).await?;
    assert!(up.contains("no path below the workspace"), "{up}");
    Ok(())
}

#[tokio::test]
async fn a_misspelt_key_is_refused_and_named() -> Result<()> {
    let product = product!()?;
    let wasm = file(&product, &tool("alpha", "work"))?;
    std::fs::write(product.beside("alpha.cases.toml"), "[[case]]\nname = \"x\"\ntoool = \"work\"\n")?;
    let refused = product.run(&["ext", "test", &wasm]).await?.with_code(1);
    assert!(
        refused.stderr.contains("toool") && refused.stderr.contains("alpha.cases.toml"),
        "{}",
        refused.stderr
    );
    Ok(())
}
