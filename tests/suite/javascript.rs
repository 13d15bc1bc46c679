//! A gate in JavaScript, as an author would write it, in QuickJS.
//!
//! Left out, with a line that says so, where the component was not built because there is no npm.

use anyhow::{Context, Result};
use capstan_engine::ExtensionSettings;
use capstan_policy::Effective;
use capstan_ports::hook::{GateVerdict, Hook, HookError};
use capstan_tests::probe::{built_guest, sandbox};
use capstan_tests::sandboxed::{Place, call, hook_context};
use serde_json::json;
use std::sync::Arc;

async fn gate(place: &Place) -> Result<Option<Arc<dyn Hook>>> {
    let Ok(path) = built_guest("javascript-gate-quickjs") else {
        eprintln!(
            "left out: the gate in JavaScript is not built; `cargo xtask setup` builds it where npm is installed"
        );
        return Ok(None);
    };
    // Compiled once for all test processes.
    let sandbox = sandbox()?;
    let settings = ExtensionSettings::new(place.places());
    let extension = sandbox.extension(sandbox.inspect(&path).await?, Effective::nothing(), &settings)?;
    Ok(Some(extension.hook().context("it has a gate")?))
}

#[tokio::test]
async fn a_gate_in_javascript_lets_pass_and_blocks() -> Result<()> {
    let place = Place::new()?;
    let Some(gate) = gate(&place).await? else { return Ok(()) };
    let passed = gate.before_tool_call(&hook_context(), &call("bash", json!({"command": "ls"}))).await?;
    assert_eq!(passed, GateVerdict::Pass);
    let marked = call("bash", json!({"command": "echo must-block-this"}));
    let blocked = gate.before_tool_call(&hook_context(), &marked).await?;
    assert_eq!(blocked, GateVerdict::Block("marked".to_owned()));
    Ok(())
}

#[tokio::test]
async fn a_mistake_in_javascript_blocks_that_call_and_no_other() -> Result<()> {
    let place = Place::new()?;
    let Some(gate) = gate(&place).await? else { return Ok(()) };
    // The gate takes the command for a text.
    let odd = call("bash", json!({"command": 7}));
    let blocked = gate.before_tool_call(&hook_context(), &odd).await?;
    assert!(
        matches!(&blocked, GateVerdict::Block(reason) if reason.contains("not a function")),
        "{blocked:?}"
    );
    let sound = gate.before_tool_call(&hook_context(), &call("bash", json!({"command": "ls"}))).await?;
    assert_eq!(sound, GateVerdict::Pass);
    Ok(())
}

#[tokio::test]
async fn an_answer_that_is_none_closes_the_gate() -> Result<()> {
    let place = Place::new()?;
    let Some(gate) = gate(&place).await? else { return Ok(()) };
    let odd = call("bash", json!({"command": "answer-nonsense"}));
    let denied = gate.before_tool_call(&hook_context(), &odd).await;
    assert!(matches!(denied, Err(HookError::Failed { .. })), "{denied:?}");
    let sound = gate.before_tool_call(&hook_context(), &call("bash", json!({"command": "ls"}))).await;
    assert!(sound.is_err(), "a gate that failed stays closed");
    Ok(())
}
