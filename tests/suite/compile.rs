//! Compiling what strangers wrote: a compiler that can be ended, and hosts that go on whatever it is given.

use anyhow::{Context, Result};
use capstan_engine::{Compiler, ExtensionSettings, LoadProblem, Sandbox, SandboxOptions};
use capstan_policy::Effective;
use capstan_ports::message::text_of;
use capstan_tests::bomb;
use capstan_tests::guest::Guest;
use capstan_tests::product;
use capstan_tests::sandboxed::{Granted, Place, call, tool_context};
use serde_json::json;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

const PRODUCT: &str = env!("CARGO_BIN_EXE_capstan-under-test");

/// The compiler process of the product.
fn worker() -> Compiler {
    Compiler::Worker { program: PRODUCT.into(), arguments: vec!["compile-worker".into()] }
}

/// A compiler process that does this instead.
fn shell(script: &str) -> Compiler {
    Compiler::Worker { program: "/bin/sh".into(), arguments: vec!["-c".into(), script.into()] }
}

fn sandbox(compiler: Compiler, limit: Duration) -> Result<Sandbox> {
    Ok(Sandbox::new(&SandboxOptions { compiler, compile_limit: limit, ..SandboxOptions::default() })?)
}

async fn problem(sandbox: &Sandbox, path: &Path) -> Result<LoadProblem> {
    Ok(sandbox.inspect(path).await.err().context("it was taken for an extension")?.problem)
}

async fn problem_with(compiler: Compiler) -> Result<LoadProblem> {
    let place = Place::new()?;
    let file = place.file("tool.wasm", &Guest::new("tool").build()?)?;
    problem(&sandbox(compiler, Duration::from_secs(2))?, &file).await
}

fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

#[tokio::test]
async fn what_the_compiler_process_answers_runs_like_any_other_code() -> Result<()> {
    let place = Place::new()?;
    let (guest, body) = Guest::new("tool").text_result("hello");
    let file = place.file("tool.wasm", &guest.tool("say", &body).build()?)?;
    for compiler in [Compiler::InProcess, worker()] {
        let sandbox = sandbox(compiler, Duration::from_secs(60))?;
        let settings = ExtensionSettings::new(place.places());
        let extension = sandbox.extension(sandbox.inspect(&file).await?, Effective::nothing(), &settings)?;
        let outcome = extension.tools()[0].execute(&call("say", json!({})), &tool_context()).await?;
        assert_eq!(text_of(&outcome.content), "hello");
    }
    Ok(())
}

// A10
#[tokio::test]
async fn a_component_that_would_compile_for_ever_is_given_up_and_others_load_meanwhile() -> Result<()> {
    let place = Place::new()?;
    let sandbox = sandbox(worker(), Duration::from_secs(8))?;
    let bomb = place.file("bomb.wasm", &bomb::nested_loops(1_000, 10_000))?;
    let good = place.file("good.wasm", &Guest::new("good").build()?)?;
    let failing = problem(&sandbox, &bomb);
    tokio::pin!(failing);
    let loaded = tokio::select! {
        biased;
        failed = &mut failing => anyhow::bail!("the bomb was first: {}", failed?),
        loaded = sandbox.inspect(&good) => loaded?,
    };
    assert_eq!(loaded.surface.descriptor.id.as_str(), "good");
    let failed = failing.await?;
    assert!(
        matches!(failed, LoadProblem::CompileTimedOut { .. } | LoadProblem::CompilerStopped { .. }),
        "{failed}"
    );
    sandbox.inspect(&good).await?;
    Ok(())
}

// A10
#[tokio::test]
async fn many_functions_and_nested_tables_are_refused_or_compiled_within_the_limit() -> Result<()> {
    let place = Place::new()?;
    let sandbox = sandbox(worker(), Duration::from_secs(2))?;
    for (name, bytes) in
        [("functions.wasm", bomb::many_functions(100_000)), ("tables.wasm", bomb::nested_tables(1_500))]
    {
        let file = place.file(name, &bytes)?;
        let problem = problem(&sandbox, &file).await?;
        let expected = matches!(
            problem,
            LoadProblem::CompileTimedOut { .. }
                | LoadProblem::CompilerStopped { .. }
                | LoadProblem::Invalid { .. }
                // It was compiled, and is no extension.
                | LoadProblem::NotAnExtension { .. }
        );
        assert!(expected, "{name}: {problem}");
    }
    Ok(())
}

// A11
#[tokio::test]
async fn types_within_types_are_refused_without_an_overflow_of_this_stack() -> Result<()> {
    let place = Place::new()?;
    let sandbox = sandbox(worker(), Duration::from_secs(60))?;
    for (name, bytes) in
        [("nested.wasm", bomb::nested_types(100_000)), ("chained.wasm", bomb::chained_types(100_000))]
    {
        let file = place.file(name, &bytes)?;
        let problem = problem(&sandbox, &file).await?;
        assert!(
            matches!(problem, LoadProblem::Invalid { .. } | LoadProblem::CompilerStopped { .. }),
            "{name}: {problem}"
        );
    }
    // Shallow ones of the same making are valid, so it is the depth that was refused.
    for (name, bytes) in [("nested.wasm", bomb::nested_types(5)), ("chained.wasm", bomb::chained_types(5))] {
        let file = place.file(name, &bytes)?;
        let problem = problem(&sandbox, &file).await?;
        assert!(matches!(problem, LoadProblem::NotAnExtension { .. }), "{name}: {problem}");
    }
    Ok(())
}

// A10: in the embedder's own process, where nothing can be ended.
#[tokio::test]
async fn without_a_process_the_time_limit_is_reported_and_said_to_leave_a_thread_behind() -> Result<()> {
    let place = Place::new()?;
    let sandbox = sandbox(Compiler::InProcess, Duration::from_millis(300))?;
    let file = place.file("tables.wasm", &bomb::nested_loops(100, 10_000))?;
    let problem = problem(&sandbox, &file).await?;
    assert!(matches!(problem, LoadProblem::CompileAbandoned { .. }), "{problem}");
    assert!(problem.to_string().contains("goes on"), "{problem}");
    Ok(())
}

#[tokio::test]
async fn a_compiler_process_that_takes_too_long_is_gone_afterwards() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let pid = folder.path().join("pid");
    let problem = problem_with(shell(&format!("echo $$ > {}; exec sleep 600", pid.display()))).await?;
    assert!(matches!(problem, LoadProblem::CompileTimedOut { .. }), "{problem}");
    assert!(
        problem.to_string().contains("2 s") && problem.to_string().contains("compile_seconds"),
        "{problem}"
    );
    assert!(!is_alive(&std::fs::read_to_string(pid)?));
    Ok(())
}

// S1
#[tokio::test]
async fn a_compiler_process_inherits_nothing() -> Result<()> {
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "there is something to inherit");
    let folder = tempfile::tempdir()?;
    let seen = folder.path().join("seen");
    let problem = problem_with(shell(&format!("{{ env; pwd; }} > {}; exit 3", seen.display()))).await?;
    assert!(problem.to_string().contains("exit code 3"), "{problem}");
    let seen = std::fs::read_to_string(seen)?;
    let ours = ["RAYON_NUM_THREADS=", "MALLOC_ARENA_MAX=", "PWD=/", "SHLVL=", "_="];
    assert!(seen.lines().all(|line| line == "/" || ours.iter().any(|name| line.starts_with(name))), "{seen}");
    Ok(())
}

#[tokio::test]
async fn only_a_whole_answer_of_a_process_that_ended_well_counts() -> Result<()> {
    let cases = [
        ("cat > /dev/null; echo hello", "out of form"),
        ("cat > /dev/null", "out of form"),
        // Ten bytes are announced, three come.
        (r"cat > /dev/null; printf '\001\012\000\000\000\000\000\000\000abc'", "out of form"),
        // A whole answer, and then a fall.
        (r"cat > /dev/null; printf '\001\003\000\000\000\000\000\000\000abc'; echo oops >&2; exit 1", "oops"),
        ("kill -9 $$", "signal 9"),
    ];
    for (script, expected) in cases {
        let problem = problem_with(shell(script)).await?;
        assert!(
            matches!(problem, LoadProblem::CompilerStopped { .. }) && problem.to_string().contains(expected),
            "{script}: {problem}"
        );
    }
    // Well-formed, and no code.
    let problem =
        problem_with(shell(r"cat > /dev/null; printf '\001\003\000\000\000\000\000\000\000abc'")).await?;
    assert!(matches!(problem, LoadProblem::Invalid { .. }), "{problem}");
    let nowhere = Compiler::Worker { program: "/nowhere/capstan".into(), arguments: Vec::new() };
    let problem = problem_with(nowhere).await?;
    assert!(matches!(problem, LoadProblem::CompilerMissing { .. }), "{problem}");
    assert!(problem.to_string().contains("/nowhere/capstan"), "{problem}");
    Ok(())
}

#[tokio::test]
async fn the_compiler_process_bounds_itself_and_says_why_it_refuses() -> Result<()> {
    let mut child = Command::new(PRODUCT)
        .arg("compile-worker")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let limits = Path::new("/proc").join(child.id().context("it runs")?.to_string()).join("limits");
    let (mut stdin, mut stdout) = child.stdin.take().zip(child.stdout.take()).context("its pipes")?;
    stdin.write_all(&7_u64.to_le_bytes()).await?;
    loop {
        let text = std::fs::read_to_string(&limits)?;
        let bound = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
            line[name.len()..].split_whitespace().next().unwrap_or_default().to_owned()
        };
        if bound("Max file size") == "0" {
            assert_eq!(bound("Max address space"), (4_u64 << 30).to_string());
            assert_eq!(bound("Max core file size"), "0");
            assert_ne!(bound("Max cpu time"), "unlimited");
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Without files and lines, and then the component.
    stdin.write_all(&[0]).await?;
    stdin.write_all(b"\0asm\x0d\0\x01\0\x01").await?;
    drop(stdin);
    let mut answer = Vec::new();
    stdout.read_to_end(&mut answer).await?;
    assert!(child.wait().await?.success(), "that it does not compile is an answer");
    assert_eq!(answer[0], 2);
    assert!(String::from_utf8_lossy(&answer[9..]).contains("unexpected end"), "{answer:?}");
    Ok(())
}

// A8: what still loads is called.
#[tokio::test]
async fn flipped_bits_are_refused_or_run_within_limits_also_when_called() -> Result<()> {
    let place = Place::new()?;
    let (guest, body) = Guest::new("tool").text_result("hello");
    let whole = guest.tool("say", &body).build()?;
    let mut at = 987_654_321_usize;
    let (mut refused, mut ran) = (0, 0);
    for _ in 0..120 {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut bytes = whole.clone();
        let position = (at >> 16) % bytes.len();
        bytes[position] ^= 1 << (at >> 60 & 7);
        let Ok(inspected) = place.inspect("flipped.wasm", &bytes).await else {
            refused += 1;
            continue;
        };
        let extension = place.put_in_force(inspected, Granted::Nothing)?;
        for tool in extension.tools() {
            // Any answer is one; that there is one is the point.
            drop(tool.execute(&call("say", json!({})), &tool_context()).await);
            ran += 1;
        }
    }
    assert!(refused > 0 && ran > 0, "{refused} refused, {ran} ran");
    place.load(&Guest::new("fine").tool("t", &body)).await?;
    Ok(())
}

// A10
#[tokio::test]
async fn a_print_run_goes_on_without_what_does_not_compile_in_time() -> Result<()> {
    let product = product!()?.with_script(&[r#"{"text":"done"}"#])?;
    product.configure("compile_seconds = 2\n")?;
    product.install_bytes("bomb.wasm", &bomb::nested_loops(1_000, 10_000))?;
    product.install(&Guest::new("good"))?;
    let run = product.run(&["-p", "hi"]).await?;
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("bomb.wasm") && run.stderr.contains("within 2 s"), "{}", run.stderr);
    let listed = product.run(&["ext", "list", "--json"]).await?;
    assert!(
        listed.stdout.contains("\"active\"") && listed.stdout.contains("\"broken\""),
        "{}",
        listed.stdout
    );
    Ok(())
}
