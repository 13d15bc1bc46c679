//! What the built-in tools may do in which mode, with nobody there to ask.

use anyhow::Result;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::Product;
use serde_json::{Value, json};
use std::sync::Arc;

/// A model that makes these calls in the first round of each run, and then is done.
async fn model(calls: &[(&str, Value)]) -> Result<ScriptedServer> {
    let calls: Vec<_> =
        calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.clone())).collect();
    Ok(ScriptedServer::start(Arc::new(move |n, _| match n % 2 {
        0 => Answer::calls(calls.clone()),
        _ => Answer::text("done"),
    }))
    .await?)
}

/// Runs the calls with these flags and answers their results.
async fn results(product: &Product, server: &ScriptedServer, flags: &[&str]) -> Result<Vec<String>> {
    let arguments: Vec<_> = ["-p", "go"].into_iter().chain(flags.iter().copied()).collect();
    let finished = product.run(&arguments).await?.with_code(0);
    assert_eq!(finished.stdout, "done\n");
    let last = server.requests().pop().ok_or_else(|| anyhow::anyhow!("no request"))?;
    Ok(Conversation::of(&last).results().into_iter().map(|result| result.text).collect())
}

// Design §6; 004-133
#[tokio::test]
async fn without_a_flag_commands_and_writes_are_denied_naming_the_flag_that_allows_them() -> Result<()> {
    let server = model(&[
        ("bash", json!({"command": "echo ran > by-bash"})),
        ("write", json!({"path": "by-write", "content": "text"})),
        ("read", json!({"path": "note"})),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    std::fs::write(product.workspace().join("note"), "read me")?;
    let (by_bash, by_write) = (product.workspace().join("by-bash"), product.workspace().join("by-write"));

    let denied = results(&product, &server, &[]).await?;
    assert!(denied[0].contains("--permissions all"), "{}", denied[0]);
    assert!(denied[1].contains("--permissions workspace"), "{}", denied[1]);
    assert_eq!(denied[2], "read me");
    assert!(!by_bash.exists() && !by_write.exists());

    // The control: the same calls with the flag that the denial named.
    let allowed = results(&product, &server, &["--permissions", "all"]).await?;
    assert!(allowed.iter().all(|text| !text.contains("denied")), "{allowed:?}");
    assert_eq!(std::fs::read_to_string(by_bash)?, "ran\n");
    assert_eq!(std::fs::read_to_string(by_write)?, "text");
    Ok(())
}

// Design §6
#[tokio::test]
async fn workspace_mode_writes_inside_and_runs_nothing() -> Result<()> {
    let server = model(&[
        ("write", json!({"path": "folder/new", "content": "text"})),
        ("edit", json!({"path": "note", "edits": [{"oldText": "old", "newText": "new"}]})),
        ("bash", json!({"command": "touch by-bash"})),
    ])
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let note = product.workspace().join("note");
    std::fs::write(&note, "old words")?;
    let texts = results(&product, &server, &["--permissions", "workspace"]).await?;
    assert_eq!(std::fs::read_to_string(product.workspace().join("folder/new"))?, "text", "{texts:?}");
    assert_eq!(std::fs::read_to_string(&note)?, "new words", "{texts:?}");
    assert!(texts[2].contains("--permissions all"), "{}", texts[2]);
    assert!(!product.workspace().join("by-bash").exists());
    Ok(())
}

// Design §6: `ask` without a person is a denial.
#[tokio::test]
async fn asking_with_nobody_there_is_a_denial() -> Result<()> {
    let server = model(&[("bash", json!({"command": "touch by-bash"}))]).await?;
    let product = product!()?.with_openai(&server.base_url());
    let texts = results(&product, &server, &["--permissions", "ask"]).await?;
    assert!(texts[0].contains("nobody to ask"), "{}", texts[0]);
    assert!(!product.workspace().join("by-bash").exists());
    Ok(())
}

// 001-094; F1, F2, F4 for the built-in tools
#[tokio::test]
async fn paths_outside_the_workspace_need_their_folder_added() -> Result<()> {
    let product = product!()?;
    let outside = product.beside("elsewhere");
    std::fs::create_dir(&outside)?;
    std::fs::write(outside.join("secret"), "outside text")?;
    std::os::unix::fs::symlink(&outside, product.workspace().join("link"))?;
    let secret = outside.join("secret");
    let server = model(&[
        ("read", json!({"path": secret})),
        ("read", json!({"path": "../user/elsewhere/secret"})),
        ("read", json!({"path": "link/secret"})),
        ("write", json!({"path": outside.join("new"), "content": "x"})),
    ])
    .await?;
    let product = product.with_openai(&server.base_url());

    for text in results(&product, &server, &["--permissions", "all"]).await? {
        assert!(text.contains("--add-dir"), "{text}");
        assert!(!text.contains("outside text"), "{text}");
    }
    assert!(!outside.join("new").exists());

    let folder = outside.to_string_lossy().into_owned();
    let texts = results(&product, &server, &["--permissions", "all", "--add-dir", &folder]).await?;
    assert!(texts[..3].iter().all(|text| text == "outside text"), "{texts:?}");
    assert_eq!(std::fs::read_to_string(outside.join("new"))?, "x");
    Ok(())
}

// T10, F19, F21: the model cannot widen a grant, not even with a folder added by mistake.
#[tokio::test]
async fn the_hosts_own_files_cannot_be_written_by_the_file_tools() -> Result<()> {
    let product = product!()?;
    let grants = product.home().join("grants.toml");
    let targets = [
        grants.clone(),
        product.home().join("config.toml"),
        product.extensions().join("planted.wasm"),
        product.workspace().join(".capstan/config.toml"),
        product.workspace().join(".git/hooks/pre-commit"),
    ];
    let calls: Vec<_> =
        targets.iter().map(|path| ("write", json!({"path": path, "content": "version = 1\n"}))).collect();
    let server = model(&calls).await?;
    let product = product.with_openai(&server.base_url());
    let folder = product.home().to_string_lossy().into_owned();
    let texts = results(&product, &server, &["--permissions", "all", "--add-dir", &folder]).await?;
    for (target, text) in targets.iter().zip(&texts) {
        assert!(text.contains("Permission denied"), "{}: {text}", target.display());
        assert!(!target.exists(), "{}", target.display());
    }
    Ok(())
}

// Design §9: the flag outranks the configuration, and a project that is not trusted configures nothing.
#[tokio::test]
async fn a_mode_from_the_configuration_counts_unless_the_project_wrote_it() -> Result<()> {
    let server = model(&[("bash", json!({"command": "touch by-bash"}))]).await?;
    let product = product!()?.with_openai(&server.base_url());
    let marker = product.workspace().join("by-bash");
    std::fs::create_dir(product.workspace().join(".capstan"))?;
    std::fs::write(product.workspace().join(".capstan/config.toml"), "permissions = \"all\"\n")?;
    results(&product, &server, &[]).await?;
    assert!(!marker.exists(), "a project that nobody allowed must not open the door");

    product.configure("permissions = \"all\"\n")?;
    results(&product, &server, &["--permissions", "read-only"]).await?;
    assert!(!marker.exists(), "the flag outranks the file");
    results(&product, &server, &[]).await?;
    assert!(marker.exists());
    Ok(())
}
