//! `capstan memory`, and what a session finds of it.

use crate::roles::install_roles;
use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::Product;
use serde_json::{Value, json};

async fn listed(product: &Product) -> Result<Vec<Value>> {
    let list = product.run(&["memory", "list", "--json"]).await?.with_code(0).json()?;
    Ok(list.as_array().context("a list")?.clone())
}

fn has_retrieve(server: &ScriptedServer, n: usize) -> bool {
    Conversation::of(&server.requests()[n]).tools().iter().any(|(name, _, _)| *name == "retrieve")
}

#[tokio::test]
async fn what_is_kept_is_found_listed_replaced_and_forgotten() -> Result<()> {
    let product = product!()?;
    let nothing = product.run(&["memory", "list"]).await?.with_code(0);
    assert!(nothing.stdout.is_empty() && nothing.stderr.contains("capstan memory add"), "{}", nothing.stderr);
    assert!(!product.home().join("memory.sqlite").exists(), "looking makes no file");

    let key = product.run(&["memory", "add", "Releases are cut on Tuesdays"]).await?.with_code(0).stdout;
    assert_eq!(key, "m1\n");
    let piped =
        product.run_with(&["memory", "add", "--key", "db", "-", "--json"], "The database is Postgres 17\n");
    assert_eq!(piped.await?.with_code(0).json()?, json!({ "key": "db" }));
    product.run(&["memory", "add", "--key", "db", "The database is SQLite"]).await?.with_code(0);
    assert_eq!(listed(&product).await?.len(), 2);

    let found = product.run(&["memory", "search", "when", "release", "--json"]).await?.with_code(0).json()?;
    assert_eq!((&found[0]["key"], &found[0]["text"]), (&json!("m1"), &json!("Releases are cut on Tuesdays")));
    let found = product.run(&["memory", "search", "postgres \" OR ("]).await?.with_code(0);
    assert!(found.stdout.is_empty() && found.stderr.contains("nothing was found"), "{}", found.stdout);

    product.run(&["memory", "remove", "db"]).await?.with_code(0);
    let again = product.run(&["memory", "remove", "db"]).await?.with_code(1);
    assert!(again.stderr.contains("nothing is kept under db"), "{}", again.stderr);
    let empty = product.run(&["memory", "add", " "]).await?.with_code(1);
    assert!(empty.stderr.contains("no text"), "{}", empty.stderr);
    let long = product.run_with(&["memory", "add", "-"], &"x".repeat(70_000)).await?.with_code(1);
    assert!(long.stderr.contains("capstan memory import"), "{}", long.stderr);
    assert_eq!(listed(&product).await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn nothing_that_is_kept_acts_on_the_terminal() -> Result<()> {
    let product = product!()?;
    let evil = "title \u{1b}]0;gone\u{7}\u{202e}word";
    product.run(&["memory", "add", "--key", "k\u{1b}[2J\n", evil]).await?.with_code(0);
    for arguments in [&["memory", "list"][..], &["memory", "search", "word"], &["memory", "list", "--json"]] {
        let stdout = product.run(arguments).await?.with_code(0).stdout;
        assert!(stdout.contains("title"), "{stdout}");
        assert!(!stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{stdout:?}");
    }
    assert_eq!(listed(&product).await?[0]["text"], evil);
    Ok(())
}

#[tokio::test]
async fn importing_again_brings_what_changed_and_takes_what_went() -> Result<()> {
    let product = product!()?;
    let notes = product.workspace().join("notes");
    std::fs::create_dir_all(notes.join("below"))?;
    std::fs::write(notes.join("a.md"), "# Cats\n\nCats sleep all day.")?;
    std::fs::write(notes.join("below/b.txt"), "Dogs bark.")?;
    std::fs::write(notes.join("c.rs"), "fn no_note() {}")?;
    std::fs::write(notes.join("bad.md"), [0xff])?;
    product.run(&["memory", "add", "a text of its own"]).await?.with_code(0);
    let first = product.run(&["memory", "import", "notes", "--json"]).await?.with_code(0);
    let report = first.json()?;
    assert_eq!((&report["files"], &report["kept"], &report["removed"]), (&json!(2), &json!(2), &json!(0)));
    assert!(first.stderr.contains("bad.md is left out"), "{}", first.stderr);
    let same = product.run(&["memory", "import", "notes", "--json"]).await?.with_code(0).json()?;
    assert_eq!(same["kept"], 0);

    std::fs::write(notes.join("a.md"), "# Cats\n\nCats hunt at night.")?;
    std::fs::remove_file(notes.join("below/b.txt"))?;
    let report = product.run(&["memory", "import", "notes", "--json"]).await?.with_code(0).json()?;
    assert_eq!((&report["kept"], &report["removed"]), (&json!(1), &json!(1)));
    let texts: Vec<_> = listed(&product).await?.iter().map(|entry| entry["text"].clone()).collect();
    assert!(texts.contains(&json!("# Cats\n\nCats hunt at night.")), "{texts:?}");
    assert!(texts.contains(&json!("a text of its own")) && texts.len() == 2, "{texts:?}");

    product.run(&["memory", "remove", "notes/a.md"]).await?.with_code(0);
    assert_eq!(listed(&product).await?.len(), 1);
    product.run(&["memory", "import", "nowhere"]).await?.with_code(1);
    Ok(())
}

// 004-142
#[tokio::test]
async fn the_model_finds_what_the_user_keeps_once_there_is_something() -> Result<()> {
    let answers = [
        Answer::text("hello"),
        Answer::call("retrieve", json!({ "query": "when do we release?" })),
        Answer::text("on Tuesdays"),
        Answer::text("none"),
    ];
    let server = ScriptedServer::play(answers).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.run(&["-p", "hello"]).await?.with_code(0);
    assert!(!has_retrieve(&server, 0), "an empty memory costs nothing");
    product.run(&["memory", "add", "Releases are cut on Tuesdays"]).await?.with_code(0);
    product.run(&["-p", "when do we release?"]).await?.with_code(0);
    assert!(has_retrieve(&server, 1));
    let requests = server.requests();
    assert!(Conversation::of(&requests[1]).tool("remember").is_err(), "what is kept there the user keeps");
    let result = Conversation::of(&requests[2]).last_result()?;
    assert_eq!(result, "- Releases are cut on Tuesdays (id m1)");
    product.configure("memory = \"none\"")?;
    product.run(&["-p", "hello"]).await?.with_code(0);
    assert!(!has_retrieve(&server, 3));
    Ok(())
}

#[tokio::test]
async fn a_component_that_is_the_memory_stands_in_place_of_the_users_own() -> Result<()> {
    let answers = [Answer::call("retrieve", json!({ "query": "release" })), Answer::text("nothing")];
    let server = ScriptedServer::play(answers).await?;
    let product = product!()?.with_openai(&server.base_url());
    install_roles(&product).await?;
    product.run(&["memory", "add", "Releases are cut on Tuesdays"]).await?.with_code(0);
    product.run(&["-p", "when do we release?"]).await?.with_code(0);
    let requests = server.requests();
    assert_eq!(Conversation::of(&requests[1]).last_result()?, "Nothing was found.");
    Ok(())
}

#[tokio::test]
async fn a_damaged_memory_is_named_and_sessions_go_on_without_it() -> Result<()> {
    let server = ScriptedServer::play([Answer::text("hello")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    let file = product.home().join("memory.sqlite");
    std::fs::create_dir_all(product.home())?;
    std::fs::write(&file, [b'x'; 4096])?;
    for arguments in [&["memory", "list"][..], &["memory", "add", "x"], &["memory", "search", "x"]] {
        let said = product.run(arguments).await?.with_code(1).stderr;
        assert!(said.contains("memory.sqlite is damaged") && said.contains("move it away"), "{said}");
    }
    let finished = product.run(&["-p", "hello"]).await?.with_code(0);
    assert!(finished.stderr.contains("memory.sqlite is damaged"), "{}", finished.stderr);
    assert!(!has_retrieve(&server, 0));
    assert_eq!(std::fs::read(&file)?, [b'x'; 4096]);
    Ok(())
}
