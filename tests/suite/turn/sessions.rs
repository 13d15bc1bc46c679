//! What a run leaves on disk, and what the next run makes of it.

use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::{Product, SOON, appears, json_lines};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Roles of the messages in a session's lines.
fn roles(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|line| line["message"]["role"].as_str()).collect()
}

// 001-062, 001-130
#[tokio::test]
async fn a_run_leaves_a_session_file_in_the_form_of_pi() -> Result<()> {
    let server =
        ScriptedServer::play([Answer::call("read", json!({"path": "note"})), Answer::text("It says hi.")])
            .await?;
    let product = product!()?.with_openai(&server.base_url());
    std::fs::write(product.workspace().join("note"), "hi")?;
    product.run(&["-p", "What does the note say?"]).await?.with_code(0);

    let lines = product.session()?;
    let header = &lines[0];
    assert_eq!((&header["type"], &header["version"]), (&json!("session"), &json!(3)));
    assert_eq!(header["cwd"], json!(product.workspace()));
    let timestamp = header["timestamp"].as_str().context("no timestamp")?;
    assert!(timestamp.len() == 24 && timestamp.ends_with('Z'), "{timestamp}");
    assert_eq!(roles(&lines), ["user", "assistant", "toolResult", "assistant"]);
    let mut parent = Value::Null;
    for line in &lines[1..] {
        assert_eq!(line["parentId"], parent, "one branch: {line}");
        assert!(line["timestamp"].is_string() && line["type"].is_string(), "{line}");
        parent = line["id"].clone();
    }
    let name = product.session_files()?[0].file_name().context("no name")?.to_string_lossy().into_owned();
    assert!(name.contains(header["id"].as_str().unwrap_or("?")), "{name}");
    Ok(())
}

// 001-060, 001-063, 001-145
#[tokio::test]
async fn continue_goes_on_where_the_last_run_ended() -> Result<()> {
    let server =
        ScriptedServer::play([Answer::text("Nice to meet you."), Answer::text("You are Ada.")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.run(&["-p", "I am Ada."]).await?.with_code(0);
    let before = std::fs::read_to_string(&product.session_files()?[0])?;
    let finished = product.run(&["--continue", "-p", "Who am I?"]).await?.with_code(0);
    assert_eq!(finished.stdout, "You are Ada.\n");
    let requests = server.requests();
    let second = Conversation::of(&requests[1]);
    assert_eq!(second.said(), ["I am Ada.", "Who am I?"]);
    assert_eq!(second.answers(), ["Nice to meet you."]);
    let lines = product.session()?;
    assert_eq!(roles(&lines), ["user", "assistant", "user", "assistant"], "one file");
    // 001-131
    assert!(
        std::fs::read_to_string(&product.session_files()?[0])?.starts_with(&before),
        "bytes are only added"
    );
    Ok(())
}

// 001-145
#[tokio::test]
async fn a_run_without_flags_begins_anew_and_continue_without_a_session_says_so() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    let none = product.run(&["-c", "-p", "one"]).await?.with_code(1);
    assert!(none.stderr.contains("there is no session"), "{}", none.stderr);
    assert!(product.session_files()?.is_empty());
    product.run(&["-p", "one"]).await?.with_code(0);
    product.run(&["-p", "two"]).await?.with_code(0);
    assert_eq!(product.session_files()?.len(), 2);
    assert_eq!(Conversation::of(&server.requests()[1]).said(), ["two"]);
    Ok(())
}

// 001-145
#[tokio::test]
async fn no_session_keeps_nothing() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    let finished = product.run(&["--no-session", "-p", "a secret"]).await?.with_code(0);
    assert_eq!(finished.stdout, "fine\n");
    assert!(product.session_files()?.is_empty());
    product.run(&["--no-session", "--continue", "-p", "x"]).await?.with_code(2);
    Ok(())
}

// Design §4.2: the answer is durable before any of its tools runs.
#[tokio::test]
async fn the_answer_is_on_disk_before_its_tool_runs() -> Result<()> {
    let product = product!()?;
    let copy = format!("cp {}/sessions/*/*.jsonl seen.jsonl", product.home().display());
    let server = ScriptedServer::play([
        Answer::default()
            .and_call_with_id("call-1", "bash", json!({"command": copy}))
            .with_text("I copy it."),
        Answer::text("done"),
    ])
    .await?;
    let product = product.with_openai(&server.base_url());
    product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    let seen = json_lines(&std::fs::read_to_string(product.workspace().join("seen.jsonl"))?)?;
    assert_eq!(roles(&seen), ["user", "assistant"]);
    assert!(seen[2].to_string().contains("call-1"), "the call that made the copy: {}", seen[2]);
    Ok(())
}

// J1, J16, X11: the call of a killed run is answered as interrupted and never made again.
#[tokio::test]
async fn a_run_killed_during_a_tool_is_continued_with_a_sound_transcript() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|n, _| match n {
        // Ends by itself should the test end early; the folder is gone then.
        0 => Answer::default().and_call_with_id(
            "lost",
            "bash",
            json!({"command": "echo x >> started; while [ -e hold ]; do sleep 0.05; done"}),
        ),
        _ => Answer::text("I was interrupted."),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let (hold, started) = (product.workspace().join("hold"), product.workspace().join("started"));
    std::fs::write(&hold, "")?;
    let running = product.start(&["-p", "go", "--permissions", "all"])?;
    appears(&started).await?;
    running.kill().await?;
    std::fs::remove_file(&hold)?;

    let finished =
        product.run(&["--continue", "-p", "What happened?", "--permissions", "all"]).await?.with_code(0);
    assert_eq!(finished.stdout, "I was interrupted.\n");
    let requests = server.requests();
    let next = Conversation::of(&requests[1]);
    next.check_pairs()?;
    assert_eq!(next.call_ids(), ["lost"]);
    assert_eq!(next.said(), ["go", "What happened?"]);
    assert_eq!(std::fs::read_to_string(&started)?, "x\n", "it was not run again");
    Ok(())
}

// J2: a torn last line is cut, said, and does not swallow what comes after it.
#[tokio::test]
async fn a_session_with_a_torn_last_line_is_continued() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.run(&["-p", "one"]).await?.with_code(0);
    let file = product.session_files()?.remove(0);
    let whole = std::fs::read_to_string(&file)?;
    std::fs::write(&file, &whole[..whole.len() - 30])?;
    let finished = product.run(&["-c", "-p", "two"]).await?.with_code(0);
    assert!(finished.stderr.contains(".jsonl"), "it is said: {}", finished.stderr);
    assert_eq!(roles(&product.session()?), ["user", "user", "assistant"], "each line is whole");
    Ok(())
}

// J8
#[tokio::test]
async fn a_session_that_another_run_holds_is_not_written_to() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|n, _| match n {
        0 => {
            Answer::call("bash", json!({"command": "touch started; while [ -e hold ]; do sleep 0.05; done"}))
        }
        _ => Answer::text("done"),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    std::fs::write(product.workspace().join("hold"), "")?;
    let first = product.start(&["-p", "one", "--permissions", "all"])?;
    appears(&product.workspace().join("started")).await?;
    let second = product.run(&["-c", "-p", "two"]).await?.with_code(1);
    assert!(second.stderr.contains("in use by another process"), "{}", second.stderr);
    std::fs::remove_file(product.workspace().join("hold"))?;
    first.finish().await?.with_code(0);
    assert_eq!(roles(&product.session()?), ["user", "assistant", "toolResult", "assistant"]);
    Ok(())
}

// SIGINT and SIGTERM end a run in good order.
#[tokio::test]
async fn an_interrupted_run_ends_soon_and_its_session_goes_on() -> Result<()> {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let server = ScriptedServer::start(Arc::new(|n, _| match n {
            0 => Answer::call("bash", json!({"command": "touch started; sleep 60"})),
            _ => Answer::text("done"),
        }))
        .await?;
        let product = product!()?.with_openai(&server.base_url());
        let running = product.start(&["-p", "one", "--permissions", "all"])?;
        appears(&product.workspace().join("started")).await?;
        let pressed = std::time::Instant::now();
        running.signal(signal).await?;
        let finished = running.finish().await?.with_code(code);
        assert!(pressed.elapsed() < SOON, "{signal}: {:?}", pressed.elapsed());
        assert!(finished.stderr.contains("interrupted"), "{}", finished.stderr);
        assert_eq!(finished.stdout, "");
        product.run(&["-c", "-p", "two"]).await?.with_code(0);
        Conversation::of(&server.requests()[1]).check_pairs()?;
    }
    Ok(())
}

// S10
#[tokio::test]
async fn sessions_and_grants_are_for_their_owner_alone() -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.run(&["-p", "one"]).await?.with_code(0);
    product.run(&["ext", "allow", "--project"]).await?.with_code(0);
    for file in [product.session_files()?.remove(0), product.home().join("grants.toml")] {
        let mode = std::fs::metadata(&file)?.permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", file.display());
    }
    Ok(())
}

/// A finished session, its file and its text, and a product whose model would answer.
async fn finished_session() -> Result<(ScriptedServer, Product, PathBuf, String)> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.run(&["-p", "one"]).await?.with_code(0);
    let file = product.session_files()?.remove(0);
    let text = std::fs::read_to_string(&file)?;
    Ok((server, product, file, text))
}

// J10, J17: what this version does not understand it neither continues nor touches.
#[tokio::test]
async fn a_session_that_is_damaged_or_newer_is_refused_and_left_as_it_is() -> Result<()> {
    let newer = ("\"version\":3", "\"version\":99", "99");
    let damaged = ("\"role\":\"user\"", "\"role\":\"user", "line 2");
    for (from, to, told) in [newer, damaged] {
        let (server, product, file, text) = finished_session().await?;
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        std::fs::write(&file, &changed)?;
        let refused = product.run(&["-c", "-p", "two"]).await?.with_code(1);
        assert!(refused.stderr.contains(told) && refused.stderr.contains(".jsonl"), "{}", refused.stderr);
        assert_eq!(std::fs::read_to_string(&file)?, changed);
        assert_eq!(server.requests().len(), 1, "nothing was asked");
    }
    Ok(())
}

// J18: nobody's conversation is lost because it could not be kept; keeping nothing is the user's choice.
#[tokio::test]
async fn without_a_place_for_the_session_nothing_runs_unless_nothing_is_to_be_kept() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    let blocked = product.home().join("sessions");
    std::fs::write(&blocked, "")?;
    let refused = product.run(&["-p", "one"]).await?.with_code(1);
    for word in ["sessions", "--no-session"] {
        assert!(refused.stderr.contains(word), "{}", refused.stderr);
    }
    assert_eq!((refused.stdout.as_str(), server.requests().len()), ("", 0), "nothing was asked");
    let unkept = product.run(&["--no-session", "-p", "two"]).await?.with_code(0);
    assert_eq!(unkept.stdout, "fine\n");
    std::fs::remove_file(&blocked)?;
    product.run(&["-p", "three"]).await?.with_code(0);
    assert_eq!(product.session_files()?.len(), 1);
    Ok(())
}

// 001-138: what an older version of pi wrote is gone on with in a new file.
#[tokio::test]
async fn a_session_of_an_older_format_is_continued_and_its_file_left_as_it_is() -> Result<()> {
    let (server, product, file, text) = finished_session().await?;
    let mut old = String::new();
    for line in json_lines(&text)? {
        let mut line = line;
        let fields = line.as_object_mut().context("no object")?;
        if fields["type"] == "session" {
            fields.remove("version");
        } else {
            fields.remove("id");
            fields.remove("parentId");
        }
        old += &format!("{line}\n");
    }
    std::fs::write(&file, &old)?;
    for (n, prompt) in ["two", "three"].iter().enumerate() {
        let finished = product.run(&["-c", "-p", prompt]).await?.with_code(0);
        let told = finished.stderr.contains("older format version 1");
        assert_eq!(told, n == 0, "once: {}", finished.stderr);
    }
    assert_eq!(Conversation::of(&server.requests()[2]).said(), ["one", "two", "three"]);
    assert_eq!(std::fs::read_to_string(&file)?, old);
    assert_eq!(product.session_files()?.len(), 2);
    Ok(())
}

// 001-134
#[tokio::test]
async fn a_file_without_a_header_is_passed_over_aloud() -> Result<()> {
    let (server, product, file, _) = finished_session().await?;
    let stray = file.with_file_name("9999_stray.jsonl");
    std::fs::write(&stray, "no session\n")?;
    let finished = product.run(&["-c", "-p", "two"]).await?.with_code(0);
    assert!(finished.stderr.contains("9999_stray.jsonl was passed over"), "{}", finished.stderr);
    assert_eq!(Conversation::of(&server.requests()[1]).said(), ["one", "two"]);
    assert_eq!(std::fs::read_to_string(&stray)?, "no session\n");
    Ok(())
}

// 001-136, J13: an entry that cannot be kept is no success.
#[tokio::test]
async fn a_session_file_that_disappears_during_the_run_fails_the_run() -> Result<()> {
    let product = product!()?;
    let remove = format!("rm {}/sessions/*/*.jsonl", product.home().display());
    let server =
        ScriptedServer::play([Answer::call("bash", json!({"command": remove})), Answer::text("done")])
            .await?;
    let product = product.with_openai(&server.base_url());
    let finished = product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(1);
    assert!(finished.stderr.contains("session") && finished.stderr.contains(".jsonl"), "{}", finished.stderr);
    Ok(())
}
