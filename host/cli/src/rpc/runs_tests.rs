use super::*;
use crate::output::Output;
use serde_json::json;

fn answer() -> Option<Answer> {
    let output = Output::to(|_| Ok(true)).unwrap();
    Some(Answer::new(Some(json!(1)), "prompt".into(), output))
}

#[test]
fn one_run_is_on_at_a_time_and_a_prompt_is_accepted_when_its_run_starts() {
    let runs = Runs::default();
    let ticket = runs.begin(answer()).ok().unwrap();
    assert!(runs.is_on());
    assert!(matches!(runs.begin(answer()), Err(Some(_))), "the answer comes back");
    assert!(runs.started().is_none(), "no event of any run can come before it is driven");
    runs.drive(&ticket);
    assert!(runs.started().is_some() && runs.started().is_none(), "accepted once");
    runs.ended();
    assert!(!runs.is_on());
    assert!(runs.leave(&ticket).is_none());
}

#[test]
fn what_was_never_accepted_is_answered_at_the_end() {
    let runs = Runs::default();
    let ticket = runs.begin(answer()).ok().unwrap();
    runs.drive(&ticket);
    assert!(runs.leave(&ticket).is_some() && !runs.is_on());
}

#[test]
fn what_follows_a_run_by_itself_is_not_taken_for_the_next_one() {
    let runs = Runs::default();
    let first = runs.begin(answer()).ok().unwrap();
    runs.drive(&first);
    runs.started();
    runs.ended();
    // The first goes on by itself, and that is a run as well.
    assert!(runs.started().is_none() && runs.is_on());
    runs.ended();
    let second = runs.begin(answer()).ok().unwrap();
    assert!(runs.started().is_none());
    runs.ended();
    assert!(runs.is_on(), "the second has not begun yet");
    runs.stop();
    assert!(first.stop.is_cancelled() && second.stop.is_cancelled());
    assert!(runs.leave(&first).is_none() && runs.is_on());
    runs.drive(&second);
    assert!(runs.started().is_some());
}
