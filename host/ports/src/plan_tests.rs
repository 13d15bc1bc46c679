use super::{MAX_DESCRIPTION_BYTES, MAX_STEPS, Plan, PlanProblem};

fn plan(steps: impl IntoIterator<Item = String>) -> Result<Plan, PlanProblem> {
    Plan::new("tidy up", steps)
}

#[test]
fn a_plan_keeps_goal_and_order_and_trims_its_steps() {
    let made = plan([" first\n".to_owned(), "second".to_owned()]).expect("two steps are a plan");
    let steps: Vec<_> = made.steps().iter().map(super::Step::description).collect();
    assert_eq!((made.goal(), steps), ("tidy up", vec!["first", "second"]));
}

// 004-105
#[test]
fn no_steps_and_endless_steps_are_no_plan() {
    assert_eq!(plan([]), Err(PlanProblem::NoSteps));
    assert_eq!(plan(std::iter::repeat("again".to_owned())), Err(PlanProblem::TooManySteps));
    assert!(plan(std::iter::repeat_n("again".to_owned(), MAX_STEPS)).is_ok());
}

#[test]
fn a_step_that_says_nothing_or_too_much_is_named() {
    let steps = |second: &str| plan(["first".to_owned(), second.to_owned()]);
    assert_eq!(steps(" \n"), Err(PlanProblem::EmptyStep { step: 2 }));
    let bytes = MAX_DESCRIPTION_BYTES + 1;
    assert_eq!(steps(&"x".repeat(bytes)), Err(PlanProblem::LongStep { step: 2, bytes }));
}
