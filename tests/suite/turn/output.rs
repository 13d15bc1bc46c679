//! What commands leave behind: their full output, and files that are not what was read any more.

use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::{RecordedRequest, ScriptedServer};
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn last_result(request: &RecordedRequest) -> Result<String> {
    Conversation::of(request).last_result()
}

// 001-096; O4
#[tokio::test]
async fn output_that_is_too_long_is_read_back_from_the_file_that_the_result_names() -> Result<()> {
    let command = "seq 1 30000";
    let server = ScriptedServer::start(Arc::new(move |n, request| match n {
        0 => Answer::call("bash", json!({"command": command})),
        1 => {
            let named = last_result(request).unwrap_or_default();
            let path =
                named.rsplit("Full output: ").next().unwrap_or_default().trim_end_matches(']').to_owned();
            Answer::call("read", json!({"path": path, "offset": 14_000, "limit": 2}))
        }
        _ => Answer::text("done"),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let outputs = product.home().join("cache/outputs");
    let old = outputs.join("another-project");
    std::fs::create_dir_all(&old)?;
    for (name, age) in [("old.log", 8 * DAY), ("young.log", 6 * DAY)] {
        std::fs::write(old.join(name), "text")?;
        std::fs::File::open(old.join(name))?.set_modified(SystemTime::now() - age)?;
    }
    let finished = product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    assert_eq!(finished.stdout, "done\n");
    let requests = server.requests();
    let bash = last_result(&requests[1])?;
    assert!(bash.contains("\n30000\n\n[Showing lines 28001-30000 of 30000. Full output: "), "{bash}");
    assert_eq!(
        last_result(&requests[2])?,
        "14000\n14001\n\n[15999 more lines in file. Use offset=14002 to continue.]"
    );
    let path = bash.rsplit("Full output: ").next().context("a path")?.trim_end().trim_end_matches(']');
    let mode = |path: &Path| Ok::<_, std::io::Error>(std::fs::metadata(path)?.permissions().mode() & 0o777);
    assert!(Path::new(path).starts_with(&outputs), "{path}");
    assert_eq!(mode(Path::new(path))?, 0o600);
    assert_eq!(mode(Path::new(path).parent().context("a folder")?)?, 0o700);
    assert!(!old.join("old.log").exists() && old.join("young.log").exists());
    Ok(())
}

// F22
#[tokio::test]
async fn a_file_that_was_changed_after_it_was_read_is_not_edited_until_it_is_read_again() -> Result<()> {
    let edit = || Answer::call("edit", json!({"path": "note", "oldText": "one", "newText": "1"}));
    let server = ScriptedServer::start(Arc::new(move |n, _| match n {
        0 | 3 => Answer::call("read", json!({"path": "note"})),
        1 => Answer::call("bash", json!({"command": "echo two >> note"})),
        2 | 4 => edit(),
        _ => Answer::text("done"),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    let note = product.workspace().join("note");
    std::fs::write(&note, "one\n")?;
    product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    let requests = server.requests();
    let refused = last_result(&requests[3])?;
    assert!(refused.contains("read it again"), "{refused}");
    assert!(last_result(&requests[5])?.contains("Successfully replaced"));
    assert_eq!(std::fs::read_to_string(&note)?, "1\ntwo\n");
    Ok(())
}
