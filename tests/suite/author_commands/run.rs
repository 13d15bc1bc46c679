//! `capstan ext run`.

use super::{file, gate, tool};
use anyhow::Result;
use capstan_tests::guest::{Guest, Request};
use capstan_tests::probe::built_guest;
use capstan_tests::product;
use capstan_tests::product::{Finished, Product};
use serde_json::json;

async fn run(product: &Product, path: &str, more: &[&str], code: i32) -> Result<Finished> {
    Ok(product.run(&[&["ext", "run", path], more].concat()).await?.with_code(code))
}

#[tokio::test]
async fn a_tool_is_called_once_without_model_session_or_installation() -> Result<()> {
    let product = product!()?;
    let path = file(&product, &tool("alpha", "work"))?;
    let finished = run(&product, &path, &["--tool", "work", "--args", r#"{"n": 1}"#], 0).await?;
    assert_eq!(finished.stdout, "work\n");
    let whole = run(&product, &path, &["--tool", "work", "--json"], 0).await?.json()?;
    assert_eq!(whole["answer"]["content"][0]["text"], "work");
    assert!(whole["took_us"].is_u64() && product.session_files()?.is_empty());

    let other = run(&product, &path, &["--tool", "play"], 1).await?;
    assert!(other.stderr.contains("it has work"), "{}", other.stderr);
    let wrong = run(&product, &path, &["--tool", "work", "--args", "{"], 1).await?;
    assert!(wrong.stderr.contains("--args is not valid JSON"), "{}", wrong.stderr);
    run(&product, &path, &[], 2).await?;
    // By its id once it is installed.
    product.install(&tool("alpha", "work"))?;
    assert_eq!(run(&product, "alpha", &["--tool", "work"], 0).await?.stdout, "work\n");
    Ok(())
}

#[tokio::test]
async fn arguments_come_from_the_flag_a_file_or_stdin_and_are_held_to_the_schema() -> Result<()> {
    let product = product!()?;
    let mut guest = tool("strict", "work");
    guest.tools[0].parameters =
        r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#.to_owned();
    let path = file(&product, &guest)?;
    let refused = run(&product, &path, &["--tool", "work"], 1).await?;
    assert!(refused.stderr.contains("\"n\" is a required property"), "{}", refused.stderr);
    std::fs::write(product.workspace().join("a.json"), r#"{"n": 1}"#)?;
    run(&product, &path, &["--tool", "work", "--args", "@a.json"], 0).await?;
    let piped = ["ext", "run", &path, "--tool", "work", "--args", "-"];
    product.run_with(&piped, r#"{"n": 2}"#).await?.with_code(0);
    let missing = run(&product, &path, &["--tool", "work", "--args", "@none.json"], 1).await?;
    assert!(missing.stderr.contains("none.json"), "{}", missing.stderr);
    Ok(())
}

#[tokio::test]
async fn a_trap_is_shown_with_the_function_in_which_it_happened() -> Result<()> {
    let product = product!()?;
    let (guest, _) = Guest::new("frail").text_result("never");
    let guest =
        guest.define("(func $count_to_ten unreachable)").tool("work", "call $count_to_ten i32.const 560");
    let path = file(&product, &guest)?;
    let finished = run(&product, &path, &["--tool", "work"], 1).await?;
    assert!(
        finished.stderr.contains("trapped") && finished.stderr.contains("count_to_ten"),
        "{}",
        finished.stderr
    );
    assert_eq!(finished.stdout, "");
    let whole = run(&product, &path, &["--tool", "work", "--json"], 1).await?.json()?;
    assert!(whole["failure"].as_str().is_some_and(|text| text.contains("count_to_ten")), "{whole}");
    Ok(())
}

// wasmtime reads this variable by itself, and the compiler's process does not have it.
#[tokio::test]
async fn a_variable_for_wasmtime_changes_nothing() -> Result<()> {
    let product = product!()?.with("WASMTIME_BACKTRACE_DETAILS", "1");
    let path = file(&product, &tool("alpha", "work"))?;
    assert_eq!(run(&product, &path, &["--tool", "work"], 0).await?.stdout, "work\n");
    Ok(())
}

#[tokio::test]
async fn a_call_that_does_not_end_is_stopped_when_the_flag_says() -> Result<()> {
    let product = product!()?;
    let (guest, _) = Guest::new("busy").text_result("never");
    let path = file(&product, &guest.tool("work", "(loop $again (br $again)) unreachable"))?;
    let finished = run(&product, &path, &["--tool", "work", "--timeout", "0.2"], 1).await?;
    assert!(finished.stderr.contains("--timeout"), "{}", finished.stderr);
    Ok(())
}

#[tokio::test]
async fn what_it_logs_is_shown_beside_the_result() -> Result<()> {
    let product = product!()?;
    let (guest, body) = Guest::new("chatty").text_result("done");
    let import = r#"(import "capstan:extension/log@0.1.0" "write" (func $log (param i32 i32 i32)))"#;
    let body = format!("i32.const 2 i32.const 100 i32.const 7 call $log {body}");
    let guest = guest.import("log", import).data(100, b"looking").tool("work", &body);
    let finished = run(&product, &file(&product, &guest)?, &["--tool", "work"], 0).await?;
    assert_eq!(finished.stdout, "done\n");
    assert!(finished.stderr.contains("looking"), "{}", finished.stderr);
    Ok(())
}

// Only what the flags grant is there, and only what it asks for can be granted.
#[tokio::test]
async fn files_are_there_only_with_the_flag_that_grants_them() -> Result<()> {
    let product = product!()?;
    let path = product.install_built("repo-map")?.to_string_lossy().into_owned();
    let folder = product.beside("project");
    std::fs::create_dir(&folder)?;
    std::fs::write(folder.join("found.rs"), "pub fn here() {}\n")?;
    let folder = folder.to_string_lossy().into_owned();
    let granted = run(&product, &path, &["--tool", "repo_map", "--dir", &folder], 0).await?;
    assert!(granted.stdout.contains("found.rs"), "{}", granted.stdout);
    let denied = run(&product, &path, &["--tool", "repo_map"], 1).await?;
    assert!(
        !denied.stdout.contains("found.rs") && denied.stdout.contains("may not read"),
        "{}",
        denied.stdout
    );
    std::fs::write(product.workspace().join("own.rs"), "")?;
    let own = run(&product, &path, &["--tool", "repo_map", "--allow", "all"], 0).await?;
    assert!(own.stdout.contains("own.rs"), "{}", own.stdout);
    let unasked = run(&product, &path, &["--tool", "repo_map", "--allow", "http"], 1).await?;
    assert!(
        unasked.stderr.contains("does not ask for `http`") && unasked.stderr.contains("directory"),
        "{}",
        unasked.stderr
    );
    let plain = file(&product, &tool("plain", "work"))?;
    let nothing = run(&product, &plain, &["--tool", "work", "--dir", &folder], 1).await?;
    assert!(nothing.stderr.contains("does not ask for a folder"), "{}", nothing.stderr);
    Ok(())
}

#[tokio::test]
async fn a_hook_answers_with_its_verdict_as_json() -> Result<()> {
    let product = product!()?;
    let question =
        ["--hook", "before-tool-call", "--input", r#"{"tool": "bash", "arguments": {"command": "ls"}}"#];
    let block = file(&product, &gate("blocker", &["b*"], 2, "no way"))?;
    let verdict = run(&product, &block, &question, 0).await?.json()?;
    assert_eq!(verdict, json!({"verdict": "block", "reason": "no way"}));
    let other = ["--hook", "before-tool-call", "--input", r#"{"tool": "read"}"#];
    assert_eq!(run(&product, &block, &other, 0).await?.json()?, json!({"verdict": "not-asked"}));

    let guest = gate("changer", &[], 1, r#"{"command":"pwd"}"#).request(Request::RewriteArguments);
    let changer = file(&product, &guest)?;
    let allowed = [&question[..], &["--allow", "rewrite-arguments"]].concat();
    let verdict = run(&product, &changer, &allowed, 0).await?.json()?;
    assert_eq!(verdict, json!({"verdict": "rewrite", "arguments": {"command": "pwd"}}));
    let powerless = run(&product, &changer, &question, 1).await?;
    assert!(powerless.stderr.contains("rewrite-arguments"), "{}", powerless.stderr);

    for (stage, part) in [("after-turn", "has no hook after-turn"), ("sometimes", "no stage")] {
        let finished = run(&product, &block, &["--hook", stage, "--input", "{}"], 1).await?;
        assert!(finished.stderr.contains(part), "{}", finished.stderr);
    }
    let empty = run(&product, &block, &["--hook", "before-tool-call", "--input", "{}"], 1).await?;
    assert!(empty.stderr.contains("lacks `tool`"), "{}", empty.stderr);
    Ok(())
}

#[tokio::test]
async fn the_configuration_comes_from_the_flag_or_from_the_installed_ones_table() -> Result<()> {
    let product = product!()?;
    product.install_built("command-guard")?;
    let ask = |config: &'static str| {
        let input = r#"{"tool": "bash", "arguments": {"command": "make release"}}"#;
        let mut arguments = vec!["--hook", "before-tool-call", "--input", input];
        arguments.extend((!config.is_empty()).then_some(["--config", config]).into_iter().flatten());
        arguments
    };
    let rule = r#"{"block": [{"pattern": "make release", "reason": "not here"}]}"#;
    let blocked = run(&product, "command-guard", &ask(rule), 0).await?.json()?;
    assert_eq!(blocked["verdict"], "block");
    assert_eq!(run(&product, "command-guard", &ask(""), 0).await?.json()?["verdict"], "pass");
    product.configure("[[extension.command-guard.block]]\npattern = \"make *\"\nreason = \"r\"\n")?;
    assert_eq!(run(&product, "command-guard", &ask(""), 0).await?.json()?["verdict"], "block");
    let wrong = run(&product, "command-guard", &ask(r#"{"blok": []}"#), 1).await?;
    assert!(wrong.stderr.contains("blok"), "{}", wrong.stderr);
    Ok(())
}

#[tokio::test]
async fn each_stage_without_a_verdict_on_a_call_can_be_asked() -> Result<()> {
    let product = product!()?;
    let stages = built_guest("stages")?.to_string_lossy().into_owned();
    let questions = [
        ("before-turn", r#"{"message": "hello"}"#),
        ("before-model", r#"{"messages": ["hello"]}"#),
        ("after-model", r#"{"message": "hello"}"#),
        ("model-error", r#"{"failure": "gone"}"#),
        ("tool-error", r#"{"tool": "work", "failure": "gone"}"#),
        ("after-turn", r#"{"message": "hello"}"#),
        ("turn-error", r#"{"failure": "gone"}"#),
        ("plan-step", r#"{"step": 1, "message": "done"}"#),
        ("session-lifecycle", r#"{"event": "start"}"#),
    ];
    for (stage, input) in questions {
        let asked = ["ext", "run", &stages, "--allow", "all", "--hook", stage, "--input", input];
        let finished = product.run(&asked).await?.with_code(0);
        assert!(finished.json()?["verdict"].is_string(), "{stage}: {}", finished.stdout);
    }
    Ok(())
}
