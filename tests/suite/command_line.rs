//! The command line: what goes to stdout, what to stderr, and with which code a run ends.

mod flags;

use anyhow::{Context, Result};
use capstan_ports::ModelErrorKind;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::guest::Guest;
use capstan_tests::product;
use capstan_tests::product::{Finished, KEY};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::Arc;

fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|line| line["type"].as_str()).collect()
}

fn only<'a>(lines: &'a [Value], kind: &str) -> Result<&'a Value> {
    let mut found = lines.iter().filter(|line| line["type"] == kind);
    let one = found.next().with_context(|| format!("no {kind}"))?;
    assert!(found.next().is_none(), "more than one {kind}");
    Ok(one)
}

// 001-141, 000-030, 000-031, 000-041
#[tokio::test]
async fn json_mode_writes_the_session_and_every_event_as_one_line_each() -> Result<()> {
    let (guest, body) = Guest::new("greeter").text_result("hello\u{2028}you");
    let server = ScriptedServer::play([
        Answer::default().and_call_with_id("call-1", "greet", json!({"name": "Ada"})).with_text("I greet."),
        Answer::text("Done, \u{2028}really."),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&guest.tool("greet", &body))?;
    let finished = product.run(&["--mode", "json", "-p", "Greet Ada."]).await?.with_code(0);
    assert_eq!(finished.warnings(), [""; 0]);
    let lines = finished.json_lines()?;

    let header = &lines[0];
    assert_eq!(*header, product.session()?[0], "the first line is that of the file");
    assert_eq!((&header["type"], &header["version"]), (&json!("session"), &json!(3)));
    assert_eq!(header["cwd"], json!(product.workspace()));
    assert!(header["id"].is_string() && header["timestamp"].as_str().is_some_and(|text| text.ends_with('Z')));

    let types = types(&lines);
    assert_eq!(types[1], "agent_start");
    assert_eq!(types.last(), Some(&"agent_end"));
    for once in ["session", "agent_start", "agent_end", "tool_execution_start", "tool_execution_end"] {
        assert_eq!(types.iter().filter(|kind| **kind == once).count(), 1, "{once}");
    }
    assert_eq!(types.iter().filter(|kind| **kind == "turn_start").count(), 2);
    assert!(types.contains(&"message_update"));

    let start = only(&lines, "tool_execution_start")?;
    assert_eq!(
        (&start["toolCallId"], &start["toolName"], &start["args"]),
        (&json!("call-1"), &json!("greet"), &json!({"name": "Ada"}))
    );
    let end = only(&lines, "tool_execution_end")?;
    assert_eq!((&end["toolCallId"], &end["isError"]), (&json!("call-1"), &json!(false)));
    assert_eq!(end["result"]["content"][0]["text"], "hello\u{2028}you");
    let added = only(&lines, "agent_end")?["messages"].as_array().map(Vec::len);
    assert_eq!(added, Some(4), "prompt, call, result, answer");
    Ok(())
}

// 000-150, 000-151 in the whole product
#[tokio::test]
async fn json_mode_ends_in_good_order_when_the_model_fails() -> Result<()> {
    let server =
        ScriptedServer::play([Answer::error(ModelErrorKind::InvalidRequest, "no such thing")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    let finished = product.run(&["--mode", "json", "--no-session", "-p", "go"]).await?.with_code(1);
    let lines = finished.json_lines()?;
    assert_eq!(lines[0]["type"], "session", "a session that is not kept has a header as well");
    assert_eq!(types(&lines).last(), Some(&"agent_end"));
    assert!(finished.stderr.contains("no such thing"), "{}", finished.stderr);
    assert!(product.session_files()?.is_empty());
    Ok(())
}

// 001-140
#[tokio::test]
async fn the_prompt_may_come_from_stdin_and_may_begin_with_a_hyphen() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, request| {
        Answer::text(capstan_tests::conversation::Conversation::of(request).said().join("|"))
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let piped = product.run_with(&["-p", "-"], "line one\nline two\n").await?.with_code(0);
    assert_eq!(piped.stdout.trim_end(), "line one\nline two");
    let hyphen = product.run(&["-p", "--help me"]).await?.with_code(0);
    assert_eq!(hyphen.stdout, "--help me\n");
    // Without a terminal and without -p, each line of stdin is a prompt.
    let lines = product.run_with(&["--no-session"], "hello\n").await?.with_code(0);
    assert!(lines.stdout.contains("hello"), "{}", lines.stdout);
    // What a person may run by a line, text from elsewhere may not.
    let lines = product.run_with(&["--no-session"], "!touch never\n").await?.with_code(0);
    assert!(lines.stdout.contains("!touch never"), "it is a prompt: {}", lines.stdout);
    assert!(!product.workspace().join("never").exists());
    Ok(())
}

// 001-144
#[tokio::test]
async fn wrong_usage_ends_with_2_and_help_with_0() -> Result<()> {
    let product = product!()?;
    for arguments in
        [&["--nonsense"][..], &["-p"], &["--permissions", "everything", "-p", "x"], &["ext", "nonsense"]]
    {
        let finished = product.run(arguments).await?.with_code(2);
        assert_eq!(finished.stdout, "", "{arguments:?}");
        let helps = ["--help", "possible values", "read-only, ask, workspace or all"];
        assert!(
            helps.iter().any(|text| finished.stderr.contains(text)),
            "{arguments:?}: {}",
            finished.stderr
        );
    }
    for arguments in [&["--help"][..], &["ext", "--help"], &["--version"]] {
        let finished = product.run(arguments).await?.with_code(0);
        assert!(finished.stdout.contains("capstan"), "{}", finished.stdout);
    }
    Ok(())
}

#[tokio::test]
async fn an_empty_prompt_is_refused_before_anything_is_made() -> Result<()> {
    let server = ScriptedServer::play([]).await?;
    let product = product!()?.with_openai(&server.base_url());
    for (prompt, input) in [("", ""), (" \n", ""), ("-", ""), ("-", "\n\n")] {
        let finished = product.run_with(&["-p", prompt], input).await?.with_code(1);
        assert!(finished.stderr.contains("the prompt is empty"), "{}", finished.stderr);
    }
    assert!(server.requests().is_empty() && product.session_files()?.is_empty());
    Ok(())
}

// O7
#[tokio::test]
async fn a_reader_that_goes_away_costs_neither_the_session_nor_the_exit_code() -> Result<()> {
    let text = "word ".repeat(3_000);
    let server = ScriptedServer::play([Answer::text(text.clone())]).await?;
    let product = product!()?.with_openai(&server.base_url());
    let mut running = tokio::process::Command::new(env!("CARGO_BIN_EXE_capstan-under-test"))
        .args(["--mode", "json", "-p", "go"])
        .current_dir(product.workspace())
        .env_clear()
        .env("CAPSTAN_HOME", product.home())
        .env("HOME", product.user())
        .env("OPENAI_BASE_URL", server.base_url())
        .env("CAPSTAN_MODEL", "openai/test-model")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    drop(running.stdout.take());
    let output =
        tokio::time::timeout(capstan_tests::product::TIME_LIMIT, running.wait_with_output()).await??;
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), told.as_ref()), (Some(0), ""));
    let last = product.session()?.pop().context("no session")?;
    assert_eq!(last["message"]["content"][0]["text"], json!(text));
    Ok(())
}

fn check_plain(finished: &Finished) {
    for text in [&finished.stdout, &finished.stderr] {
        assert!(!text.contains('\u{1b}'), "escape sequences where no terminal is: {text:?}");
    }
}

#[tokio::test]
async fn doctor_finds_a_sound_installation_sound() -> Result<()> {
    let (guest, body) = Guest::new("greeter").text_result("hello");
    let product = product!()?.with_openai("http://127.0.0.1:9/v1");
    product.install(&guest.tool("greet", &body))?;
    let finished = product.run(&["doctor"]).await?.with_code(0);
    check_plain(&finished);
    for part in ["grants", "sandbox", "openai/test-model", "extension greeter"] {
        assert!(finished.stdout.contains(part), "{part}: {}", finished.stdout);
    }
    assert!(!finished.stdout.contains(KEY), "{}", finished.stdout);
    Ok(())
}

// Design §9: the whole machine with no account and no key.
#[tokio::test]
async fn the_demonstration_runs_without_any_configuration() -> Result<()> {
    let product = product!()?;
    product.install_built("repo-map")?;
    product.install_built("command-guard")?;
    product.install_built("default-arguments")?;
    std::fs::write(product.workspace().join("main.rs"), "fn main() {}\n")?;
    let finished = product.run(&["demo"]).await?.with_code(0);
    check_plain(&finished);
    assert!(
        finished.stdout.contains("main.rs") && finished.stdout.contains("command-guard blocked"),
        "{}",
        finished.stdout
    );
    assert!(product.session_files()?.is_empty(), "nothing of the user's is touched");
    assert!(!product.home().join("grants.toml").exists());

    let told = product.run(&["ext", "explain", "--last"]).await?.with_code(0).stdout;
    assert!(told.contains("max_bytes: (nothing) -> 4000"), "the rewrite is explained afterwards: {told}");
    assert!(told.contains("command-guard") && told.contains("blocked: "), "{told}");
    Ok(())
}

#[tokio::test]
async fn a_demonstration_without_its_extensions_says_how_to_build_them() -> Result<()> {
    let finished = product!()?.run(&["demo"]).await?.with_code(1);
    assert!(
        finished.stderr.contains("repo-map.wasm") && finished.stderr.contains("build it"),
        "{}",
        finished.stderr
    );
    Ok(())
}
