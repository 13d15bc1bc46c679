//! Hooks that are programs of the user, and RTK, in the whole product with real programs.

use anyhow::Result;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::guest::Guest;
use capstan_tests::product;
use capstan_tests::product::{Finished, KEY, Product};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

/// A model that makes this call in the first round of each run, and then is done.
async fn model(tool: &'static str, arguments: Value) -> Result<ScriptedServer> {
    Ok(ScriptedServer::start(Arc::new(move |n, _| match n % 2 {
        0 => Answer::call(tool, arguments.clone()),
        _ => Answer::text("done"),
    }))
    .await?)
}

/// Runs one prompt with every permission; gives the result that the model read.
async fn work(product: &Product, server: &ScriptedServer) -> Result<(String, Finished)> {
    let finished = product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    let last = server.requests().pop().ok_or_else(|| anyhow::anyhow!("no request"))?;
    Ok((Conversation::of(&last).last_result()?, finished))
}

fn script(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, format!("#!/bin/sh\n{text}\n"))?;
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?)
}

/// The example of the README, word for word.
const NO_DOTENV: &str = r#"
[[hook]]
event = "PreToolUse"
matcher = "Write|Edit"
command = 'grep -q "\"file_path\":\"[^\"]*/\.env\"" || exit 0; echo "the .env file is mine" >&2; exit 2'
"#;

#[tokio::test]
async fn a_guard_written_for_claude_code_keeps_a_file_from_being_written() -> Result<()> {
    let server = model("write", json!({"path": ".env", "content": "KEY=1"})).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.configure(NO_DOTENV)?;
    assert_eq!(work(&product, &server).await?.0, "the .env file is mine");
    assert!(!product.workspace().join(".env").exists());

    // The controls: another file passes the guard, and without it the same call writes.
    let other = model("write", json!({"path": "notes", "content": "x"})).await?;
    let product = product.with_openai(&other.base_url());
    work(&product, &other).await?;
    assert!(product.workspace().join("notes").exists());
    let product = product.with_openai(&server.base_url());
    product.configure("")?;
    work(&product, &server).await?;
    assert!(product.workspace().join(".env").exists());
    Ok(())
}

// Design §6: a gate that fails stays closed, with its name and what to do.
#[tokio::test]
async fn a_guard_that_breaks_denies_and_names_itself() -> Result<()> {
    let server = model("bash", json!({"command": "touch marker"})).await?;
    let product = product!()?.with_openai(&server.base_url());
    let marker = product.workspace().join("marker");
    let guard = |how: &str| format!("[[hook]]\nevent = \"PreToolUse\"\nname = \"guard\"\n{how}\n");
    for (how, problem) in [
        ("command = \"exit 1\"", "exit code 1"),
        ("command = \"no-such-interpreter guard.py\"", "exit code 127"),
        ("command = \"echo sure\"", "something else than a JSON object: sure"),
        ("command = \"kill -SEGV $$\"", "ended by a signal"),
        ("command = \"sleep 60\"\ntimeout_seconds = 1", "did not answer within 1s"),
        ("program = \"no-such-guard\"", "no folder on PATH has it"),
    ] {
        product.configure(&guard(how))?;
        let (result, _) = work(&product, &server).await?;
        assert!(result.contains("hook guard failed") && result.contains(problem), "{how}: {result}");
        assert!(result.contains("[[hook]] number 1 of config.toml"), "{result}");
        assert!(!marker.exists(), "{how}");
    }
    product.configure(&guard("command = \"exit 1\"\non_failure = \"allow\""))?;
    let (_, finished) = work(&product, &server).await?;
    assert!(marker.exists() && finished.stderr.contains("lets the call pass"), "{}", finished.stderr);
    Ok(())
}

// T7: a hook's `allow` is no permission.
#[tokio::test]
async fn a_hook_that_allows_a_command_allows_nothing() -> Result<()> {
    let server = model("bash", json!({"command": "touch marker"})).await?;
    let product = product!()?.with_openai(&server.base_url());
    let allow = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
    product.configure(&format!("[[hook]]\nevent = \"PreToolUse\"\ncommand = '''echo '{allow}' '''\n"))?;
    product.run(&["-p", "go"]).await?.with_code(0);
    let result = Conversation::of(&server.requests()[1]).last_result()?;
    assert!(result.contains("--permissions all"), "{result}");
    assert!(!product.workspace().join("marker").exists());
    work(&product, &server).await?;
    assert!(product.workspace().join("marker").exists());
    Ok(())
}

// S2: the key is in the host's environment, and not in that of a hook.
#[tokio::test]
async fn hooks_hear_of_the_whole_session_and_never_see_the_keys() -> Result<()> {
    let server = model("bash", json!({"command": "echo hi"})).await?;
    let product = product!()?.with_openai(&server.base_url());
    let diary = product.beside("diary");
    let events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];
    let hooks: String = events
        .iter()
        .map(|event| {
            let line = format!("cat >> {0}; echo >> {0}; env >> {0}.env", diary.display());
            format!("[[hook]]\nevent = \"{event}\"\ncommand = '{line}'\n")
        })
        .collect();
    product.configure(&hooks)?;
    work(&product, &server).await?;
    let lines: Vec<Value> =
        std::fs::read_to_string(&diary)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let names: Vec<_> =
        lines.iter().map(|line| line["hook_event_name"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, events);
    assert_eq!(lines[1]["prompt"], "go");
    assert_eq!(lines[3]["tool_response"]["content"][0]["text"], "hi\n");
    assert!(lines.iter().all(|line| line["session_id"] == lines[0]["session_id"]));
    let workspace = product.workspace().display().to_string();
    assert!(lines.iter().all(|line| line["cwd"] == workspace.as_str()));
    let environment = std::fs::read_to_string(product.beside("diary.env"))?;
    assert!(environment.contains(&format!("CLAUDE_PROJECT_DIR={workspace}")), "{environment}");
    assert!(!environment.contains(KEY) && !environment.contains("CAPSTAN"), "{environment}");
    Ok(())
}

// T12
#[tokio::test]
async fn a_projects_hook_runs_only_once_the_user_trusts_that_file() -> Result<()> {
    let server = model("bash", json!({"command": "echo hi"})).await?;
    let product = product!()?.with_openai(&server.base_url());
    let project = product.workspace().join(".capstan");
    std::fs::create_dir(&project)?;
    let planted = product.beside("planted");
    let config = format!("[[hook]]\nevent = \"PreToolUse\"\ncommand = 'touch {}'\n", planted.display());
    std::fs::write(project.join("config.toml"), &config)?;
    work(&product, &server).await?;
    assert!(!planted.exists());

    product.run(&["ext", "allow", "--project"]).await?.with_code(0);
    work(&product, &server).await?;
    assert!(planted.exists(), "the control: a trusted file is obeyed");

    std::fs::remove_file(&planted)?;
    std::fs::write(project.join("config.toml"), format!("{config}# changed\n"))?;
    let (_, finished) = work(&product, &server).await?;
    assert!(!planted.exists() && finished.stderr.contains("is not the one that you trusted"));
    Ok(())
}

// 001-120, 001-121: a component, a process hook and the built-in tools in one session.
#[tokio::test]
async fn native_hooks_and_components_guard_side_by_side() -> Result<()> {
    let server = model("bash", json!({"command": "touch marker"})).await?;
    let product = product!()?.with_openai(&server.base_url());
    let no = |who: &str, code: i32| {
        format!("[[hook]]\nevent = \"PreToolUse\"\ncommand = 'echo {who} >&2; exit {code}'\n")
    };
    let (guest, body) = Guest::new("warden").verdict(2, "the component says no");
    let component = product.install(&guest.gate(&["bash"], &body))?;
    product.configure(&no("the-program-says-no", 2))?;
    // Components come first, and the first that blocks decides.
    assert_eq!(work(&product, &server).await?.0, "the component says no");
    std::fs::remove_file(component)?;
    let (guest, body) = Guest::new("lax").verdict(0, "");
    product.install(&guest.gate(&["bash"], &body))?;
    assert_eq!(work(&product, &server).await?.0, "the-program-says-no");
    product.configure(&no("fine", 0))?;
    work(&product, &server).await?;
    assert!(product.workspace().join("marker").exists());
    Ok(())
}

/// The product with this `rtk` first on its `PATH`, switched on.
fn with_rtk(product: Product, rewrite: &str) -> Result<Product> {
    let programs = product.beside("bin");
    std::fs::create_dir_all(&programs)?;
    // As the real one, it also runs the commands that it made up, and hands on their exit codes.
    let rtk = format!("if [ \"$1\" = rewrite ]; then shift; {rewrite}; fi\necho by rtk\nexec \"$@\"");
    script(&programs.join("rtk"), &rtk)?;
    product.configure("[rtk]\nenabled = true\n")?;
    let path = std::env::var("PATH")?;
    Ok(product.with("PATH", format!("{}:{path}", programs.display())))
}

// 003-146, 003-150, 003-153
#[tokio::test]
async fn a_command_runs_as_rtk_rewrote_it_and_the_events_show_both() -> Result<()> {
    let server = model("bash", json!({"command": "echo hi"})).await?;
    for code in [0, 3] {
        let product = product!()?.with_openai(&server.base_url());
        let product = with_rtk(product, &format!("echo \"rtk $1\"; exit {code}"))?;
        assert_eq!(work(&product, &server).await?.0, "by rtk\nhi\n");
        let finished =
            product.run(&["-p", "go", "--mode", "json", "--permissions", "all"]).await?.with_code(0);
        assert!(
            finished.stdout.contains(r#""rtk":{"original":"echo hi","command":"rtk echo hi"}"#),
            "{}",
            finished.stdout
        );
        // Rewritten or not, a command needs its permission.
        product.run(&["-p", "go"]).await?.with_code(0);
        let last = server.requests().pop().ok_or_else(|| anyhow::anyhow!("no request"))?;
        assert!(Conversation::of(&last).last_result()?.contains("--permissions all"));
    }
    let product = with_rtk(product!()?.with_openai(&server.base_url()), "exit 2")?;
    assert!(work(&product, &server).await?.0.contains("a rule of rtk denies this command: echo hi"));
    Ok(())
}

// 003-148, 003-151
#[tokio::test]
async fn whatever_is_wrong_with_rtk_the_command_runs_and_that_is_said_once() -> Result<()> {
    let server = model("bash", json!({"command": "echo hi"})).await?;
    for (rewrite, problem) in [
        ("exit 1", None),
        ("exit 101", Some("rtk ended with exit code 101")),
        ("kill -SEGV $$", Some("rtk was ended by a signal")),
        ("echo usage; exit 0", Some("no rewritten command line")),
        ("sleep 60", Some("rtk did not answer within 2s")),
    ] {
        let product = with_rtk(product!()?.with_openai(&server.base_url()), rewrite)?;
        let (result, finished) = work(&product, &server).await?;
        assert_eq!(result, "hi\n", "{rewrite}");
        let said = finished.stderr.matches("commands run as they are").count();
        assert_eq!(said, usize::from(problem.is_some()), "{rewrite}: {}", finished.stderr);
        assert!(problem.is_none_or(|problem| finished.stderr.contains(problem)), "{}", finished.stderr);
    }
    let product = product!()?.with_openai(&server.base_url());
    product.configure("[rtk]\nenabled = true\nprogram = \"no-such-rtk\"\n")?;
    let (result, finished) = work(&product, &server).await?;
    assert_eq!(result, "hi\n");
    assert!(finished.stderr.contains("no-such-rtk cannot be started"), "{}", finished.stderr);
    Ok(())
}

// 003-152
#[tokio::test]
async fn a_rewritten_command_that_fails_is_still_a_failure() -> Result<()> {
    let server = model("bash", json!({"command": "false"})).await?;
    let product = with_rtk(product!()?.with_openai(&server.base_url()), "echo \"rtk $1\"; exit 0")?;
    let finished = product.run(&["-p", "go", "--mode", "json", "--permissions", "all"]).await?.with_code(0);
    let end = finished.stdout.lines().find(|line| line.contains("tool_execution_end")).unwrap_or_default();
    assert!(end.contains("\"isError\":true") && end.contains("by rtk"), "{}", finished.stdout);
    Ok(())
}

// 003-154
#[tokio::test]
async fn a_command_that_is_no_text_is_an_error_and_nothing_runs() -> Result<()> {
    let server = model("bash", json!({"cmd": ["touch", "marker"]})).await?;
    let product = with_rtk(product!()?.with_openai(&server.base_url()), "touch marker; exit 0")?;
    let (result, _) = work(&product, &server).await?;
    assert!(result.contains("command"), "{result}");
    assert!(!product.workspace().join("marker").exists());
    Ok(())
}
