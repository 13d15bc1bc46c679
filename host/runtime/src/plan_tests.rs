use super::{Plan, PlanError, PlanOutcome, StepState, StepStatus};
use crate::error::AgentError;
use crate::plan_record::{PlanRecord, StatusRecord};
use crate::session::ChatResponse;
use capstan_ports::{Content, PlanStepStatus};

fn answer(text: &str) -> ChatResponse {
    ChatResponse { content: vec![Content::text(text)], ..ChatResponse::default() }
}

fn of(state: StepState) -> StepStatus {
    match state {
        StepState::Pending => StepStatus::Pending,
        StepState::Running => StepStatus::Running,
        StepState::Completed => StepStatus::Completed(answer("done")),
        StepState::Failed => StepStatus::Failed(AgentError::Other("broken".into())),
        StepState::Skipped => StepStatus::Skipped,
    }
}

const ALL: [StepState; 5] =
    [StepState::Pending, StepState::Running, StepState::Completed, StepState::Failed, StepState::Skipped];

/// A plan of one step in this state.
fn at(state: StepState) -> Plan {
    let mut plan = Plan::new("goal", ["act"]);
    let way: &[StepState] = match state {
        StepState::Pending => &[],
        StepState::Running | StepState::Skipped => &[state],
        StepState::Completed | StepState::Failed => &[StepState::Running, state],
    };
    for step in way {
        plan.set_status(0, of(*step)).expect("the way is allowed");
    }
    plan
}

fn states(plan: &Plan) -> Vec<StepState> {
    plan.steps().iter().map(|step| step.status().state()).collect()
}

// 004-080, 004-081, 004-090: a step is its place, its text and its status.
#[test]
fn a_plan_numbers_its_steps_from_zero_and_begins_with_all_of_them_pending() {
    let plan = Plan::new("tidy up", ["look", "act", "check"]);
    let shown: Vec<_> = plan.steps().iter().map(|step| (step.index(), step.description())).collect();
    assert_eq!((plan.goal(), shown), ("tidy up", vec![(0, "look"), (1, "act"), (2, "check")]));
    assert_eq!(states(&plan), [StepState::Pending; 3]);
    assert_ne!(plan.id(), Plan::new("tidy up", ["look"]).id());
}

// 004-087
#[test]
fn a_status_only_moves_forward() {
    use StepState::{Completed, Failed, Pending, Running, Skipped};
    let allowed =
        [(Pending, Running), (Pending, Skipped), (Running, Completed), (Running, Failed), (Running, Skipped)];
    for from in ALL {
        for to in ALL {
            let mut plan = at(from);
            let changed = plan.set_status(0, of(to));
            if allowed.contains(&(from, to)) {
                assert_eq!((changed, states(&plan)), (Ok(()), vec![to]), "{from} to {to}");
            } else {
                let refused = Err(PlanError::Transition { index: 0, from, to });
                assert_eq!((changed, states(&plan)), (refused, vec![from]), "{from} to {to}");
            }
        }
    }
    let nowhere = at(Pending).set_status(1, StepStatus::Running);
    assert_eq!(nowhere, Err(PlanError::NoSuchStep { index: 1, steps: 1 }));
}

#[test]
fn a_plan_knows_how_far_it_is() {
    assert_eq!(Plan::new("goal", [""; 0]).outcome(), PlanOutcome::Completed);
    for (state, outcome) in [
        (StepState::Pending, PlanOutcome::Unfinished),
        (StepState::Running, PlanOutcome::Unfinished),
        (StepState::Completed, PlanOutcome::Completed),
        (StepState::Skipped, PlanOutcome::Completed),
        (StepState::Failed, PlanOutcome::Failed { step: 0 }),
    ] {
        assert_eq!(at(state).outcome(), outcome, "{state}");
    }
}

// 004-088: to try again is a new plan.
#[test]
fn a_retry_is_a_new_plan_that_keeps_what_was_done() {
    let mut plan = Plan::new("goal", ["done", "left out", "broken", "cut off", "later"]);
    for (index, state) in [(0, StepState::Completed), (2, StepState::Failed)] {
        plan.set_status(index, StepStatus::Running).expect("pending");
        plan.set_status(index, of(state)).expect("running");
    }
    plan.set_status(1, StepStatus::Skipped).expect("pending");
    plan.set_status(3, StepStatus::Running).expect("pending");
    let id = plan.id().to_owned();
    let again = plan.retry();
    use StepState::{Completed, Pending, Skipped};
    assert_eq!(states(&again), [Completed, Skipped, Pending, Pending, Pending]);
    assert_ne!(again.id(), id);
}

#[test]
fn a_plan_can_be_kept_and_read_again() {
    let mut plan = Plan::new("goal", ["done", "broken", "cut off", "left out", "later"]);
    for (index, status) in [(0, of(StepState::Completed)), (1, of(StepState::Failed))] {
        plan.set_status(index, StepStatus::Running).expect("pending");
        plan.set_status(index, status).expect("running");
    }
    plan.set_status(2, StepStatus::Running).expect("pending");
    plan.set_status(3, StepStatus::Skipped).expect("pending");
    let record = PlanRecord::from(&plan);
    let written = serde_json::to_value(&record).expect("it has a JSON form");
    assert_eq!(
        written["steps"],
        serde_json::json!([
            {"description": "done", "status": "completed", "answer": "done"},
            {"description": "broken", "status": "failed", "error": "broken"},
            {"description": "cut off", "status": "running"},
            {"description": "left out", "status": "skipped"},
            {"description": "later", "status": "pending"},
        ])
    );
    let read: PlanRecord = serde_json::from_value(written).expect("it reads back");
    assert_eq!(read, record);
    let again = Plan::from(read);
    assert_eq!(PlanRecord::from(&again), record);
    assert!(matches!(again.steps()[0].status(), StepStatus::Completed(kept) if kept.text() == "done"));
    assert!(matches!(StatusRecord::from(again.steps()[4].status()), StatusRecord::Pending));
}

#[test]
fn hooks_are_told_what_failed_and_nothing_of_what_has_not_begun() {
    assert_eq!(StepStatus::Pending.for_hooks(), None);
    assert_eq!(of(StepState::Completed).for_hooks(), Some(PlanStepStatus::Completed("done".into())));
    let Some(PlanStepStatus::Failed(failure)) =
        StepStatus::Failed(AgentError::LimitExceeded("too long".into())).for_hooks()
    else {
        panic!("a failure is told");
    };
    assert_eq!((failure.kind, failure.message.as_str()), (capstan_ports::FailureKind::Limit, "too long"));
}

#[test]
fn what_a_parser_read_becomes_a_plan_of_pending_steps() {
    let read =
        capstan_ports::Plan::new("goal", [" look ".to_owned(), "act".to_owned()]).expect("it is a plan");
    let plan = Plan::from(read);
    assert_eq!((plan.goal(), plan.steps()[0].description()), ("goal", "look"));
    assert_eq!(states(&plan), [StepState::Pending; 2]);
}
