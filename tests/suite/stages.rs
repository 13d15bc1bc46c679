//! A component at every stage of a turn: what it answers reaches the model and the session, what it may not do does not, and a
//! failure costs no more than the stage's rule says.

mod failing;

use anyhow::Result;
use capstan_agent::{AgentLoopConfig, AgentSession, HookChain, HookRegistry};
use capstan_ports::hook::{HookContext, PlanStepStatus};
use capstan_ports::message::Message;
use capstan_ports::model::ModelErrorKind;
use capstan_provider::{Answer, ScriptedModel};
use capstan_session::MemorySession;
use capstan_tests::logged::Logged;
use capstan_tests::probe::built_guest;
use capstan_tests::sandboxed::{Granted, Place, hook_context};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// The guest `stages` in a session with a scripted model.
struct Scene {
    model: ScriptedModel,
    session: AgentSession,
    chain: HookChain,
}

async fn scene(granted: Granted, answers: impl IntoIterator<Item = Answer>) -> Result<Scene> {
    let place = Place::new()?;
    let inspected = place.sandbox.inspect(&built_guest("stages")?).await?;
    let hook = place.put_in_force(inspected, granted)?.hook();
    let chain = HookChain::new(hook);
    let model = ScriptedModel::new(answers);
    let mut config = AgentLoopConfig::new(Arc::new(model.clone()));
    config.hooks = Arc::new(HookRegistry::new(chain.clone()));
    config.retry.max_retries = 0;
    let session = AgentSession::open(config, Arc::new(MemorySession::new(Path::new("/work"))))?;
    Ok(Scene { model, session, chain })
}

impl Scene {
    /// The texts of the n-th request.
    fn request(&self, n: usize) -> Vec<String> {
        self.model.requests()[n].messages.iter().map(|message| message.text()).collect()
    }
}

fn texts(messages: &[Arc<Message>]) -> Vec<String> {
    messages.iter().map(|message| message.text()).collect()
}

#[tokio::test]
async fn a_message_is_rewritten_before_the_turn_and_kept_so() -> Result<()> {
    let scene = scene(Granted::Everything, [Answer::text("done")]).await?;
    let added = scene.session.prompt_text("hello").await?;
    assert_eq!(texts(&added), ["hello (seen before the turn)", "done"]);
    Ok(())
}

#[tokio::test]
async fn what_is_added_before_a_model_call_serves_that_request_alone() -> Result<()> {
    let scene = scene(Granted::Everything, [Answer::call("nope", json!({})), Answer::text("done")]).await?;
    let added = scene.session.prompt_text("hello").await?;
    let prompt = "hello (seen before the turn)";
    assert_eq!(scene.request(0), [prompt, "(added for round 0)"]);
    let second = scene.request(1);
    assert_eq!(
        (second[0].as_str(), second.last().map(String::as_str)),
        (prompt, Some("(added for round 1)"))
    );
    assert!(!texts(&added).iter().any(|text| text.contains("added for")), "the session keeps what happened");
    Ok(())
}

#[tokio::test]
async fn an_answer_is_redacted_before_anything_keeps_it() -> Result<()> {
    let scene = scene(Granted::Everything, [Answer::text("it is hunter2")]).await?;
    let added = scene.session.prompt_text("[keep] what is it?").await?;
    assert_eq!(texts(&added).last().map(String::as_str), Some("it is [redacted]"));
    assert_eq!(
        scene.session.agent().state().messages.last().map(|message| message.text()),
        Some("it is [redacted]".to_owned())
    );
    Ok(())
}

#[tokio::test]
async fn a_turn_is_refused_with_the_hooks_reason_and_nothing_is_asked() -> Result<()> {
    let scene = scene(Granted::Everything, [Answer::text("done")]).await?;
    let refused = scene.session.prompt_text("[refuse] this").await;
    assert!(refused.is_err_and(|error| error.to_string().contains("this turn is not wanted")));
    assert!(scene.model.requests().is_empty());
    assert!(scene.session.prompt_text("[keep] that").await.is_ok(), "the next turn is its own");
    Ok(())
}

// Design §6: a rewrite without its power leaves the input unchanged and is reported.
#[tokio::test]
async fn without_the_power_nothing_is_rewritten_and_it_is_said_once() -> Result<()> {
    let logged = Logged::begin();
    let scene =
        scene(Granted::Nothing, [Answer::text("it is hunter2"), Answer::text("still hunter2")]).await?;
    assert_eq!(texts(&scene.session.prompt_text("hello").await?), ["hello", "it is hunter2"]);
    assert_eq!(texts(&scene.session.prompt_text("again").await?), ["again", "still hunter2"]);
    assert_eq!(scene.request(0), ["hello"]);
    let said = logged.with("rewrite-context");
    assert_eq!(said.len(), 3, "once for each of the three stages: {said:#?}");
    Ok(())
}

// P18
#[tokio::test]
async fn a_list_that_parts_a_result_from_its_call_is_not_sent() -> Result<()> {
    let answers = [Answer::call("nope", json!({})), Answer::text("done")];
    let scene = scene(Granted::Everything, answers).await?;
    let added = scene.session.prompt_text("[orphan]").await?;
    assert_eq!(texts(&added).last().map(String::as_str), Some("done"));
    let second = scene.model.requests()[1].messages.clone();
    let calls = second.iter().filter(|message| matches!(&***message, Message::Assistant(_))).count();
    let results = second.iter().filter(|message| matches!(&***message, Message::ToolResult(_))).count();
    assert_eq!((calls, results), (1, 1), "the list went out as it was");
    Ok(())
}

#[tokio::test]
async fn a_rewriter_that_traps_is_left_out_from_then_on() -> Result<()> {
    let logged = Logged::begin();
    let scene = scene(Granted::Everything, [Answer::text("one"), Answer::text("two")]).await?;
    assert_eq!(texts(&scene.session.prompt_text("[trap]").await?), ["[trap]", "one"]);
    assert_eq!(texts(&scene.session.prompt_text("plain").await?), ["plain", "two"], "before-turn is off");
    assert!(scene.request(1).iter().any(|text| text.contains("(added for")), "before-model is not");
    assert_eq!(logged.with("left out from now on").len(), 1);
    Ok(())
}

#[tokio::test]
async fn observers_hear_of_results_failures_and_the_session() -> Result<()> {
    let logged = Logged::begin();
    let failing = Answer::error(ModelErrorKind::InvalidRequest, "bad request");
    let scene =
        scene(Granted::Everything, [Answer::call("nope", json!({})), Answer::text("done"), failing]).await?;
    scene.session.prompt_text("[keep] one").await?;
    scene.session.prompt_text("[keep] two").await?;
    for heard in [
        "session-lifecycle:",
        "tool-error: nope: Tool nope not found",
        "after-turn: done after 1 results",
        "model-error: ",
        "turn-error: ",
    ] {
        assert_eq!(logged.with(heard).len(), 1, "{heard}: {:#?}", logged.with("capstan"));
    }
    Ok(())
}

#[tokio::test]
async fn a_step_of_a_plan_reaches_the_component() -> Result<()> {
    let logged = Logged::begin();
    let scene = scene(Granted::Everything, []).await?;
    let context: HookContext = hook_context();
    scene.chain.plan_step(&context, 2, &PlanStepStatus::Completed("built".to_owned())).await;
    assert_eq!(logged.with("plan-step: 2").len(), 1);
    Ok(())
}
