//! The crate as another crate sees it.

use async_trait::async_trait;
use capstan_ports::{Plan as ParsedPlan, PlanParseError};
use capstan_provider::{Answer, ScriptedModel};
use capstan_runtime::{
    Agent, AgentBuilder, AgentError, AgentSession, InMemoryStore, JsonPlanParser, PlanOutcome, PlanParser,
    RuntimeBundle, SessionMemory, TaskAgent,
};
use std::sync::Arc;

#[expect(dead_code, reason = "the program's own `main` is not called here")]
#[path = "../examples/two_turns.rs"]
mod two_turns;

// 004-153, 004-159, 004-167
#[tokio::test]
async fn a_program_holds_a_conversation_through_the_public_interface_alone() {
    let said = two_turns::converse().await.unwrap();
    assert_eq!(said[1], "receptionist: Two seats at the window are free.");
    assert_eq!(said[3], "receptionist: Then it is yours.");
    assert_eq!(said[4], "2 turns, 3 model calls");
}

struct Clerk;

impl Agent for Clerk {
    fn name(&self) -> &str {
        "clerk"
    }

    fn system_prompt(&self) -> Option<&str> {
        None
    }
}

fn session(answers: impl IntoIterator<Item = Answer>) -> Result<AgentSession, AgentError> {
    let bundle: RuntimeBundle = AgentBuilder::new()
        .provider(Arc::new(ScriptedModel::new(answers)))
        .tool_registry(Arc::default())
        .hook_executor(Arc::default())
        .session_memory_backend(Arc::new(InMemoryStore::new()))
        .build()?;
    Ok(AgentSession::new("s1", Arc::new(Clerk), Arc::new(bundle)))
}

// 004-158 (6.3: bundle, turn, session memory, plan parser)
#[tokio::test]
async fn the_four_smoke_tests_of_the_seed_pass() {
    let mut session = session([Answer::text("hello")]).unwrap();
    assert_eq!(session.submit_turn("hi").await.unwrap().text(), "hello");
    let memory = SessionMemory::new(Arc::new(InMemoryStore::new()), "n");
    memory.set("k", "v").await.unwrap();
    assert_eq!(memory.get("k").await.unwrap().as_deref(), Some("v"));
    assert_eq!(memory.snapshot().await.unwrap(), "<session-context>\nk: v\n</session-context>");
    let plan = JsonPlanParser.parse(r#"{"steps":[{"description":"a"}]}"#, "g").await.unwrap();
    assert_eq!((plan.goal(), plan.steps().len()), ("g", 1));
    let error: AgentError = JsonPlanParser.parse("no plan", "g").await.unwrap_err().into();
    assert!(matches!(error, AgentError::PlanParse(_)));
}

/// A step for each line.
struct Lines;

#[async_trait]
impl PlanParser for Lines {
    fn name(&self) -> &str {
        "lines"
    }

    async fn parse(&self, raw: &str, goal: &str) -> Result<ParsedPlan, PlanParseError> {
        ParsedPlan::new(goal, raw.lines().map(str::to_owned)).map_err(|problem| PlanParseError {
            parser: "lines".to_owned(),
            message: problem.to_string(),
            source: Some(Box::new(problem)),
        })
    }
}

// 004-154, 004-165: a session of the runtime carries a plan out, with a parser of the program's own.
#[tokio::test]
async fn a_plan_is_carried_out_in_a_session_with_a_parser_of_the_programs_own() {
    let session = session(["one\ntwo", "did one", "did two"].map(Answer::text)).unwrap();
    let mut task = TaskAgent::new(session, Arc::new(Lines));
    let plan = task.run("both").await.unwrap();
    assert_eq!(plan.outcome(), PlanOutcome::Completed);
    assert_eq!((task.session().turn_index(), task.session().cost_so_far().calls), (3, 3));
}
