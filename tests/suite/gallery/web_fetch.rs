//! `extensions/web-fetch` in the sandbox, toward a server of the test that proves to be `docs.rs`; and in the built program, toward
//! hosts that it may not reach.

use crate::network::{Fake, services};
use anyhow::{Context, Result};
use capstan_engine::ExtensionSettings;
use capstan_policy::Effective;
use capstan_ports::message::text_of;
use capstan_ports::tool::Tool;
use capstan_provider::Answer;
use capstan_provider::scripted::server::ScriptedServer;
use capstan_tests::conversation::Conversation;
use capstan_tests::product;
use capstan_tests::sandboxed::{Granted, Place, call, tool_context};
use capstan_tests::site::{Authority, Seen, Site, answer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

const PAGE: &str = "<!doctype html><html><head><title>serde - Rust</title><script>if (a < b) { x() }</script></head><body>\
                    <nav><a href='/'>Home</a></nav><main><h1>Crate <b>serde</b></h1><p>A framework for \
                    <em>serializing</em>. See <a href='de/trait.Deserialize.html'>Deserialize</a>.</p><pre><code \
                    class='language-rust'>let x = 1 &lt; 2;\n</code></pre><ul><li>fast<li>safe</ul><table><tr><th>a<th>b<tr><td>1\
                    <td>2</table></main><footer>About</footer></body></html>";

fn docs(seen: &Seen) -> Vec<capstan_tests::site::Part> {
    let path = seen.line().split(' ').nth(1).unwrap_or_default();
    let html = "content-type: text/html; charset=utf-8\r\n";
    match path {
        "/serde" => answer("302 Found", "location: /serde/latest/\r\n", ""),
        "/serde/latest/" => answer("200 OK", html, PAGE),
        "/latin" => answer("200 OK", "content-type: text/plain; charset=iso-8859-1\r\n", b"caf\xe9"),
        "/data.json" => answer("200 OK", "content-type: application/json\r\n", "{\"a\": [1, 2]}"),
        "/away" => answer("301 Moved Permanently", "location: https://elsewhere.example/x\r\n", ""),
        "/picture" => answer("200 OK", "content-type: image/png\r\n", b"\x89PNG"),
        "/large" => answer("200 OK", html, format!("<main>{}</main>", "<p>many words</p>".repeat(200_000))),
        _ => answer("404 Not Found", html, "<h1>No such crate</h1>"),
    }
}

/// A server that proves to be `docs.rs`, the network that leads there, and the tool.
async fn tool(granted: Granted) -> Result<(Site, Arc<Fake>, Arc<dyn Tool>)> {
    let authority = Authority::new()?;
    let site = Site::encrypted(&authority.sign("docs.rs", 2100)?, docs).await?;
    let fake = Fake::answering(&[&["93.184.216.34"]], site.address);
    let network = fake.network().trusting(authority.certificate());
    let place = Place::with_cache()?;
    let inspected = place.sandbox.inspect(&product!()?.install_built("web-fetch")?).await?;
    let requests = &inspected.surface.descriptor.requests;
    let held: BTreeSet<_> = match granted {
        Granted::Nothing => BTreeSet::new(),
        Granted::Everything => requests.iter().map(|request| request.capability.clone()).collect(),
    };
    let effective = Effective::of(requests, &held);
    let settings =
        ExtensionSettings { services: services(network), ..ExtensionSettings::new(place.places()) };
    let extension = place.sandbox.extension(inspected, effective, &settings)?;
    let tool = extension.tools().into_iter().next().context("there is no tool")?;
    Ok((site, fake, tool))
}

/// What the tool answers, and whether that is an error.
async fn fetched(tool: &Arc<dyn Tool>, arguments: Value) -> Result<(String, bool)> {
    match tool.execute(&call("web_fetch", arguments), &tool_context()).await {
        Ok(outcome) => Ok((text_of(&outcome.content), outcome.is_error)),
        Err(error) => Ok((error.to_string(), true)),
    }
}

#[tokio::test]
async fn a_page_is_fetched_through_a_redirect_and_read() -> Result<()> {
    let (site, _fake, tool) = tool(Granted::Everything).await?;
    let (text, is_error) = fetched(&tool, json!({"url": "http://docs.rs/serde#top"})).await?;
    assert!(!is_error, "{text}");
    assert_eq!(
        text,
        "Title: serde - Rust\nAddress: https://docs.rs/serde/latest/\n\n# Crate **serde**\n\nA framework for *serializing*. See \
         [Deserialize](https://docs.rs/serde/latest/de/trait.Deserialize.html).\n\n```rust\nlet x = 1 < 2;\n```\n\n- fast\n\
         - safe\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    );
    let seen = site.seen();
    assert_eq!(
        seen.iter().map(Seen::line).collect::<Vec<_>>(),
        ["GET /serde HTTP/1.1", "GET /serde/latest/ HTTP/1.1"]
    );
    assert!(seen[0].header("user-agent").is_some_and(|agent| agent.starts_with("capstan-web-fetch/")));
    Ok(())
}

#[tokio::test]
async fn other_text_is_answered_as_it_is_and_what_is_none_is_told() -> Result<()> {
    let (_site, _fake, tool) = tool(Granted::Everything).await?;
    for (path, said, fails) in [
        ("latin", "café", false),
        ("data.json", "{\"a\": [1, 2]}", false),
        ("picture", "is no text: it answers 200 with 4 bytes of `image/png`", true),
        ("missing", "answers with status 404: # No such crate", true),
    ] {
        let (text, is_error) = fetched(&tool, json!({"url": format!("https://docs.rs/{path}")})).await?;
        assert!(text.contains(said) && is_error == fails, "{path}: {text}");
    }
    Ok(())
}

#[tokio::test]
async fn a_large_page_is_answered_in_parts() -> Result<()> {
    let (_site, _fake, tool) = tool(Granted::Everything).await?;
    let (text, _) = fetched(&tool, json!({"url": "https://docs.rs/large", "max_bytes": 1000})).await?;
    assert!(text.len() < 1_200 && text.contains("the page goes on: pass `from` = "), "{text}");
    let (text, is_error) =
        fetched(&tool, json!({"url": "https://docs.rs/large", "max_bytes": 1000, "from": 1_000_000})).await?;
    assert!(!is_error && text.contains("many words"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_redirect_to_a_host_that_is_not_granted_ends_there() -> Result<()> {
    let (site, _fake, tool) = tool(Granted::Everything).await?;
    let (text, is_error) = fetched(&tool, json!({"url": "https://docs.rs/away"})).await?;
    assert!(is_error, "{text}");
    assert!(text.contains("redirects to https://elsewhere.example/x"), "{text}");
    assert!(text.contains("may not reach https://elsewhere.example: it is none of the hosts"), "{text}");
    assert_eq!(site.seen().len(), 1);
    Ok(())
}

#[tokio::test]
async fn without_a_grant_nothing_is_reached_and_the_error_names_the_command() -> Result<()> {
    let (site, _fake, tool) = tool(Granted::Nothing).await?;
    let (text, is_error) = fetched(&tool, json!({"url": "https://docs.rs/serde"})).await?;
    assert!(is_error && text.contains("capstan ext allow web-fetch"), "{text}");
    assert!(site.seen().is_empty());
    Ok(())
}

#[tokio::test]
async fn in_the_program_a_host_that_it_cannot_be_granted_is_told_to_the_model() -> Result<()> {
    let url = "https://internal.example/wiki";
    let server =
        ScriptedServer::play([Answer::call("web_fetch", json!({"url": url})), Answer::text("done")]).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.install_built("web-fetch")?;
    product.run(&["ext", "allow", "web-fetch", "--yes"]).await?.with_code(0);
    product.run(&["-p", "go"]).await?.with_code(0);
    let said = Conversation::of(&server.requests()[1]).last_result()?;
    assert!(
        said.contains("web-fetch may not reach https://internal.example: it is none of the hosts"),
        "{said}"
    );
    assert!(said.contains("docs.rs, doc.rust-lang.org"), "{said}");
    Ok(())
}
