//! Plans over real sessions: those of this crate, and the one that the command line runs.

use crate::scripted_tests::{Notes, NotingHook, builder, call, hooks, session, text, tool};
use crate::{AgentError, JsonPlanParser, Plan, PlanOutcome, StepState, StepStatus, TaskAgent};
use async_trait::async_trait;
use capstan_agent::{AgentLoopConfig, HookChain};
use capstan_ports::hook::HookContext;
use capstan_ports::{GateVerdict, Hook, HookError, HookStage, ModelErrorKind, SessionLog, ToolCall};
use capstan_provider::{Answer, ScriptedModel};
use capstan_session::MemorySession;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const TWO: &str = r#"{"steps": [{"description": "look"}, {"description": "act"}]}"#;

fn states(plan: &Plan) -> Vec<StepState> {
    plan.steps().iter().map(|step| step.status().state()).collect()
}

// 004-082, 004-089, 004-122
#[tokio::test]
async fn a_session_from_parts_carries_out_a_plan() {
    let notes = Arc::new(Notes::default());
    let model = ScriptedModel::new([
        text(TWO),
        call("add"),
        text("looked"),
        Answer::error(ModelErrorKind::InvalidRequest, "no such thing"),
        text("still here"),
    ]);
    let session = session(builder(&model, &notes).hook_executor(hooks([NotingHook::new(&notes)])));
    let mut agent = TaskAgent::new(session, Arc::new(JsonPlanParser));
    let plan = agent.run("tidy up").await.unwrap();
    assert_eq!(states(&plan), [StepState::Completed, StepState::Failed]);
    assert!(matches!(plan.steps()[1].status(), StepStatus::Failed(AgentError::Llm(_))));
    let mut told = notes.take();
    told.retain(|line| line.contains("OnPlanStepComplete"));
    let parts = ["Running step=0", "Completed(\"looked\") step=0", "Running step=1", "Failed("];
    assert_eq!(told.len(), parts.len(), "{told:?}");
    for (line, part) in told.iter().zip(parts) {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(told[3].ends_with("step=1"), "{told:?}");
    // The failed turn left nothing in the conversation, and the session goes on.
    assert_eq!(agent.session().turn_index(), 2);
    assert_eq!(agent.session_mut().submit_turn("hello").await.unwrap().text(), "still here");
}

/// Puts off every call.
struct Later;

#[async_trait]
impl Hook for Later {
    fn name(&self) -> &str {
        "later"
    }

    fn handles(&self, stage: HookStage, _: Option<&str>) -> bool {
        stage == HookStage::BeforeToolCall
    }

    async fn before_tool_call(&self, _: &HookContext, _: &ToolCall) -> Result<GateVerdict, HookError> {
        Ok(GateVerdict::Defer("not today".into()))
    }
}

/// A session on record with one tool, `add`.
fn on_record(answers: impl IntoIterator<Item = Answer>, notes: &Arc<Notes>) -> capstan_agent::AgentSession {
    let config = AgentLoopConfig::new(Arc::new(ScriptedModel::new(answers)));
    let log: Arc<dyn SessionLog> = Arc::new(MemorySession::new(Path::new("/")));
    let session = capstan_agent::AgentSession::open(config, log).unwrap();
    session.agent().set_tools([tool("add", notes)]).unwrap();
    session
}

#[tokio::test]
async fn a_step_with_a_call_that_was_put_off_is_not_done() {
    let session = on_record([call("add"), text("I wait."), text("done")], &Arc::default());
    session
        .agent()
        .configure(|config| config.hooks.replace(HookChain::new([Arc::new(Later) as Arc<dyn Hook>])));
    let mut agent = TaskAgent::new(session.clone(), Arc::new(JsonPlanParser));
    let mut plan = Plan::new("goal", ["add", "go on"]);
    assert_eq!(agent.execute_plan(&mut plan).await.unwrap(), PlanOutcome::Failed { step: 0 });
    assert!(matches!(plan.steps()[0].status(), StepStatus::Failed(AgentError::HookBlocked(reason))
        if reason.contains("add") && reason.contains("not today")));
    assert_eq!(states(&plan)[1], StepState::Pending);
    // What waited before a step began is no matter of that step.
    assert_eq!(session.deferred().len(), 1);
    session.agent().configure(|config| config.hooks.replace(HookChain::default()));
    let mut next = Plan::new("goal", ["go on"]);
    assert_eq!(agent.execute_plan(&mut next).await.unwrap(), PlanOutcome::Completed);
}

// 004-092
#[tokio::test]
async fn a_plan_on_record_is_stopped_in_the_middle_of_a_tool() {
    let notes = Arc::new(Notes::default());
    let session = on_record([Answer::call("add", json!({"hang": true})), text("done")], &notes);
    let stop = CancellationToken::new();
    let mut agent = TaskAgent::new(session.clone(), Arc::new(JsonPlanParser)).with_cancel(stop.clone());
    let mut plan = Plan::new("goal", ["one", "two"]);
    let pressed = async {
        crate::scripted_tests::until(|| notes.has("run add")).await;
        stop.cancel();
    };
    let (outcome, ()) = tokio::join!(agent.execute_plan(&mut plan), pressed);
    assert_eq!(outcome.unwrap(), PlanOutcome::Failed { step: 0 });
    assert!(notes.has("ended add"));
    assert_eq!(states(&plan), [StepState::Failed, StepState::Pending]);
    assert_eq!(session.submit_turn("hello").await.unwrap().text(), "done");
}

/// Lines of the function that begins so, to the brace that closes it.
fn lines_of(source: &str, signature: &str) -> usize {
    let from = source.find(signature).unwrap();
    let indent = source[..from].rsplit('\n').next().unwrap().len();
    let closes = format!("{}}}", " ".repeat(indent));
    1 + source[from..].lines().position(|line| line == closes).unwrap()
}

// 004-166: what stands in the reference of a turn and of a parser is small enough to be read at once.
#[test]
fn a_turn_and_the_reference_parser_are_short() {
    let turn = lines_of(include_str!("session.rs"), "async fn turn(");
    let parse = lines_of(include_str!("json_plan_parser.rs"), "async fn parse(");
    assert!((10..=36).contains(&turn) && (10..=22).contains(&parse), "{turn}, {parse}");
}
