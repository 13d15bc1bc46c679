//! Programs of the host: by rules over name, place and arguments, with nothing of the host's environment, gone with the call.

use super::ok;
use anyhow::Result;
use capstan_engine::Services;
use capstan_ports::extension::{Access, Capability};
use capstan_tests::sandboxed::{Place, tool_context};
use capstan_tests::services::{Guest, kind};
use capstan_tools::LocalPrograms;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn programs() -> Services {
    Services { programs: Some(Arc::new(LocalPrograms::new())), ..Services::default() }
}

fn rule(rule: &str) -> Capability {
    Capability::Process { program: rule.to_owned() }
}

/// A step that runs a line of shell.
fn shell(line: &str) -> Value {
    json!({"do": "program", "program": "sh", "arguments": ["-c", line]})
}

async fn guest(place: &Place, granted: &[Capability]) -> Result<Guest> {
    Guest::load(place, programs(), granted).await
}

#[tokio::test]
async fn a_granted_program_runs_and_its_failure_is_an_outcome() -> Result<()> {
    let place = Place::new()?;
    let guest = guest(&place, &[rule("sh"), rule("cat")]).await?;
    let ran = guest
        .steps(json!([
            shell("echo out; echo err >&2; exit 3"),
            {"do": "program", "program": "cat", "stdin": "through"},
        ]))
        .await?;
    assert_eq!((&ran[0]["ok"]["exit"], &ran[0]["ok"]["stdout"]), (&json!(3), &json!("out\n")));
    assert_eq!(ran[0]["ok"]["stderr"], "err\n");
    assert_eq!(ran[1]["ok"]["stdout"], "through");
    Ok(())
}

#[tokio::test]
async fn what_no_rule_allows_is_denied_before_anything_starts() -> Result<()> {
    let place = Place::new()?;
    let mark = place.workspace().join("mark");
    let touch = json!({"do": "program", "program": "touch", "arguments": [mark]});
    let allowed = guest(&place, &[rule("touch")]).await?;
    assert_eq!(kind(&allowed.step(touch.clone()).await?), "");
    std::fs::remove_file(&mark)?;
    for granted in [&[][..], &[rule("cat")], &[rule("touch -c *")], &[rule("touch")][..0]] {
        let guest = guest(&place, granted).await?;
        assert_eq!(kind(&guest.step(touch.clone()).await?), "denied", "{granted:?}");
        assert!(!mark.exists());
    }
    // A rule for a name is no rule for a file of that name somewhere else.
    let own = place.workspace().join("touch");
    std::fs::copy("/bin/sh", &own)?;
    let elsewhere = json!({"do": "program", "program": own, "arguments": ["-c", "true"]});
    assert_eq!(kind(&allowed.step(elsewhere).await?), "denied");
    let odd = ["./touch", "../touch", "", "no-such-program-here"];
    for program in odd {
        let step = json!({"do": "program", "program": program});
        assert_eq!(kind(&allowed.step(step).await?), "failed", "{program:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_program_that_the_extension_can_write_is_not_run() -> Result<()> {
    let place = Place::new()?;
    let tool = place.workspace().join("tool.sh");
    std::fs::write(&tool, "#!/bin/sh\necho ran\n")?;
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755))?;
    let (path, place_rule) = (tool.to_string_lossy().into_owned(), rule(&tool.to_string_lossy()));
    let step = json!({"do": "program", "program": path});
    let directory = |access| Capability::Directory { path: ".".to_owned(), access };
    let reading = guest(&place, &[place_rule.clone(), directory(Access::ReadOnly)]).await?;
    assert_eq!(reading.step(step.clone()).await?["ok"]["stdout"], "ran\n");
    let writing = guest(&place, &[place_rule, directory(Access::ReadWrite)]).await?;
    assert_eq!(kind(&writing.step(step).await?), "denied");
    Ok(())
}

// S2
#[tokio::test]
async fn a_program_sees_no_variable_but_those_that_it_was_handed() -> Result<()> {
    let place = Place::new()?;
    let granted = [rule("env"), Capability::Environment { name: "MY_TOKEN".to_owned() }];
    let guest = guest(&place, &granted).await?;
    let env = |variables: Value| json!({"do": "program", "program": "env", "environment": variables});
    let ran = guest.step(env(json!([["LANG", "C"], ["MY_TOKEN", "given"]]))).await?;
    let text = ran["ok"]["stdout"].as_str().unwrap_or_default();
    let mut names: Vec<_> = text.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    assert_eq!(names, ["LANG", "MY_TOKEN", "PATH"], "{text}");
    for name in ["LD_PRELOAD", "GIT_SSH_COMMAND", "PATH", "HOME"] {
        assert_eq!(kind(&guest.step(env(json!([[name, "/tmp"]]))).await?), "denied", "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn a_program_starts_in_a_granted_directory_or_in_an_empty_one() -> Result<()> {
    let place = Place::new()?;
    std::fs::create_dir(place.workspace().join("below"))?;
    std::os::unix::fs::symlink("/", place.workspace().join("out"))?;
    let read = Capability::Directory { path: ".".to_owned(), access: Access::ReadOnly };
    let guest = guest(&place, &[rule("sh"), read]).await?;
    let at = |directory: &str| json!({"do": "program", "program": "sh", "arguments": ["-c", "pwd; ls -A"], "directory": directory});
    let ran = guest.steps(json!([at("/workspace"), at("/workspace/below"), shell("ls -A")])).await?;
    let workspace = place.workspace();
    let seen = ok(&ran);
    assert_eq!(seen[0]["stdout"], format!("{}\nbelow\nout\n", workspace.display()));
    assert_eq!(seen[1]["stdout"], format!("{}/below\n", workspace.display()));
    assert_eq!(seen[2]["stdout"], "");
    for directory in ["/", "/workspace/..", "/workspace/out", "/etc", "workspace"] {
        assert_eq!(kind(&guest.step(at(directory)).await?), "denied", "{directory}");
    }
    Ok(())
}

#[tokio::test]
async fn output_beyond_the_cap_is_dropped_and_said() -> Result<()> {
    let place = Place::new()?;
    let guest = guest(&place, &[rule("sh")]).await?;
    let ran = guest.step(shell("head -c 3000000 /dev/zero")).await?;
    assert_eq!((&ran["ok"]["bytes"], &ran["ok"]["truncated"]), (&json!(1 << 20), &json!(true)));
    Ok(())
}

// X6
#[tokio::test]
async fn a_program_ends_with_its_own_time_limit_and_with_the_call() -> Result<()> {
    let place = Place::new()?;
    let guest = guest(&place, &[rule("sh")]).await?;
    let mut limited = shell("sleep 100");
    limited["timeout_ms"] = json!(100);
    let ran = guest.step(limited).await?;
    assert_eq!(ran["ok"]["timedOut"], true, "{ran}");

    let pid_file = place.workspace().join("pid");
    let line = format!("echo $$ > '{}'; exec sleep 100", pid_file.display());
    let context = tool_context();
    let cancel = context.cancel.clone();
    let wanted = pid_file.clone();
    tokio::spawn(async move {
        while !std::fs::read_to_string(&wanted).is_ok_and(|text| text.ends_with('\n')) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    });
    assert!(guest.steps_in(json!([shell(&line)]), &context).await.is_err());
    let pid = std::fs::read_to_string(&pid_file)?.trim().to_owned();
    let began = Instant::now();
    while std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(began.elapsed() < Duration::from_secs(15), "{pid} is still there");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}
