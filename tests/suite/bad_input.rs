//! Files that are no sound extension: each costs only itself, and says in one paragraph which file and what to do.

mod configuration;
mod endpoints;

use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::guest::{Guest, core_module};
use capstan_tests::product;
use capstan_tests::product::Product;
use serde_json::json;
use std::sync::Arc;

/// A tool that answers its name.
fn tool(id: &str, name: &str) -> Guest {
    let (guest, body) = Guest::new(id).text_result(name);
    guest.tool(name, &body)
}

/// Runs a turn beside the bad files. Each of `bad` is a file's name and what its paragraph must say; the sound extension
/// must be offered and work, and nothing else may be said.
async fn check(product: Product, bad: &[(&str, &str)]) -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|n, _| match n % 2 {
        0 => Answer::call("sound_tool", json!({})),
        _ => Answer::text("done"),
    }))
    .await?;
    let product = product.with_openai(&server.base_url());
    product.install(&tool("sound", "sound_tool"))?;
    let finished = product.run(&["-p", "go"]).await?.with_code(0);
    assert_eq!(finished.stdout, "done\n");
    assert_eq!(Conversation::of(&server.requests()[1]).last_result()?, "sound_tool");
    for (file, remedy) in bad {
        let path = product.extensions().join(file).to_string_lossy().into_owned();
        let told = finished.warnings();
        let own: Vec<_> = told.iter().filter(|line| line.contains(&format!("{path}: "))).collect();
        assert_eq!(own.len(), 1, "one paragraph about {file}: {}", finished.stderr);
        assert!(own[0].contains(remedy), "{file}: {}", own[0]);
    }
    assert_eq!(finished.warnings().len(), bad.len(), "and no word more: {}", finished.stderr);

    for command in [&["ext", "check"][..], &["doctor"]] {
        let told = product.run(command).await?.with_code(1);
        for (file, remedy) in bad {
            assert!(
                told.stdout.contains(file) && told.stdout.contains(remedy),
                "{command:?}: {}",
                told.stdout
            );
        }
    }
    let listed = product.run(&["ext", "list"]).await?.with_code(0).stdout;
    assert!(listed.contains("sound"), "{listed}");
    Ok(())
}

// 001-123; A1, A2, A9, H10
#[tokio::test]
async fn files_that_are_no_component_cost_only_themselves() -> Result<()> {
    let product = product!()?;
    product.install_bytes("empty.wasm", b"")?;
    product.install_bytes("text.wasm", b"(component)")?;
    product.install_bytes("core.wasm", &core_module()?)?;
    let whole = Guest::new("whole").build()?;
    product.install_bytes("torn.wasm", &whole[..whole.len() / 2])?;
    check(
        product,
        &[
            ("empty.wasm", "capstan ext build"),
            ("text.wasm", "capstan ext build"),
            ("core.wasm", "wasm-tools component new"),
            ("torn.wasm", "it may be damaged"),
        ],
    )
    .await
}

// 001-123; A3, A4, A5
#[tokio::test]
async fn components_that_do_not_fit_the_contract_cost_only_themselves() -> Result<()> {
    let product = product!()?;
    product.install_bytes("future.wasm", &Guest::new("future").build_for("0.2.0")?)?;
    product.install_bytes("bare.wasm", &wat::parse_str("(component)")?)?;
    product.install_bytes(
        "hollow.wasm",
        &wat::parse_str(
            "(component (instance $e) (export \"capstan:extension/extension@0.1.0\" (instance $e)))",
        )?,
    )?;
    product.install_bytes(
        "greedy.wasm",
        &wat::parse_str(
            "(component (import \"evil:host/shell@1.0.0\" (instance (export \"run\" (func))))
             (instance $e) (export \"capstan:extension/extension@0.1.0\" (instance $e)))",
        )?,
    )?;
    check(
        product,
        &[
            ("future.wasm", "rebuild it with the SDK"),
            ("bare.wasm", "is it a Capstan extension?"),
            ("hollow.wasm", "rebuild it with the SDK"),
            ("greedy.wasm", "evil:host/shell@1.0.0"),
        ],
    )
    .await
}

// 001-123; C5, A17
#[tokio::test]
async fn extensions_that_cannot_say_what_they_are_cost_only_themselves() -> Result<()> {
    let product = product!()?;
    product.install(&Guest::new("trap").describe_with("unreachable"))?;
    product.install(&Guest::new("endless").describe_with("(loop $l (br $l)) unreachable"))?;
    product.install(&tool("imposter", "Bash"))?;
    check(
        product,
        &[
            ("trap.wasm", "unreachable"),
            ("endless.wasm", "did not answer within 2 s"),
            ("imposter.wasm", "`bash`"),
        ],
    )
    .await
}

// F14, F23: what is no regular file is not waited for.
#[tokio::test]
async fn files_that_cannot_be_read_cost_only_themselves() -> Result<()> {
    let product = product!()?;
    let folder = product.extensions();
    let large = std::fs::File::create(folder.join("large.wasm"))?;
    large.set_len(100 << 20)?;
    std::fs::create_dir(folder.join("folder.wasm"))?;
    std::os::unix::fs::symlink("/nowhere/at/all", folder.join("dangling.wasm"))?;
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket.wasm"))?;
    let made = tokio::process::Command::new("mkfifo").arg(folder.join("pipe.wasm")).status().await?;
    assert!(made.success());
    let mut bad = vec![
        ("large.wasm", "build it for release and strip it"),
        ("folder.wasm", "cannot be read"),
        ("dangling.wasm", "cannot be read"),
        ("socket.wasm", "cannot be read"),
        ("pipe.wasm", "cannot be read"),
    ];
    let locked = product.install_bytes("locked.wasm", b"anything")?;
    std::fs::set_permissions(&locked, std::os::unix::fs::PermissionsExt::from_mode(0o000))?;
    // Root reads it all the same, and then it is a file like any other that is no WebAssembly.
    let remedy = if std::fs::read(&locked).is_err() { "check its permissions" } else { "not WebAssembly" };
    bad.push(("locked.wasm", remedy));
    check(product, &bad).await
}

// H5, T11
#[tokio::test]
async fn two_extensions_of_one_id_are_both_left_out() -> Result<()> {
    let product = product!()?;
    product.install_bytes("one.wasm", &tool("same", "first").build()?)?;
    product.install_bytes("two.wasm", &tool("same", "second").build()?)?;
    check(product, &[("one.wasm", "remove one of the two"), ("two.wasm", "remove one of the two")]).await
}

// H5, H6, 001-114: neither wins, so that load order decides nothing.
#[tokio::test]
async fn two_tools_of_one_name_are_both_left_out() -> Result<()> {
    let product = product!()?;
    product.install(&tool("one", "lookup"))?;
    product.install(&tool("two", "Lookup"))?;
    check(product, &[("one.wasm", "remove one of the two"), ("two.wasm", "remove one of the two")]).await
}

// A clash ends as soon as the user decides it.
#[tokio::test]
async fn switching_one_of_two_clashing_extensions_off_frees_the_name_for_the_other() -> Result<()> {
    let product = product!()?;
    product.install(&tool("one", "lookup"))?;
    product.install(&tool("two", "lookup"))?;
    product.run(&["ext", "revoke", "two"]).await?.with_code(0);
    product.run(&["ext", "check"]).await?.with_code(0);
    let list = product.run(&["ext", "list", "--json"]).await?.with_code(0).json()?;
    let states =
        list.as_array().context("no array")?.iter().map(|entry| entry["state"].clone()).collect::<Vec<_>>();
    assert_eq!(states, [json!("active"), json!("off")]);
    Ok(())
}

// O3: names of files and texts of guests move no cursor.
#[tokio::test]
async fn control_characters_in_a_files_name_are_shown_escaped() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("done"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install_bytes("\u{1b}]0;owned\u{7}\u{202e}.wasm", b"")?;
    let finished = product.run(&["-p", "go"]).await?.with_code(0);
    let listed = product.run(&["ext", "list"]).await?.with_code(0);
    let checked = product.run(&["ext", "check"]).await?.with_code(1);
    let doctor = product.run(&["doctor"]).await?.with_code(1);
    for text in [&finished.stderr, &listed.stdout, &checked.stdout, &doctor.stdout] {
        assert!(text.contains("owned"), "{text:?}");
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
    }
    Ok(())
}
