//! Each hook goes wrong in every way there is, with no more harm than the failure rule of its stage says: a gate denies, a rewriter
//! leaves its subject as it was, an observer is ignored; rewriters and observers are left out from then on.

use anyhow::{Context, Result};
use capstan_ports::failure::{Failure, FailureKind};
use capstan_ports::hook::{Hook, HookContext, HookError, PlanStepStatus, SessionLifecycle, Verdict};
use capstan_ports::message::{AssistantMessage, Message};
use capstan_ports::session::SessionId;
use capstan_ports::tool::{ToolError, ToolOutcome};
use capstan_tests::guest::Guest;
use capstan_tests::invariant::another_works;
use capstan_tests::logged::Logged;
use capstan_tests::sandboxed::{Place, call, hook_context, tool_context};
use serde_json::json;
use std::sync::Arc;

const TRAP: &str = "unreachable";
const SPIN: &str = "(loop $l (br $l)) unreachable";
const GROW: &str = "(loop $l (br_if $l (i32.ne (memory.grow (i32.const 64)) (i32.const -1)))) unreachable";

/// Stages whose answer is looked at, and stages that answer nothing.
const REWRITERS: [&str; 4] = ["before-turn", "before-model", "after-model", "after-tool-call"];
const OBSERVERS: [&str; 6] =
    ["model-error", "tool-error", "after-turn", "turn-error", "plan-step", "session-lifecycle"];

/// What happens at a stage: nothing that it was about changed, or the reason why not.
async fn at(stage: &str, hook: &dyn Hook, context: &HookContext) -> Result<(), HookError> {
    let (message, answer) = (Arc::new(Message::user("hi")), AssistantMessage::default());
    let (call, failure) = (call("bash", json!({})), Failure::new(FailureKind::Tool, "it failed"));
    let unchanged = |proceeds: bool| {
        assert!(proceeds, "{stage}: the subject must stay as it was");
    };
    match stage {
        "before-turn" => unchanged(hook.before_turn(context, &message).await? == Verdict::Proceed),
        "before-model" => {
            unchanged(hook.before_model(context, std::slice::from_ref(&message)).await? == Verdict::Proceed);
        }
        "after-model" => unchanged(hook.after_model(context, &answer).await? == Verdict::Proceed),
        "after-tool-call" => {
            unchanged(hook.after_tool_call(context, &call, &ToolOutcome::text("fine")).await?.is_none());
        }
        "model-error" => hook.model_error(context, &failure).await?,
        "tool-error" => hook.tool_error(context, &call, &failure).await?,
        "after-turn" => hook.after_turn(context, &message, &[]).await?,
        "turn-error" => hook.turn_error(context, &failure).await?,
        "plan-step" => hook.plan_step(context, 0, &PlanStepStatus::Running).await?,
        _ => hook.session_lifecycle(&SessionId::new("test"), SessionLifecycle::Start).await?,
    }
    Ok(())
}

async fn fails_as_its_stage_says(place: &Place, stage: &'static str, guest: Guest, said: &str) -> Result<()> {
    let logged = Logged::begin();
    let hook = place.load(&guest).await?.hook().context("it has a hook")?;
    for _ in 0..3 {
        at(stage, &*hook, &hook_context()).await?;
    }
    let lines = logged.with("is left out from now on");
    assert_eq!(lines.len(), 1, "{stage}: said once: {lines:#?}");
    assert!(lines[0].contains(said), "{stage}: {lines:#?}");
    Ok(())
}

#[tokio::test]
async fn a_rewriter_that_fails_changes_nothing_and_is_left_out() -> Result<()> {
    let place = Place::new()?;
    for stage in REWRITERS {
        // No verdict has a ninth case, and no option a third.
        let (guest, garbage) = Guest::new("garbage").verdict(9, "");
        for (guest, body, said) in [
            (Guest::new("trapper"), TRAP, "trapped"),
            (Guest::new("spinner"), SPIN, "did not answer within"),
            (Guest::new("grower"), GROW, "used up its memory"),
            (guest, garbage.as_str(), "does not allow"),
        ] {
            fails_as_its_stage_says(&place, stage, guest.hook(stage, body), said).await?;
        }
    }
    another_works(&place).await
}

#[tokio::test]
async fn an_observing_hook_that_fails_is_ignored_and_left_out() -> Result<()> {
    let place = Place::new()?;
    for stage in OBSERVERS {
        for (id, body, said) in [
            ("trapper", TRAP, "trapped"),
            ("spinner", SPIN, "did not answer within"),
            ("grower", GROW, "used up its memory"),
        ] {
            fails_as_its_stage_says(&place, stage, Guest::new(id).hook(stage, body), said).await?;
        }
    }
    another_works(&place).await
}

// The gate itself is in `limits` and `turn::gates`; here are its other ways to fail.
#[tokio::test]
async fn a_gate_that_answers_garbage_denies_and_stays_closed() -> Result<()> {
    let place = Place::new()?;
    let (guest, garbage) = Guest::new("garbage").verdict(9, "");
    let hook = place.load(&guest.gate(&["bash"], &garbage)).await?.hook().context("it has a gate")?;
    for _ in 0..2 {
        let denied = hook.before_tool_call(&hook_context(), &call("bash", json!({}))).await;
        let Err(HookError::Failed { message, .. }) = denied else {
            anyhow::bail!("must be denied: {denied:?}")
        };
        assert!(message.contains("does not allow") && message.contains("capstan ext revoke"), "{message}");
    }
    Ok(())
}

#[tokio::test]
async fn preparing_arguments_that_fails_is_the_calls_error_and_nothing_runs() -> Result<()> {
    let place = Place::new()?;
    for (id, body, said) in [
        ("trapper", TRAP, "trapped"),
        ("spinner", SPIN, "did not answer within"),
        ("grower", GROW, "used up its memory"),
    ] {
        let (guest, answer) = Guest::new(id).text_result("ran");
        let guest = guest.tool("work", &answer).hook("tool-arguments", body);
        let tool = place.load(&guest).await?.tools().remove(0);
        let error: ToolError = tool.prepare(json!({})).await.err().context("must fail")?;
        assert!(error.to_string().contains(said), "{id}: {error}");
        // The tool itself is another call.
        assert!(tool.execute(&call("work", json!({})), &tool_context()).await.is_ok());
    }
    another_works(&place).await
}
