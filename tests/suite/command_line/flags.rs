//! Flags that say which model and tools, and which cannot stand together.

use anyhow::{Context, Result};
use capstan_provider::Answer;
use capstan_provider::scripted::server::{RecordedRequest, ScriptedServer};
use capstan_tests::product;
use std::sync::Arc;

/// Names of the tools in a request.
fn tools(request: &RecordedRequest) -> Vec<String> {
    let tools = request.body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| Some(tool["function"]["name"].as_str()?.to_owned())).collect()
}

// 001-144
#[tokio::test]
async fn flags_that_exclude_each_other_and_values_that_are_none_end_with_2() -> Result<()> {
    let product = product!()?;
    for (arguments, told) in [
        (&["--continue", "--resume", "x"][..], "cannot be used with"),
        (&["--session", "x", "--no-session"], "cannot be used with"),
        (&["--fork", "x", "--session", "y"], "cannot be used with"),
        (&["--no-session", "--session-dir", "x"], "cannot be used with"),
        (&["--tools", "read", "--no-tools"], "cannot be used with"),
        (&["--provider", "openai"], "--model"),
        (&["--tools", "read,teleport"], "teleport"),
        (&["--thinking", "much"], "xhigh"),
        (&["--session"], "--session"),
        (&["--no-such-flag"], "--no-such-flag"),
    ] {
        let arguments = [arguments, &["-p", "x"]].concat();
        let finished = product.run(&arguments).await?.with_code(2);
        assert!(finished.stderr.contains(told), "{arguments:?}: {}", finished.stderr);
        assert!(finished.stderr.contains("--help"), "{arguments:?}: {}", finished.stderr);
        assert_eq!(finished.stdout, "");
    }
    assert!(product.session_files()?.is_empty());
    Ok(())
}

// 001-144
#[tokio::test]
async fn built_in_tools_can_be_chosen_and_left_out() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    for (flags, expected) in [
        (&[][..], &["read", "bash", "edit", "write"][..]),
        (&["--tools", "grep,read"], &["read", "grep"]),
        (&["--tools", "ls", "--permissions", "all"], &["ls"]),
        (&["--no-tools"], &[]),
    ] {
        product.run(&[flags, &["--no-session", "-p", "x"]].concat()).await?.with_code(0);
        assert_eq!(tools(server.requests().last().context("no request")?), expected, "{flags:?}");
    }
    Ok(())
}

// 001-144
#[tokio::test]
async fn the_model_can_be_named_with_its_provider_apart() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    for (flags, model) in [
        (&["--model", "openai/a"][..], "a"),
        (&["--provider", "openai", "--model", "a"], "a"),
        (&["--provider", "openai", "--model", "openai/a"], "a"),
        (&["--provider", "openai", "--model", "vendor/a"], "vendor/a"),
    ] {
        product.run(&[flags, &["--no-session", "-p", "x"]].concat()).await?.with_code(0);
        assert_eq!(server.requests().last().context("no request")?.body["model"], model, "{flags:?}");
    }
    let unknown = product.run(&["--provider", "nobody", "--model", "a", "-p", "x"]).await?.with_code(1);
    assert!(
        unknown.stderr.contains("`nobody`") && unknown.stderr.contains("anthropic"),
        "{}",
        unknown.stderr
    );
    Ok(())
}

// 001-144
#[tokio::test]
async fn how_much_the_model_thinks_can_be_said() -> Result<()> {
    let server = ScriptedServer::start(Arc::new(|_, _| Answer::text("fine"))).await?;
    let product = product!()?.with_openai(&server.base_url());
    product.run(&["--no-session", "--thinking", "high", "-p", "x"]).await?.with_code(0);
    product.run(&["--no-session", "-p", "x"]).await?.with_code(0);
    let requests = server.requests();
    assert_eq!(requests[0].body["reasoning_effort"], "high");
    assert!(requests[1].body.get("reasoning_effort").is_none(), "{}", requests[1].body);
    Ok(())
}
