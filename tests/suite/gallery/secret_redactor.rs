//! `secret-redactor`: what the model and the session get to see of credentials.

use super::grant;
use anyhow::Result;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::product::Product;
use serde_json::json;

/// Has the form of a token and is none; made here, so that no file holds one.
fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5".repeat(4).split_at(36).0)
}

/// What the model reads of a file with a token, and what the run said.
async fn read(product: Product, server: &ScriptedServer) -> Result<(String, String)> {
    std::fs::write(
        product.workspace().join(".env"),
        format!("# for CI\nGITHUB_TOKEN={}\nDEBUG=1\n", token()),
    )?;
    let product = product.with_openai(&server.base_url());
    let run = product.run(&["-p", "go"]).await?.with_code(0);
    let session = std::fs::read_to_string(&product.session_files()?[0])?;
    let requests = server.requests();
    let result = Conversation::of(&requests[1]).last_result()?;
    assert_eq!(
        session.contains(&token()),
        result.contains(&token()),
        "the session keeps what the model read"
    );
    Ok((result, run.stderr))
}

async fn server() -> Result<ScriptedServer> {
    Ok(ScriptedServer::play([Answer::call("read", json!({"path": ".env"})), Answer::text("done")]).await?)
}

#[tokio::test]
async fn a_token_in_a_file_reaches_neither_model_nor_session() -> Result<()> {
    let server = server().await?;
    let product = product!()?;
    grant(&product, "secret-redactor").await?;
    let (result, _) = read(product, &server).await?;
    assert_eq!(result.trim_end(), "# for CI\nGITHUB_TOKEN=[redacted: github token]\nDEBUG=1");
    Ok(())
}

#[tokio::test]
async fn without_its_grant_it_is_off_and_the_run_says_so() -> Result<()> {
    let server = server().await?;
    let product = product!()?;
    product.install_built("secret-redactor")?;
    let (result, said) = read(product, &server).await?;
    assert!(result.contains(&token()));
    assert!(said.contains("secret-redactor") && said.contains("ext allow"), "{said}");
    Ok(())
}

#[tokio::test]
async fn the_user_allows_what_is_none() -> Result<()> {
    let server = server().await?;
    let product = product!()?;
    grant(&product, "secret-redactor").await?;
    product.configure("[extension.secret-redactor]\nallow = [\"ghp_a1B2*\"]\n")?;
    let (result, _) = read(product, &server).await?;
    assert!(result.contains(&token()), "{result}");
    Ok(())
}

#[tokio::test]
async fn a_mistake_in_its_configuration_withholds_results() -> Result<()> {
    let server = server().await?;
    let product = product!()?;
    grant(&product, "secret-redactor").await?;
    product.configure("[extension.secret-redactor]\nalow = [\"ghp_*\"]\n")?;
    let (result, said) = read(product, &server).await?;
    assert!(!result.contains(&token()) && !result.contains("DEBUG"), "{result}");
    assert!(format!("{result}{said}").contains("secret-redactor"), "{result}{said}");
    Ok(())
}
