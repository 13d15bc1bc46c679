//! Calls into components: answers, errors and verdicts come through as the contract says.

use anyhow::Result;
use capstan_ports::extension::HookStage;
use capstan_ports::hook::{GateVerdict, Hook, HookError};
use capstan_ports::message::text_of;
use capstan_ports::permission::CallAccess;
use capstan_tests::guest::{Guest, Request};
use capstan_tests::sandboxed::{Granted, Place, call, hook_context, tool_context};
use serde_json::json;
use std::sync::Arc;

/// The gate of a guest that always answers this verdict.
async fn gate(place: &Place, guest: Guest, case: u8, text: &str, granted: Granted) -> Result<Arc<dyn Hook>> {
    let (guest, body) = guest.verdict(case, text);
    let extension = place.load_granted(&guest.gate(&["bash", "w*"], &body), granted).await?;
    extension.hook().ok_or_else(|| anyhow::anyhow!("the guest has a gate"))
}

#[tokio::test]
async fn a_tool_answers_and_is_bounded_by_its_grants() -> Result<()> {
    let place = Place::new()?;
    let (guest, body) = Guest::new("greeter").text_result("hello");
    let extension = place.load(&guest.tool("greet", &body)).await?;
    let tools = extension.tools();
    assert_eq!(tools[0].access(&json!({})), CallAccess::Sandboxed("greeter".to_owned()));
    let outcome = tools[0].execute(&call("greet", json!({})), &tool_context()).await?;
    assert_eq!((text_of(&outcome.content).as_str(), outcome.is_error), ("hello", false));
    Ok(())
}

#[tokio::test]
async fn a_gate_passes_blocks_defers_and_asks() -> Result<()> {
    let place = Place::new()?;
    for (case, expected) in [
        (0, GateVerdict::Pass),
        (2, GateVerdict::Block("because".to_owned())),
        (3, GateVerdict::Defer("because".to_owned())),
        (4, GateVerdict::Ask("because".to_owned())),
    ] {
        let hook = gate(&place, Guest::new("gate"), case, "because", Granted::Nothing).await?;
        let verdict = hook.before_tool_call(&hook_context(), &call("bash", json!({}))).await?;
        assert_eq!(verdict, expected);
    }
    Ok(())
}

#[tokio::test]
async fn a_gate_is_asked_only_about_the_tools_it_names() -> Result<()> {
    let place = Place::new()?;
    let hook = gate(&place, Guest::new("gate"), 0, "", Granted::Nothing).await?;
    for (tool, asked) in [("bash", true), ("write", true), ("read", false)] {
        assert_eq!(hook.handles(HookStage::BeforeToolCall, Some(tool)), asked, "{tool}");
    }
    assert!(
        !hook.handles(HookStage::AfterToolCall, Some("bash")),
        "no guest call for a stage without subscriber"
    );
    Ok(())
}

// T7 and design §6: a rewrite needs its power.
#[tokio::test]
async fn arguments_are_rewritten_only_with_the_power() -> Result<()> {
    let place = Place::new()?;
    let asking = || Guest::new("rewriter").request(Request::RewriteArguments);
    let rewritten = r#"{"command":"ls"}"#;

    let hook = gate(&place, asking(), 1, rewritten, Granted::Everything).await?;
    let verdict = hook.before_tool_call(&hook_context(), &call("bash", json!({}))).await?;
    assert_eq!(verdict, GateVerdict::Rewrite(json!({"command": "ls"})));

    let hook = gate(&place, asking(), 1, rewritten, Granted::Nothing).await?;
    let refused = hook.before_tool_call(&hook_context(), &call("bash", json!({}))).await;
    let text = refused.expect_err("no power, no rewrite").to_string();
    assert!(text.contains("rewrite-arguments"), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_gate_that_answers_garbage_denies_and_stays_closed() -> Result<()> {
    let place = Place::new()?;
    // 77 is no case of the verdict; text that is no JSON is no rewrite.
    for (case, text) in [(77, ""), (1, "not json")] {
        let guest = Guest::new("garbage").request(Request::RewriteArguments);
        let hook = gate(&place, guest, case, text, Granted::Everything).await?;
        for _ in 0..2 {
            let denied = hook.before_tool_call(&hook_context(), &call("bash", json!({}))).await;
            let Err(HookError::Failed { message, .. }) = denied else { anyhow::bail!("must be denied") };
            assert!(message.contains("capstan ext revoke garbage"), "{message}");
        }
    }
    Ok(())
}

/// Counts its calls in a global and answers the count as one digit.
fn counter(id: &str) -> Guest {
    let (guest, body) = Guest::new(id).text_result("0");
    guest.define("(global $calls (mut i32) (i32.const 48))").tool(
        "count",
        &format!(
            "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
             (i32.store8 (i32.const 640) (global.get $calls)) {body}"
        ),
    )
}

async fn count(place: &Place, guest: &Guest, times: usize) -> Result<String> {
    let extension = place.load(guest).await?;
    let tool = &extension.tools()[0];
    let mut seen = String::new();
    for _ in 0..times {
        let outcome = tool.execute(&call("count", json!({})), &tool_context()).await?;
        seen.push_str(&text_of(&outcome.content));
    }
    Ok(seen)
}

#[tokio::test]
async fn no_state_leaks_from_one_call_to_the_next() -> Result<()> {
    assert_eq!(count(&Place::new()?, &counter("fresh"), 3).await?, "111");
    Ok(())
}

#[tokio::test]
async fn an_instance_lives_as_long_as_the_session_where_the_descriptor_says_so() -> Result<()> {
    let mut guest = counter("kept");
    guest.session_lifetime = true;
    assert_eq!(count(&Place::new()?, &guest, 3).await?, "123");
    Ok(())
}
