//! Going on with a session that is named: which one it is, and where it works.

use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::{Product, json_lines};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

async fn obliging() -> Result<(ScriptedServer, Product)> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    Ok((server, product))
}

fn header(file: &Path) -> Result<Value> {
    json_lines(&std::fs::read_to_string(file)?)?.into_iter().next().context("an empty file")
}

fn id(file: &Path) -> Result<String> {
    Ok(header(file)?["id"].as_str().context("no id")?.to_owned())
}

fn last_said(server: &ScriptedServer) -> Result<Vec<String>> {
    Ok(Conversation::of(server.requests().last().context("no request")?).said())
}

/// The system prompt of the last request.
fn told(server: &ScriptedServer) -> Result<String> {
    let body = server.requests().last().context("no request")?.body.clone();
    Ok(body["messages"][0]["content"].as_str().unwrap_or_default().to_owned())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("no text")
}

/// The file that was not there before.
fn new_file(product: &Product, before: &[PathBuf]) -> Result<PathBuf> {
    let mut files = product.session_files()?;
    files.retain(|file| !before.contains(file));
    files.pop().context("no new session")
}

// 001-144, 001-145
#[tokio::test]
async fn a_session_is_gone_on_with_by_its_id_the_beginning_of_it_or_its_file() -> Result<()> {
    let (server, product) = obliging().await?;
    product.run(&["-p", "one"]).await?.with_code(0);
    product.run(&["-p", "another"]).await?.with_code(0);
    let file = product.session_files()?.remove(0);
    let id = id(&file)?;
    let wanted = [
        ("--session", id.as_str()),
        ("--resume", &id),
        ("-r", &id[..id.len() - 1]),
        ("--session", text(&file)?),
    ];
    for (n, (flag, name)) in wanted.into_iter().enumerate() {
        product.run(&[flag, name, "-p", "on"]).await?.with_code(0);
        assert_eq!(last_said(&server)?.len(), n + 2, "{flag} {name}");
        assert_eq!(last_said(&server)?[0], "one");
    }
    assert_eq!(product.session_files()?.len(), 2);
    let none = product.run(&["--session", "nowhere", "-p", "on"]).await?.with_code(1);
    assert!(
        none.stderr.contains("nowhere") && none.stderr.contains("capstan session list"),
        "{}",
        none.stderr
    );
    let none = product.run(&["--session", "./no/such.jsonl", "-p", "on"]).await?.with_code(1);
    assert!(
        none.stderr.contains("no/such.jsonl") && none.stderr.contains("capstan session list"),
        "{}",
        none.stderr
    );
    let none = product.run(&["-r", "-p", "on"]).await?.with_code(1);
    assert!(none.stderr.contains("capstan session list"), "a list needs a person: {}", none.stderr);
    // Both begin alike, for they were begun within the same days.
    let many = product.run(&["--session", &id[..4], "-p", "on"]).await?.with_code(1);
    assert!(many.stderr.contains("give more of the id"), "{}", many.stderr);
    Ok(())
}

// 001-146: the directory
#[tokio::test]
async fn a_session_goes_on_in_its_own_directory_wherever_the_program_is_started() -> Result<()> {
    let (server, product) = obliging().await?;
    let elsewhere = product.beside("elsewhere");
    std::fs::create_dir(&elsewhere)?;
    product.run(&["--cwd", text(&elsewhere)?, "-p", "one"]).await?.with_code(0);
    let file = product.session_files()?.remove(0);
    assert_eq!(header(&file)?["cwd"], text(&elsewhere)?);
    let id = id(&file)?;

    // Started in the workspace, where there is no session to continue.
    product.run(&["-c", "-p", "two"]).await?.with_code(1);
    product.run(&["--resume", &id, "-p", "two"]).await?.with_code(0);
    assert!(told(&server)?.contains(text(&elsewhere)?), "{}", told(&server)?);
    // Another directory can be asked for, and is then the one.
    product.run(&["--resume", &id, "--cwd", ".", "-p", "three"]).await?.with_code(0);
    assert!(told(&server)?.contains(text(&product.workspace())?), "{}", told(&server)?);

    std::fs::remove_dir(&elsewhere)?;
    let asked = server.requests().len();
    let gone = product.run(&["--resume", &id, "-p", "four"]).await?.with_code(1);
    assert!(gone.stderr.contains(text(&elsewhere)?) && gone.stderr.contains("--cwd"), "{}", gone.stderr);
    assert_eq!(server.requests().len(), asked);
    product.run(&["--resume", &id, "--cwd", ".", "-p", "four"]).await?.with_code(0);
    assert_eq!(last_said(&server)?, ["one", "two", "three", "four"]);
    let nowhere = product.run(&["--cwd", "./nowhere", "-p", "x"]).await?.with_code(1);
    assert!(nowhere.stderr.contains("--cwd ./nowhere"), "{}", nowhere.stderr);
    Ok(())
}

// 001-145, 001-158
#[tokio::test]
async fn a_fork_goes_on_in_a_new_file_and_leaves_the_session_as_it_is() -> Result<()> {
    let (server, product) = obliging().await?;
    product.run(&["-p", "one"]).await?.with_code(0);
    let files = product.session_files()?;
    let before = std::fs::read(&files[0])?;
    product.run(&["--fork", &id(&files[0])?, "-p", "two"]).await?.with_code(0);
    assert_eq!(last_said(&server)?, ["one", "two"]);
    assert_eq!(std::fs::read(&files[0])?, before);
    let copy = new_file(&product, &files)?;
    assert_eq!(header(&copy)?["parentSession"], text(&files[0])?);
    assert_ne!(id(&copy)?, id(&files[0])?);

    // In another directory it belongs to that one, where it is the last session then.
    let elsewhere = product.beside("elsewhere");
    std::fs::create_dir(&elsewhere)?;
    let files = product.session_files()?;
    product.run(&["--fork", text(&copy)?, "--cwd", text(&elsewhere)?, "-p", "three"]).await?.with_code(0);
    assert_eq!(header(&new_file(&product, &files)?)?["cwd"], text(&elsewhere)?);
    product.run(&["-c", "--cwd", text(&elsewhere)?, "-p", "four"]).await?.with_code(0);
    assert_eq!(last_said(&server)?, ["one", "two", "three", "four"]);
    Ok(())
}

// 001-144
#[tokio::test]
async fn sessions_can_be_kept_in_another_folder() -> Result<()> {
    let (server, product) = obliging().await?;
    let folder = product.beside("kept");
    let kept = text(&folder)?;
    product.run(&["--session-dir", kept, "-p", "one"]).await?.with_code(0);
    assert!(product.session_files()?.is_empty());
    product.run(&["-c", "-p", "two"]).await?.with_code(1);
    product.run(&["--session-dir", kept, "-c", "-p", "two"]).await?.with_code(0);
    assert_eq!(last_said(&server)?, ["one", "two"]);
    Ok(())
}

// The model cannot rewrite what is on record, wherever that lies.
#[tokio::test]
async fn sessions_in_the_working_directory_are_closed_to_tools_and_nothing_else_is() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, request| {
        let conversation = Conversation::of(request);
        let prompt = conversation.said().pop().unwrap_or_default();
        match (prompt.strip_prefix("write "), conversation.results().is_empty()) {
            (Some(path), true) => Answer::call("write", json!({"path": path, "content": "x"})),
            _ => Answer::text("fine"),
        }
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let here = ["--session-dir", ".", "--permissions", "workspace"];
    product.run(&[&here[..], &["-p", "write free"]].concat()).await?.with_code(0);
    assert!(product.workspace().join("free").exists(), "the working directory stays open");
    let folder =
        std::fs::read_dir(product.workspace())?.filter_map(Result::ok).find(|entry| entry.path().is_dir());
    let folder = folder.context("no folder of sessions")?.path();
    let session = std::fs::read_dir(&folder)?.next().context("no session")??.path();
    let own = product.workspace().join("own.jsonl");
    std::fs::copy(&session, &own)?;
    let prompt = format!("write {}", text(&folder)?.to_owned() + "/new");
    product.run(&[&here[..], &["-p", &prompt]].concat()).await?.with_code(0);
    assert!(!folder.join("new").exists());
    let before = std::fs::read_to_string(&own)?;
    product
        .run(&["--session", "./own.jsonl", "--permissions", "workspace", "-p", "write own.jsonl"])
        .await?
        .with_code(0);
    assert!(std::fs::read_to_string(&own)?.starts_with(&before), "only added to");
    Ok(())
}

// 001-146: model, thinking level and leaf. What the environment names is only what counts where nothing was chosen yet.
#[tokio::test]
async fn a_session_goes_on_with_its_own_model_and_thinking_level_unless_a_flag_says_otherwise() -> Result<()>
{
    let (server, product) = obliging().await?;
    let (own, thinks) = (["--model", "openai/own"], ["--thinking", "low"]);
    product.run(&[&own[..], &thinks, &["-p", "one"]].concat()).await?.with_code(0);
    let id = id(&product.session_files()?[0])?;
    let used = |n: usize| {
        let body = server.requests()[n].body.clone();
        (body["model"].clone(), body["reasoning_effort"].clone())
    };
    assert_eq!(used(0), ("own".into(), "low".into()));
    product.run(&["--resume", &id, "-p", "two"]).await?.with_code(0);
    assert_eq!(used(1), ("own".into(), "low".into()));
    product.run(&["-c", "--model", "openai/other", "--thinking", "off", "-p", "three"]).await?.with_code(0);
    assert_eq!(used(2), ("other".into(), Value::Null));
    product.run(&["-c", "-p", "four"]).await?.with_code(0);
    assert_eq!(used(3), ("other".into(), Value::Null), "the flags are on record");
    product.run(&["-p", "anew"]).await?.with_code(0);
    assert_eq!(used(4), ("test-model".into(), Value::Null));
    // A session that names its model needs none to be configured.
    let product = product.with("CAPSTAN_MODEL", "");
    product.run(&["-p", "nobody"]).await?.with_code(1);
    product.run(&["--resume", &id, "-p", "five"]).await?.with_code(0);
    assert_eq!(used(5), ("other".into(), Value::Null));
    Ok(())
}
