//! Configuration, grants and models that cannot be used: named, with what to do, before anything is sent.

use anyhow::Result;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::guest::{Guest, Request};
use capstan_tests::product;
use capstan_tests::product::Product;
use std::sync::Arc;

/// Runs a prompt that must end with 1 and these texts, without a request and without a session.
async fn refused(product: Product, told: &[&str]) -> Result<Product> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("must not be asked"))).await?;
    let product = product.with("OPENAI_BASE_URL", server.base_url());
    refused_as_it_is(&product, told).await?;
    assert!(server.requests().is_empty());
    Ok(product)
}

async fn refused_as_it_is(product: &Product, told: &[&str]) -> Result<()> {
    let finished = product.run(&["-p", "go"]).await?.with_code(1);
    assert_eq!(finished.stdout, "");
    for part in told {
        assert!(finished.stderr.contains(part), "{part}: {}", finished.stderr);
    }
    assert!(product.session_files()?.is_empty(), "no session is begun");
    Ok(())
}

#[tokio::test]
async fn without_a_model_the_ways_to_choose_one_are_named() -> Result<()> {
    refused(product!()?, &["CAPSTAN_MODEL", "--model", "config.toml", "capstan demo"]).await?;
    Ok(())
}

#[tokio::test]
async fn a_missing_key_is_told_with_the_name_of_its_variable() -> Result<()> {
    for (model, variable) in
        [("openai/gpt-test", "OPENAI_API_KEY"), ("anthropic/claude-test", "ANTHROPIC_API_KEY")]
    {
        refused_as_it_is(&product!()?.with("CAPSTAN_MODEL", model), &[variable]).await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_unknown_provider_is_told_with_those_that_there_are() -> Result<()> {
    refused_as_it_is(
        &product!()?.with("CAPSTAN_MODEL", "antropic/claude-test"),
        &["antropic", "openai", "anthropic"],
    )
    .await
}

#[tokio::test]
async fn a_base_url_that_is_none_is_told() -> Result<()> {
    let product = product!()?.with_openai("localhost:11434/v1");
    refused_as_it_is(&product, &["openai", "base URL", "https://host/v1"]).await
}

#[tokio::test]
async fn a_broken_configuration_is_named_with_the_place_of_the_fault() -> Result<()> {
    for (text, told) in [
        ("model = ", "line 1"),
        ("modell = \"openai/x\"\n", "modell"),
        ("permissions = \"everything\"\n", "everything"),
        ("[provider.mine]\napi = \"openai\"\n", "base_url"),
    ] {
        let product = product!()?.with("CAPSTAN_MODEL", "openai/test");
        let file = product.home().join("config.toml");
        std::fs::write(&file, text)?;
        let product = refused(product, &[&file.to_string_lossy(), told]).await?;
        let doctor = product.run(&["doctor"]).await?.with_code(1);
        assert!(doctor.stdout.contains(told), "{}", doctor.stdout);
    }
    Ok(())
}

// Design §6: half a policy is no policy.
#[tokio::test]
async fn broken_grants_grant_nothing_and_stop_the_run() -> Result<()> {
    let (guest, body) = Guest::new("reader").text_result("hello");
    for text in [
        "version = 1\n[[extension]]\nid = \"reader\"\n",
        "version = 1\nsurprise = true\n",
        "version = 99\n",
        "\0",
    ] {
        let product = product!()?.with("CAPSTAN_MODEL", "openai/test");
        product.install(&guest.clone().tool("peek", &body).request(Request::Directory(".".to_owned())))?;
        product.run(&["ext", "allow", "reader"]).await?.with_code(0);
        let file = product.home().join("grants.toml");
        let valid = std::fs::read_to_string(&file)?;
        std::fs::write(&file, format!("{valid}\n{text}"))?;
        let name = file.to_string_lossy().into_owned();
        let product = refused(product, &[&name]).await?;
        for command in [&["ext", "list"][..], &["ext", "allow", "reader"], &["doctor"]] {
            let finished = product.run(command).await?.with_code(1);
            let told = format!("{}{}", finished.stdout, finished.stderr);
            assert!(told.contains(&name), "{command:?}: {told}");
        }
        assert_eq!(
            std::fs::read_to_string(&file)?,
            format!("{valid}\n{text}"),
            "a file that was not understood is not replaced"
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_unusable_script_names_its_line() -> Result<()> {
    let product = product!()?.with_script(&["{\"text\": \"fine\"}", "{\"txt\": 1}"])?;
    refused_as_it_is(&product, &["script.jsonl", "line 2", "txt"]).await
}

#[tokio::test]
async fn a_folder_that_cannot_be_added_is_named() -> Result<()> {
    let product = product!()?.with_openai("http://127.0.0.1:9/v1");
    let finished = product.run(&["-p", "go", "--add-dir", "nowhere"]).await?.with_code(1);
    assert!(finished.stderr.contains("--add-dir nowhere"), "{}", finished.stderr);
    assert!(product.session_files()?.is_empty());
    Ok(())
}
