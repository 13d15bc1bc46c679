//! `capstan ext …`: what is there, what it may do, and who decided that.

use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::guest::{Guest, Request};
use capstan_tests::product;
use capstan_tests::product::Product;
use serde_json::{Value, json};
use std::sync::Arc;

/// A tool that answers its name.
fn tool(id: &str, name: &str) -> Guest {
    let (guest, body) = Guest::new(id).text_result(name);
    guest.tool(name, &body)
}

/// A tool that asks to read a folder of the workspace.
fn reader(folders: &[&str]) -> Guest {
    folders
        .iter()
        .fold(tool("reader", "peek"), |guest, folder| guest.request(Request::Directory((*folder).to_owned())))
}

async fn listed(product: &Product) -> Result<Vec<Value>> {
    let list = product.run(&["ext", "list", "--json"]).await?.with_code(0).json()?;
    list.as_array().cloned().context("the list is no array")
}

/// Names and states.
async fn states(product: &Product) -> Result<Vec<(String, String)>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(listed(product).await?.iter().map(|entry| (text(&entry["name"]), text(&entry["state"]))).collect())
}

async fn state(product: &Product, name: &str) -> Result<String> {
    let states = states(product).await?;
    Ok(states.into_iter().find(|(found, _)| found == name).context("it is not listed")?.1)
}

/// Names of the extension tools that a run offers, and what the run says on stderr.
async fn offered(product: Product, tools: &[&str]) -> Result<(Product, Vec<String>, String)> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("done"))).await?;
    let product = product.with_openai(&server.base_url());
    let finished = product.run(&["--no-session", "-p", "go"]).await?.with_code(0);
    let requests = server.requests();
    let names = Conversation::of(&requests[0]).tools().into_iter().map(|tool| tool.0.to_owned());
    Ok((
        product,
        names.filter(|name| tools.contains(&name.as_str())).collect(),
        finished.warnings().join("\n"),
    ))
}

#[tokio::test]
async fn an_empty_folder_is_no_error_and_says_where_to_put_what() -> Result<()> {
    let product = product!()?;
    let finished = product.run(&["ext", "list"]).await?.with_code(0);
    assert!(
        finished.stderr.contains(&product.extensions().to_string_lossy().into_owned()),
        "{}",
        finished.stderr
    );
    assert_eq!(listed(&product).await?, Vec::<Value>::new());
    product.run(&["ext", "check"]).await?.with_code(0);
    let missing = product.run(&["ext", "inspect", "nobody"]).await?.with_code(1);
    assert!(missing.stderr.contains("there is no extension nobody"), "{}", missing.stderr);
    Ok(())
}

#[tokio::test]
async fn list_shows_every_file_with_its_state_and_what_to_do() -> Result<()> {
    let product = product!()?;
    product.install(&tool("alpha", "work"))?;
    product.install(&reader(&["."]))?;
    product.install_bytes("zero.wasm", b"")?;
    product.install_bytes("notes.txt", b"no extension, and no business of the list")?;
    let expected = [("alpha", "active"), ("reader", "waiting"), ("zero", "broken")];
    assert_eq!(states(&product).await?, expected.map(|(name, state)| (name.to_owned(), state.to_owned())));

    let text = product.run(&["ext", "list"]).await?.with_code(0).stdout;
    assert!(text.contains("work") && text.contains("peek"), "what each does: {text}");
    assert!(text.contains("capstan ext allow reader") && text.contains("for the test"), "{text}");
    assert!(text.contains("not WebAssembly") && !text.contains("notes"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");

    let entries = listed(&product).await?;
    assert_eq!(entries[0]["file"], json!(product.extensions().join("alpha.wasm")));
    assert_eq!(entries[0]["descriptor"]["tools"][0]["name"], "work");
    assert!(entries[0]["digest"].is_string() && entries[0]["notice"].is_null());
    assert!(entries[2]["descriptor"].is_null() && entries[2]["notice"].is_string());
    Ok(())
}

#[tokio::test]
async fn inspect_tells_the_same_of_an_installed_extension_and_of_its_file() -> Result<()> {
    let product = product!()?;
    let path = product.install(&reader(&["."]))?.to_string_lossy().into_owned();
    let installed = product.run(&["ext", "inspect", "reader", "--json"]).await?.with_code(0).json()?;
    let file = product.run(&["ext", "inspect", &path, "--json"]).await?.with_code(0).json()?;
    assert_eq!((&installed["state"], &file["state"]), (&json!("waiting"), &json!("not installed")));
    for field in ["file", "bytes", "digest", "imports", "exports", "descriptor"] {
        assert_eq!(installed[field], file[field], "{field}");
        assert!(!file[field].is_null(), "{field}");
    }
    assert_eq!(installed["granted"], json!([]));
    product.run(&["ext", "allow", "reader"]).await?.with_code(0);
    let text = product.run(&["ext", "inspect", "reader"]).await?.with_code(0).stdout;
    for part in ["reader", "active", "peek", "granted", "for the test", &path] {
        assert!(text.contains(part), "{part}: {text}");
    }
    Ok(())
}

#[tokio::test]
async fn check_fails_for_a_bad_file_and_passes_a_good_one() -> Result<()> {
    let product = product!()?;
    let good = product.beside("good.wasm");
    let bad = product.beside("bad.wasm");
    std::fs::write(&good, tool("good", "work").build()?)?;
    std::fs::write(&bad, "hello")?;
    let (good, bad) = (good.to_string_lossy().into_owned(), bad.to_string_lossy().into_owned());
    product.run(&["ext", "check", &good]).await?.with_code(0);
    let both = product.run(&["ext", "check", &good, &bad]).await?.with_code(1);
    assert!(both.stdout.contains(&good) && both.stdout.contains("not WebAssembly"), "{}", both.stdout);
    Ok(())
}

// Design §6: requested ∩ granted, keyed by digest. 001-122
#[tokio::test]
async fn a_grant_puts_an_extension_into_force_and_revoking_takes_it_out() -> Result<()> {
    let product = product!()?;
    product.install(&reader(&["."]))?;
    let (product, names, told) = offered(product, &["peek"]).await?;
    assert!(names.is_empty() && told.contains("capstan ext allow reader"), "{told}");
    assert_eq!(told.lines().count(), 1, "one paragraph: {told}");

    let allowed = product.run(&["ext", "allow", "reader"]).await?.with_code(0);
    assert!(allowed.stdout.contains("for the test"), "the reasons are shown: {}", allowed.stdout);
    assert_eq!(state(&product, "reader").await?, "active");
    let (product, names, told) = offered(product, &["peek"]).await?;
    assert_eq!((names, told.as_str()), (vec!["peek".to_owned()], ""));

    product.run(&["ext", "revoke", "reader"]).await?.with_code(0);
    assert_eq!(state(&product, "reader").await?, "off");
    let (product, names, told) = offered(product, &["peek"]).await?;
    assert!(names.is_empty() && told.is_empty(), "what the user switched off is not nagged about: {told}");
    product.run(&["ext", "allow", "reader"]).await?.with_code(0);
    assert_eq!(state(&product, "reader").await?, "active");
    Ok(())
}

// T1: changed bytes are a changed extension.
#[tokio::test]
async fn replaced_bytes_void_the_grant_and_the_difference_is_shown() -> Result<()> {
    let product = product!()?;
    std::fs::create_dir(product.workspace().join("docs"))?;
    product.install(&reader(&["."]))?;
    product.run(&["ext", "allow", "reader"]).await?.with_code(0);
    product.install(&reader(&["./docs"]))?;
    assert_eq!(state(&product, "reader").await?, "modified");

    let (product, names, told) = offered(product, &["peek"]).await?;
    assert!(names.is_empty(), "it is off");
    let (new, gone) = told.split_once("No longer: ").context(told.clone())?;
    assert!(new.contains("has changed") && new.contains("New: ") && new.contains("docs"), "{told}");
    assert!(!gone.contains("docs") && told.contains("capstan ext allow reader"), "{told}");

    product.run(&["ext", "allow", "reader"]).await?.with_code(0);
    assert_eq!(state(&product, "reader").await?, "active");
    // The old bytes are a stranger again: there is one extension of a name.
    product.install(&reader(&["."]))?;
    assert_eq!(state(&product, "reader").await?, "modified");
    Ok(())
}

// T1, for a change that asks for nothing new
#[tokio::test]
async fn other_bytes_with_the_same_wishes_are_modified_as_well() -> Result<()> {
    let product = product!()?;
    product.install(&reader(&["."]))?;
    product.run(&["ext", "allow", "reader"]).await?.with_code(0);
    let mut changed = reader(&["."]);
    changed.tools[0].description = "Now with instructions for the model.".to_owned();
    product.install(&changed)?;
    let (_, names, told) = offered(product, &["peek"]).await?;
    assert!(names.is_empty() && told.contains("has changed"), "{told}");
    Ok(())
}

// T12
#[tokio::test]
async fn extensions_of_a_project_wait_for_the_project_and_then_for_their_own_grants() -> Result<()> {
    let product = product!()?;
    let folder = product.workspace().join(".capstan/extensions");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("plain.wasm"), tool("plain", "work").build()?)?;
    std::fs::write(folder.join("reader.wasm"), reader(&["."]).build()?)?;
    // Not even looked into before the project is trusted: this one would be reported as broken.
    std::fs::write(folder.join("zero.wasm"), "")?;
    assert_eq!(state(&product, "zero").await?, "untrusted");

    let (product, names, told) = offered(product, &["work", "peek"]).await?;
    assert!(names.is_empty(), "{names:?}");
    assert!(told.contains("capstan ext allow --project"), "{told}");
    let early = product.run(&["ext", "allow", "plain"]).await?.with_code(1);
    assert!(early.stderr.contains("capstan ext allow --project"), "{}", early.stderr);

    product.run(&["ext", "allow", "--project"]).await?.with_code(0);
    let (product, names, told) = offered(product, &["work", "peek"]).await?;
    assert_eq!(names, ["work"]);
    assert!(told.contains("capstan ext allow reader") && told.contains("zero.wasm"), "{told}");
    product.run(&["ext", "allow", "reader"]).await?.with_code(0);
    let (_, names, _) = offered(product, &["work", "peek"]).await?;
    assert_eq!(names, ["peek", "work"].map(str::to_owned).into_iter().rev().collect::<Vec<_>>());
    Ok(())
}

// Folders are scanned flat; a link counts by the bytes it leads to.
#[tokio::test]
async fn the_same_bytes_under_two_names_are_one_extension() -> Result<()> {
    let product = product!()?;
    let first = product.install(&tool("twin", "work"))?;
    std::fs::copy(&first, product.extensions().join("copy.wasm"))?;
    std::os::unix::fs::symlink(&first, product.extensions().join("link.wasm"))?;
    let nested = product.extensions().join("nested");
    std::fs::create_dir(&nested)?;
    std::fs::write(nested.join("other.wasm"), tool("other", "rest").build()?)?;
    assert_eq!(states(&product).await?, [("twin".to_owned(), "active".to_owned())]);
    let (_, names, told) = offered(product, &["work", "rest"]).await?;
    assert_eq!((names, told.as_str()), (vec!["work".to_owned()], ""));
    Ok(())
}

// The way out that a failed gate's own message names.
#[tokio::test]
async fn revoking_a_gate_as_its_message_says_lets_the_work_go_on() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|n, _| match n % 2 {
        0 => Answer::call("bash", json!({"command": "echo ran"})),
        _ => Answer::text("done"),
    }))
    .await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install(&Guest::new("warden").gate(&["bash"], "unreachable"))?;
    product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    let denied = Conversation::of(&server.requests()[1]).last_result()?;
    let (_, command) = denied.split_once("capstan ext ").context(denied.clone())?;
    let words: Vec<_> = command.split_whitespace().take(2).map(|word| word.trim_end_matches('.')).collect();
    assert_eq!(words, ["revoke", "warden"]);

    product.run(&[&["ext"], words.as_slice()].concat()).await?.with_code(0);
    assert_eq!(state(&product, "warden").await?, "off");
    product.run(&["-p", "go", "--permissions", "all"]).await?.with_code(0);
    assert_eq!(Conversation::of(&server.requests()[3]).last_result()?, "ran\n");
    Ok(())
}

// 001-123: a folder named on the command line must be there; its extensions are the user's.
#[tokio::test]
async fn another_folder_of_extensions_can_be_named_for_one_run() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("done"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    let folder = product.beside("more");
    let name = folder.to_string_lossy().into_owned();
    let missing = product.run(&["-p", "go", "--extensions", &name]).await?.with_code(1);
    assert!(missing.stderr.contains(&name), "{}", missing.stderr);
    std::fs::create_dir(&folder)?;
    std::fs::write(folder.join("x.wasm"), tool("extra", "work").build()?)?;
    product.run(&["-p", "go", "--extensions", &name]).await?.with_code(0);
    product.run(&["-p", "go"]).await?.with_code(0);
    let requests = server.requests();
    assert!(Conversation::of(&requests[0]).tool("work").is_ok());
    assert!(Conversation::of(&requests[1]).tool("work").is_err());
    Ok(())
}

// T11, T12: a trusted project cannot switch off what the user installed by shipping a file of the same name.
#[tokio::test]
async fn a_projects_file_takes_no_name_from_the_users_own() -> Result<()> {
    let product = product!()?;
    product.install(&tool("keeper", "work"))?;
    let folder = product.workspace().join(".capstan/extensions");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("same-id.wasm"), tool("keeper", "other").build()?)?;
    std::fs::write(folder.join("same-tool.wasm"), tool("another", "w0rk").build()?)?;
    product.run(&["ext", "allow", "--project"]).await?.with_code(0);
    let list = product.run(&["ext", "list", "--json"]).await?.with_code(0).json()?;
    let states: Vec<_> = list
        .as_array()
        .context("no array")?
        .iter()
        .map(|entry| {
            (entry["file"].as_str().unwrap_or_default().contains(".capstan"), entry["state"].clone())
        })
        .collect();
    assert_eq!(states.iter().filter(|state| **state == (false, json!("active"))).count(), 1, "{states:?}");
    assert_eq!(states.iter().filter(|state| **state == (true, json!("broken"))).count(), 2, "{states:?}");
    Ok(())
}
