use super::{event, listed};
use capstan_runtime::{ChatResponse, Plan, StepStatus};

// J6: what a person agrees to is all there, and nothing of it can pass for something else.
#[test]
fn a_listed_plan_hides_nothing_and_keeps_its_margin() {
    let mut plan = Plan::new("tidy\u{202e} up", ["look\n·    2. harmless", "delete \u{1b}[8meverything"]);
    plan.set_status(0, StepStatus::Running).unwrap();
    plan.set_status(0, StepStatus::Completed(ChatResponse::default())).unwrap();
    let text = anstream::adapter::strip_str(&listed(&plan)).to_string();
    assert_eq!(
        text,
        "Plan: tidy\\u{202e} up\n✓    1. look\n       | ·    2. harmless\n·    2. delete \\u{1b}[8meverything"
    );
}

#[test]
fn a_change_is_one_line_for_a_program() {
    let mut plan = Plan::new("goal", ["act"]);
    plan.set_status(0, StepStatus::Running).unwrap();
    let began = event(&plan, &plan.steps()[0]);
    assert_eq!(
        (&began["type"], &began["step"], &began["description"]),
        (&"plan_step_start".into(), &0.into(), &"act".into())
    );
    plan.set_status(0, StepStatus::Completed(ChatResponse::default())).unwrap();
    let ended = event(&plan, &plan.steps()[0]);
    assert_eq!(
        (&ended["type"], &ended["status"], &ended["plan"]),
        (&"plan_step_end".into(), &"completed".into(), &plan.id().into())
    );
}
