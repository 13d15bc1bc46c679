use super::TaskAgent;
use crate::error::AgentError;
use crate::json_plan_parser::JsonPlanParser;
use crate::plan::{Plan, PlanOutcome, Step, StepState, StepStatus};
use crate::session::ChatResponse;
use crate::task_turns::Turns;
use async_trait::async_trait;
use capstan_ports::{Content, ModelError, ModelErrorKind, PlanParseError, PlanParser, PlanStepStatus};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// Turns whose answers are written down.
#[derive(Default)]
struct Script {
    answers: VecDeque<Result<&'static str, AgentError>>,
    asked: Vec<String>,
    told: Vec<(u32, PlanStepStatus)>,
    /// Fires during the turn with this number.
    cancels: Option<(usize, CancellationToken)>,
}

#[async_trait]
impl Turns for Script {
    async fn submit(&mut self, text: &str, cancel: &CancellationToken) -> Result<ChatResponse, AgentError> {
        self.asked.push(text.to_owned());
        if let Some((turn, token)) = &self.cancels
            && *turn == self.asked.len()
        {
            token.cancel();
        }
        if cancel.is_cancelled() {
            return Err(AgentError::Other("Operation aborted".into()));
        }
        let text = self.answers.pop_front().unwrap_or(Ok("done"))?;
        Ok(ChatResponse { content: vec![Content::text(text)], ..ChatResponse::default() })
    }

    async fn plan_step(&mut self, index: u32, status: &PlanStepStatus) {
        self.told.push((index, status.clone()));
    }
}

fn script(answers: impl IntoIterator<Item = Result<&'static str, AgentError>>) -> Script {
    Script { answers: answers.into_iter().collect(), ..Script::default() }
}

fn agent(turns: Script) -> TaskAgent<Script> {
    TaskAgent::new(turns, Arc::new(JsonPlanParser))
}

fn failure() -> AgentError {
    AgentError::Llm(ModelError::new(ModelErrorKind::RateLimited, "too many requests"))
}

fn states(plan: &Plan) -> Vec<StepState> {
    plan.steps().iter().map(|step| step.status().state()).collect()
}

fn done(text: &str) -> PlanStepStatus {
    PlanStepStatus::Completed(text.into())
}

/// A step a line, and what it was given.
struct Lines(Mutex<Vec<(String, String)>>);

#[async_trait]
impl PlanParser for Lines {
    fn name(&self) -> &str {
        "lines"
    }

    async fn parse(&self, raw: &str, goal: &str) -> Result<capstan_ports::Plan, PlanParseError> {
        self.0.lock().expect("whole").push((raw.to_owned(), goal.to_owned()));
        capstan_ports::Plan::new(goal, raw.lines().map(str::to_owned)).map_err(|problem| PlanParseError {
            parser: "lines".to_owned(),
            message: problem.to_string(),
            source: None,
        })
    }
}

// 004-082, 004-100, 004-165: one turn for the plan and one for each step; the parser reads what the model wrote.
#[tokio::test]
async fn a_goal_becomes_a_plan_that_is_carried_out() {
    let parser = Arc::new(Lines(Mutex::default()));
    let turns = script([Ok("look\nact"), Ok("seen"), Ok("acted")]);
    let mut agent = TaskAgent::new(turns, parser.clone());
    let plan = agent.run("tidy up").await.expect("it runs");
    assert_eq!(plan.outcome(), PlanOutcome::Completed);
    assert_eq!(*parser.0.lock().expect("whole"), [("look\nact".to_owned(), "tidy up".to_owned())]);
    let asked = &agent.session().asked;
    assert!(asked[0].contains("Goal: tidy up"), "{}", asked[0]);
    assert!(asked[0].ends_with("text that the plan parser `lines` reads"), "{}", asked[0]);
    assert_eq!(asked[1..], ["look", "act"]);
    assert!(matches!(plan.steps()[1].status(), StepStatus::Completed(answer) if answer.text() == "acted"));
}

#[tokio::test]
async fn the_model_is_told_the_format_that_the_parser_reads() {
    let mut json = agent(script([]));
    assert!(matches!(json.run("tidy up").await, Err(AgentError::PlanParse(_))));
    assert!(json.session().asked[0].contains(r#"{"steps": [{"description": "#));
    let mut other = agent(script([])).with_format("one step a line");
    assert!(other.run("tidy up").await.is_err());
    assert!(other.session().asked[0].ends_with("Write the plan as one step a line"));
}

// 004-102: nothing is carried out of what is no plan.
#[tokio::test]
async fn a_text_that_is_no_plan_ends_the_run_before_any_step() {
    let mut agent = agent(script([Ok("I would rather not")]));
    let error = agent.run("tidy up").await.expect_err("no plan");
    assert!(error.to_string().contains("plan parser json found no plan"), "{error}");
    assert!(!error.is_recoverable());
    assert_eq!(agent.session().asked.len(), 1);
    // 004-082: neither is one that the model did not answer for.
    let mut silent = self::agent(script([Err(failure())]));
    assert!(matches!(silent.run("tidy up").await, Err(AgentError::Llm(_))));
}

// 004-083, 004-089, 004-122, X18: hooks hear of the beginning and, once, of the end of each step.
#[tokio::test]
async fn a_plan_of_ones_own_is_carried_out_step_by_step() {
    let mut agent = agent(script([Ok("a"), Ok("b"), Ok("c")]));
    let mut plan = Plan::new("goal", ["one", "two", "three"]);
    assert_eq!(agent.execute_plan(&mut plan).await.expect("it runs"), PlanOutcome::Completed);
    assert_eq!(agent.session().asked, ["one", "two", "three"]);
    let running = PlanStepStatus::Running;
    assert_eq!(
        agent.session().told,
        [
            (0, running.clone()),
            (0, done("a")),
            (1, running.clone()),
            (1, done("b")),
            (2, running),
            (2, done("c"))
        ]
    );
}

// 004-084
#[tokio::test]
async fn every_change_is_told_when_it_happens() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let mut agent = agent(script([])).with_observer(move |plan: &Plan, step: &Step| {
        noted.lock().expect("whole").push((step.index(), states(plan)))
    });
    agent.execute_plan(&mut Plan::new("goal", ["one", "two"])).await.expect("it runs");
    use StepState::{Completed, Pending, Running};
    assert_eq!(
        *seen.lock().expect("whole"),
        [
            (0, vec![Running, Pending]),
            (0, vec![Completed, Pending]),
            (1, vec![Completed, Running]),
            (1, vec![Completed, Completed]),
        ]
    );
}

// 004-085, 004-088: what follows a failed step stays pending, and nothing is tried again.
#[tokio::test]
async fn the_first_step_that_fails_ends_the_execution() {
    let mut agent = agent(script([Ok("a"), Err(failure())]));
    let mut plan = Plan::new("goal", ["one", "two", "three"]);
    let failed = PlanOutcome::Failed { step: 1 };
    assert_eq!(agent.execute_plan(&mut plan).await.expect("a failed step is in the plan"), failed);
    assert_eq!(states(&plan), [StepState::Completed, StepState::Failed, StepState::Pending]);
    assert!(matches!(plan.steps()[1].status(), StepStatus::Failed(AgentError::Llm(error))
        if error.kind == ModelErrorKind::RateLimited));
    assert_eq!(agent.session().asked, ["one", "two"]);
    // Once more changes nothing: the plan has failed.
    assert_eq!(agent.execute_plan(&mut plan).await.expect("it is over"), failed);
    assert_eq!(agent.session().asked.len(), 2);
    let ends: Vec<_> =
        agent.session().told.iter().filter(|(_, status)| *status != PlanStepStatus::Running).collect();
    assert_eq!(ends.len(), 2, "{ends:?}");
    // To try again is a new plan, which does not repeat what was done (004-093).
    let mut again = plan.retry();
    assert_eq!(agent.execute_plan(&mut again).await.expect("it runs"), PlanOutcome::Completed);
    assert_eq!(agent.session().asked, ["one", "two", "two", "three"]);
}

// 004-086
#[tokio::test]
async fn a_step_that_is_left_out_is_not_carried_out() {
    let mut agent = agent(script([]));
    let mut plan = Plan::new("goal", ["one", "two"]);
    agent.skip(&mut plan, 0).await.expect("it has not begun");
    agent.execute_plan(&mut plan).await.expect("it runs");
    assert_eq!(agent.session().asked, ["two"]);
    assert_eq!(agent.session().told[0], (0, PlanStepStatus::Skipped));
    assert_eq!(states(&plan), [StepState::Skipped, StepState::Completed]);
    assert!(agent.skip(&mut plan, 1).await.is_err_and(|error| error.to_string().contains("is completed")));
}

// 004-091
#[tokio::test]
async fn a_plan_without_steps_is_done_at_once() {
    let mut agent = agent(script([]));
    let mut plan = Plan::new("goal", [""; 0]);
    assert_eq!(agent.execute_plan(&mut plan).await.expect("nothing to do"), PlanOutcome::Completed);
    assert!(agent.session().asked.is_empty() && agent.session().told.is_empty());
}

// 004-092: the running step fails, the rest stays pending, and the model is not asked again.
#[tokio::test]
async fn a_plan_can_be_stopped() {
    let stop = CancellationToken::new();
    let turns = Script { cancels: Some((2, stop.clone())), ..Script::default() };
    let mut agent = agent(turns).with_cancel(stop);
    let mut plan = Plan::new("goal", ["one", "two", "three"]);
    let outcome = agent.execute_plan(&mut plan).await.expect("it stops");
    assert_eq!(outcome, PlanOutcome::Failed { step: 1 });
    assert_eq!(states(&plan), [StepState::Completed, StepState::Failed, StepState::Pending]);
    assert_eq!(agent.session().asked.len(), 2);

    // Stopped between two steps, nothing fails.
    let mut fresh = Plan::new("goal", ["one"]);
    assert_eq!(agent.execute_plan(&mut fresh).await.expect("it stops"), PlanOutcome::Unfinished);
    assert_eq!(states(&fresh), [StepState::Pending]);
    assert_eq!(agent.session().asked.len(), 2);
}

// 004-093
#[tokio::test]
async fn what_is_done_is_not_done_again() {
    let mut agent = agent(script([]));
    let mut plan = Plan::new("goal", ["one", "two"]);
    plan.set_status(0, StepStatus::Running).expect("pending");
    plan.set_status(0, StepStatus::Completed(ChatResponse::default())).expect("running");
    for _ in 0..2 {
        assert_eq!(agent.execute_plan(&mut plan).await.expect("it runs"), PlanOutcome::Completed);
    }
    assert_eq!(agent.session().asked, ["two"]);
}

#[tokio::test]
async fn a_step_that_was_cut_off_is_a_failed_one() {
    let mut agent = agent(script([]));
    let mut plan = Plan::new("goal", ["one", "two"]);
    plan.set_status(0, StepStatus::Running).expect("pending");
    let outcome = agent.execute_plan(&mut plan).await.expect("it says so");
    assert_eq!((outcome, agent.session().asked.len()), (PlanOutcome::Failed { step: 0 }, 0));
}

/// Keeps nothing after some changes.
struct FullDisk(usize);

#[async_trait]
impl super::PlanObserver for FullDisk {
    async fn step_changed(&mut self, _plan: &Plan, _step: &Step) -> Result<(), AgentError> {
        self.0 = self.0.checked_sub(1).ok_or_else(|| AgentError::Other("the disk is full".into()))?;
        Ok(())
    }
}

#[tokio::test]
async fn nothing_is_done_that_is_not_on_record() {
    for (kept, asked, last) in
        [(0, 0, StepState::Failed), (1, 1, StepState::Completed), (2, 1, StepState::Failed)]
    {
        let mut agent = agent(script([])).with_observer(FullDisk(kept));
        let mut plan = Plan::new("goal", ["one", "two"]);
        let error = agent.execute_plan(&mut plan).await.expect_err("it is not kept");
        assert_eq!((error.to_string().as_str(), agent.session().asked.len()), ("the disk is full", asked));
        let begun = plan.steps().iter().rev().find(|step| step.status().state() != StepState::Pending);
        assert_eq!(begun.map(|step| step.status().state()), Some(last), "{kept}");
    }
}

fn is_shared<T: Send + Sync>() {}

#[test]
fn a_task_agent_can_be_moved_and_shared() {
    is_shared::<TaskAgent<Script>>();
    is_shared::<Plan>();
}
