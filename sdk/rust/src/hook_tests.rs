use serde_json::json;

use super::*;
use crate::testing;

fn gate(call: &ToolCall, context: &TurnContext) -> Result<Verdict, Error> {
    assert_eq!(context.model, "test/model");
    match call.name.as_str() {
        "bad" => Err(Error::new("cannot decide")),
        "change" => Verdict::rewrite(&json!({ "x": 1 })),
        "ask" => Ok(Verdict::ask("sure?")),
        "later" => Ok(Verdict::defer("later")),
        _ => Ok(Verdict::pass()),
    }
}

fn redact(messages: Vec<Message>, _: &TurnContext) -> Result<BeforeModel, Error> {
    if messages.is_empty() {
        Err(Error::new("nothing to redact"))
    } else {
        Ok(BeforeModel::Rewrite(messages))
    }
}

fn watch(failure: &Failure, _: &TurnContext) -> Result<(), Error> {
    Err(Error::new(format!("cannot note: {}", failure.message)))
}

fn seen(event: &str) {
    log::info!("saw {event}");
}

fn amend(_: &ToolCall, outcome: ToolResult, _: &TurnContext) -> Option<Amendment> {
    outcome.is_error.then(|| Amendment::text("hidden").failed().terminate())
}

crate::extension! {
    before_tool_call: hook(gate).tools(&["bash", "change*"]).priority(-5),
    before_model: hook(redact).fail_closed(),
    turn_error: hook(watch),
    after_tool_call: hook(amend),
    observer: seen,
}

#[test]
fn hooks_are_described_with_their_stage_filter_priority_and_rule() {
    let descriptor = testing::describe::<Extension>();
    assert_eq!(
        (descriptor.id.as_str(), descriptor.version.as_str()),
        ("capstan-sdk", env!("CARGO_PKG_VERSION"))
    );
    let found: Vec<_> = descriptor
        .hooks
        .iter()
        .map(|hook| (hook.stage, hook.tools.len(), hook.priority, hook.on_failure))
        .collect();
    assert_eq!(
        found,
        [
            (Stage::BeforeToolCall, 2, -5, FailureRule::Standard),
            (Stage::BeforeModel, 0, 0, FailureRule::Closed),
            (Stage::TurnError, 0, 0, FailureRule::Standard),
            (Stage::AfterToolCall, 0, 0, FailureRule::Standard),
        ]
    );
}

#[test]
fn a_gate_answers_every_verdict_and_blocks_when_it_cannot_decide() {
    let ask = |tool| testing::before_tool_call::<Extension>(tool, json!({}));
    assert_eq!(ask("other"), Verdict::Pass);
    assert_eq!(ask("ask"), Verdict::Ask("sure?".to_owned()));
    assert_eq!(ask("later"), Verdict::Defer("later".to_owned()));
    assert_eq!(ask("change"), Verdict::Rewrite(r#"{"x":1}"#.to_owned()));
    assert_eq!(ask("bad"), Verdict::Block("cannot decide".to_owned()));
}

#[test]
fn a_rewriter_that_cannot_work_fails_so_that_the_host_applies_its_rule() {
    use exports::before_model::Guest;
    let answer = Extension::run(testing::context(), vec![Message::user("x")]);
    assert_eq!(answer, BeforeModel::Rewrite(vec![Message::user("x")]));
    let failed = std::panic::catch_unwind(|| <Extension as Guest>::run(testing::context(), Vec::new()));
    assert!(failed.is_err());
}

#[test]
fn an_observer_that_cannot_work_only_says_so() {
    let failure = Failure { kind: crate::types::FailureKind::Model, message: "down".to_owned() };
    let (_, told) = testing::Host::new()
        .run(|| <Extension as exports::turn_error::Guest>::run(testing::context(), failure.clone()));
    assert_eq!(told.logs, [(log::Level::Error, "turn-error: cannot note: down".to_owned())]);
    let (_, told) =
        testing::Host::new().run(|| <Extension as exports::observer::Guest>::run("{}".to_owned()));
    assert_eq!(told.logs, [(log::Level::Info, "saw {}".to_owned())]);
}

#[test]
fn an_amendment_changes_only_what_it_names() {
    let call = || testing::tool_call("bash", json!({}));
    let run = <Extension as exports::after_tool_call::Guest>::run;
    assert_eq!(run(testing::context(), call(), ToolResult::text("fine")), None);
    let amended = run(testing::context(), call(), ToolResult::text("secret").failed()).unwrap();
    assert_eq!((amended.is_error, amended.details, amended.terminate), (Some(true), None, true));
    assert_eq!(Amendment::default().with_content(vec!["x".into()]).content, Some(vec![Content::from("x")]));
}
