//! `capstan ext install` and `remove`, and the lock file between them.

use anyhow::{Context, Result};
use capstan_tests::guest::{Guest, Request};
use capstan_tests::product;
use capstan_tests::product::Product;
use capstan_tests::terminal::Terminal;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// A tool `greet` that says this and asks to keep something.
fn greeter(says: &str) -> Guest {
    let (guest, body) = Guest::new("greeter").text_result(says);
    guest.tool("greet", &body).request(Request::KeyValue(1000))
}

/// A file that is not in the extension folder.
fn downloaded(product: &Product, name: &str, guest: &Guest) -> Result<PathBuf> {
    let path = product.beside(name);
    fs::write(&path, guest.build()?)?;
    Ok(path)
}

async fn install(product: &Product, path: &std::path::Path) -> Result<String> {
    let path = path.to_str().context("a path")?;
    Ok(product.run(&["ext", "install", "--yes", path]).await?.with_code(0).stderr)
}

async fn listed(product: &Product) -> Result<Vec<Value>> {
    let list = product.run(&["ext", "list", "--json"]).await?.with_code(0).json()?;
    list.as_array().cloned().context("the list is no array")
}

fn lock(product: &Product) -> Result<String> {
    Ok(fs::read_to_string(product.home().join("extensions.lock"))?)
}

#[tokio::test]
async fn an_extension_is_installed_under_its_id_and_noted_in_the_lock() -> Result<()> {
    let product = product!()?;
    let path = downloaded(&product, "some download (1).wasm", &greeter("hello"))?;
    let said = install(&product, &path).await?;
    assert!(said.contains("installed") && said.contains("capstan ext allow greeter"), "{said}");
    assert_eq!(fs::read(product.extensions().join("greeter.wasm"))?, fs::read(&path)?);
    let listed = listed(&product).await?;
    assert_eq!(
        (listed.len(), &listed[0]["state"]),
        (1, &Value::from("waiting")),
        "installing grants nothing"
    );
    assert_eq!(listed[0]["installed"]["digest"], listed[0]["digest"]);
    let lock = lock(&product)?;
    assert!(lock.contains("some download (1).wasm") && lock.contains("version = \"1.0.0\""), "{lock}");
    // Again: nothing to do.
    let said = install(&product, &path).await?;
    assert!(said.contains("there already"), "{said}");
    Ok(())
}

#[tokio::test]
async fn a_successor_is_shown_with_what_is_different_and_its_grants_are_void() -> Result<()> {
    let product = product!()?;
    install(&product, &downloaded(&product, "one.wasm", &greeter("hello"))?).await?;
    product.run(&["ext", "allow", "greeter"]).await?.with_code(0);
    let (guest, body) = Guest::new("greeter").text_result("hello");
    let next = guest.tool("salute", &body).request(Request::Directory(".".to_owned()));
    let path = downloaded(&product, "two.wasm", &next)?;
    let path = path.to_str().context("a path")?;
    let shown = product.run(&["ext", "install", "--yes", path]).await?.with_code(0).stdout;
    for part in ["replaces", "+ tool salute", "- tool greet", "+ asks to", "does not count"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(listed(&product).await?[0]["state"], "modified");
    Ok(())
}

#[tokio::test]
async fn without_a_yes_nothing_is_installed() -> Result<()> {
    let product = product!()?;
    let path = downloaded(&product, "one.wasm", &greeter("hello"))?;
    let path = path.to_str().context("a path")?;
    let run = product.run(&["ext", "install", path]).await?.with_code(1);
    assert!(run.stderr.contains("--yes"), "{}", run.stderr);
    for (answer, code) in [("n", 1), ("y", 0)] {
        assert!(!product.extensions().join("greeter.wasm").exists());
        let mut terminal = Terminal::start(&product, &["ext", "install", path])?;
        let card = terminal.wait_for("Install this? [y/N]").await?;
        assert!(card.contains("greeter") && card.contains("needs to"), "the card is shown first: {card}");
        terminal.type_line(answer)?;
        assert_eq!(terminal.end().await?.0, code);
    }
    assert!(product.extensions().join("greeter.wasm").exists());
    Ok(())
}

// H5, T11
#[tokio::test]
async fn what_is_no_extension_or_takes_a_name_is_not_installed() -> Result<()> {
    let product = product!()?;
    install(&product, &downloaded(&product, "one.wasm", &greeter("hello"))?).await?;
    let (guest, body) = Guest::new("other").text_result("hello");
    let same_tool = guest.tool("greet", &body);
    product.install_bytes("another-name.wasm", &Guest::new("taken").build()?)?;
    let broken = product.beside("broken.wasm");
    fs::write(&broken, b"\0asm\x0d\0\x01\0nonsense")?;
    for (path, expected) in [
        (downloaded(&product, "same-tool.wasm", &same_tool)?, "capstan ext remove greeter"),
        (downloaded(&product, "same-id.wasm", &Guest::new("taken"))?, "another-name.wasm"),
        (broken, "does not validate"),
        (product.beside("nowhere.wasm"), "cannot be read"),
    ] {
        let path = path.to_str().context("a path")?;
        let run = product.run(&["ext", "install", "--yes", path]).await?.with_code(1);
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    }
    assert_eq!(fs::read_dir(product.extensions())?.count(), 2, "nothing is left over either");
    Ok(())
}

#[tokio::test]
async fn a_file_that_is_not_the_one_that_was_installed_is_pointed_out() -> Result<()> {
    let product = product!()?;
    install(&product, &downloaded(&product, "one.wasm", &greeter("hello"))?).await?;
    let list = async || -> Result<String> { Ok(product.run(&["ext", "list"]).await?.with_code(0).stdout) };
    assert!(!list().await?.contains("not the file that was installed"), "the control");
    product.install(&greeter("something else"))?;
    let text = list().await?;
    assert!(text.contains("not the file that was installed") && text.contains("one.wasm"), "{text}");
    Ok(())
}

#[tokio::test]
async fn removing_takes_file_lock_and_grants_and_what_was_stored_only_when_told_to() -> Result<()> {
    let product = product!()?;
    let path = downloaded(&product, "one.wasm", &greeter("hello"))?;
    let stored = product.home().join("storage/greeter");
    for purge in [false, true] {
        install(&product, &path).await?;
        product.run(&["ext", "allow", "greeter"]).await?.with_code(0);
        fs::create_dir_all(&stored)?;
        fs::write(stored.join("data"), "kept")?;
        let mut arguments = vec!["ext", "remove", "greeter"];
        arguments.extend(purge.then_some("--purge"));
        let said = product.run(&arguments).await?.with_code(0).stderr;
        assert!(said.contains("its grants") && said.contains("extensions.lock"), "{said}");
        assert_eq!(said.contains("--purge"), !purge, "{said}");
        assert_eq!(stored.exists(), !purge);
        assert!(!product.extensions().join("greeter.wasm").exists() && !lock(&product)?.contains("greeter"));
        assert!(!fs::read_to_string(product.home().join("grants.toml"))?.contains("greeter"));
    }
    // The old grants are gone: the same bytes wait again.
    install(&product, &path).await?;
    assert_eq!(listed(&product).await?[0]["state"], "waiting");
    // Somebody removes the file; the rest can still be removed.
    fs::remove_file(product.extensions().join("greeter.wasm"))?;
    product.run(&["ext", "remove", "greeter"]).await?.with_code(0);
    let run = product.run(&["ext", "remove", "greeter"]).await?.with_code(1);
    assert!(run.stderr.contains("there is no extension greeter"), "{}", run.stderr);
    Ok(())
}

// T6
#[tokio::test]
async fn what_comes_with_a_project_is_not_removed_for_it() -> Result<()> {
    let product = product!()?;
    let folder = product.workspace().join(".capstan/extensions");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("greeter.wasm"), greeter("hello").build()?)?;
    product.run(&["ext", "allow", "--project"]).await?.with_code(0);
    let run = product.run(&["ext", "remove", "greeter"]).await?.with_code(1);
    assert!(run.stderr.contains("capstan ext revoke greeter"), "{}", run.stderr);
    assert!(folder.join("greeter.wasm").exists());
    Ok(())
}

// K10
#[tokio::test]
async fn the_cache_is_listed_bounded_and_emptied() -> Result<()> {
    let product = product!()?;
    product.install(&greeter("hello"))?;
    product.install(&Guest::new("other"))?;
    product.run(&["ext", "list"]).await?.with_code(0);
    let folder = product.run(&["cache", "path"]).await?.with_code(0).stdout;
    assert_eq!(folder.trim(), product.home().join("cache/code").to_str().context("a path")?);
    let list = async || -> Result<Vec<Value>> {
        let list = product.run(&["cache", "list", "--json"]).await?.with_code(0).json()?;
        list.as_array().cloned().context("the list is no array")
    };
    let entries = list().await?;
    let mut ids: Vec<_> = entries.iter().filter_map(|entry| entry["id"].as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["greeter", "other"]);
    assert!(entries.iter().all(|entry| entry["bytes"].as_u64() > Some(1000)), "{entries:?}");
    let text = product.run(&["cache", "list"]).await?.with_code(0).stdout;
    assert!(text.contains("greeter") && text.contains("2 entries"), "{text}");
    let doctor = product.run(&["doctor"]).await?.stdout;
    assert!(doctor.contains("in 2 entries, at most 1.0 GiB"), "{doctor}");

    let said = product.run(&["cache", "clear"]).await?.with_code(0).stderr;
    assert!(said.contains("2 entries removed"), "{said}");
    assert!(list().await?.is_empty());
    // With a bound that nothing fits into, extensions still work.
    product.configure("cache_mb = 0\n")?;
    let run = product.run(&["ext", "list"]).await?.with_code(0);
    assert!(run.stderr.contains("cache_mb"), "{}", run.stderr);
    assert!(list().await?.is_empty());
    Ok(())
}
