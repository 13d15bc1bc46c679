use crate::AgentError;
use crate::recording_tests::{Notes, ScriptedCompressor};
use crate::scripted_tests::*;
use capstan_ports::*;
use serde_json::json;
use std::sync::Arc;

const TOO_LONG: &str = "prompt is too long";

fn overflows() -> Answer {
    fails(ModelErrorKind::ContextOverflow, TOO_LONG)
}

// P3; pi.md 2.9: compressed once, then tried again.
#[tokio::test]
async fn a_conversation_that_is_too_long_is_compressed_once_and_sent_again() {
    let model = ScriptedModel::new([overflows(), says("done")]);
    let mut config = config(&model);
    let notes = Arc::new(Notes::default());
    let shorter = CompressAction::Replace(vec![user("short")]);
    let compressor = ScriptedCompressor::new(&notes, [CompressAction::None, shorter]);
    config.compressor = Some(compressor.clone());
    let ran = run(&context([]), &config).await;
    assert_eq!(model.sent(), [["user hi"], ["user short"]]);
    assert_eq!(shorts(&ran.result.unwrap()), ["user hi", "asst done"]);
    let reasons: Vec<_> = compressor.contexts.lock().unwrap().iter().map(|context| context.reason).collect();
    assert_eq!(reasons, [CompressReason::BeforeModel, CompressReason::Overflow, CompressReason::BeforeModel]);
}

#[tokio::test]
async fn a_conversation_that_stays_too_long_ends_with_a_clear_error() {
    let model = ScriptedModel::new([overflows(), overflows(), overflows()]);
    let mut context = context([]);
    context.messages =
        vec![user("old"), Arc::new(assistant(vec![Content::text("x")], StopReason::Stop).into())];
    let ran = run(&context, &config(&model)).await;
    // Without a compressor the host leaves out the oldest turn.
    assert_eq!(model.sent(), [vec!["user old", "asst x", "user hi"], vec!["user hi"]]);
    let last = shorts(&ran.result.unwrap()).pop().unwrap();
    assert!(last.starts_with("asst! prompt is too long. The conversation was shortened once"), "{last}");
}

#[tokio::test]
async fn a_prompt_that_is_too_long_alone_is_not_sent_again() {
    let model = ScriptedModel::new([overflows(), overflows()]);
    let ran = run(&context([]), &config(&model)).await;
    let last = shorts(&ran.result.unwrap()).pop().unwrap();
    assert!(last.starts_with("asst! prompt is too long. The conversation could not be shortened"), "{last}");
    assert_eq!((model.sent().len(), ran.sink.count("compaction_end unchanged")), (1, 1));
}

#[tokio::test]
async fn a_compressor_that_fails_is_replaced_by_the_host_only_when_it_matters() {
    let model = ScriptedModel::new([says("done")]);
    let mut config = config(&model);
    let compressor = ScriptedCompressor::new(&Arc::default(), []);
    let failed = CompressError { name: "c".into(), message: "trap".into(), source: None };
    compressor.actions.lock().unwrap().push_back(Err(failed));
    config.compressor = Some(compressor);
    run(&context([]), &config).await.result.unwrap();
    assert_eq!(model.sent(), [["user hi"]]);
}

// P13: every call gets its result, under an id of its own.
#[tokio::test]
async fn equal_and_empty_call_ids_are_told_apart() {
    let three = ["x", "x", ""].map(|id| call(id, "echo", json!({})));
    let model = ScriptedModel::new([calls(three), says("done")]);
    let ran = run(&context([TestTool::echo()]), &config(&model)).await;
    let added = shorts(&ran.result.unwrap());
    assert_eq!(added[1..5], ["asst +x+x_2+call", "result x {}", "result x_2 {}", "result call {}"]);
    assert_eq!(model.sent()[1].len(), 5);
}

// P13
#[tokio::test]
async fn of_a_thousand_calls_the_first_run_and_the_others_get_an_error() {
    let thousand = (0..1000).map(|n| call(&format!("c{n}"), "echo", json!({})));
    let model = ScriptedModel::new([calls(thousand), says("done")]);
    let mut config = config(&model);
    config.limits.max_calls_per_answer = 3;
    let added = shorts(&run(&context([TestTool::echo()]), &config).await.result.unwrap());
    assert_eq!(added[2..5], ["result c0 {}", "result c1 {}", "result c2 {}"]);
    assert!(added[5].starts_with("result! c3 Not executed: at most 3 calls of one answer"), "{}", added[5]);
    assert_eq!((added.len(), added.last().unwrap().as_str()), (1003, "asst done"));
}

// P16
#[tokio::test]
async fn a_call_that_fails_again_and_again_is_warned_of_and_then_ends_the_turn() {
    let answers = (0..20).map(|n| calls([call(&format!("c{n}"), "frail", json!({"same": 1}))]));
    let model = ScriptedModel::new(answers);
    let tool = TestTool::new("frail", |_, _| async { Err(ToolError::failed("no")) });
    let ran = run(&context([tool]), &config(&model)).await;
    let error = ran.result.unwrap_err();
    assert!(matches!(&error, AgentError::RepeatedFailure { tool, times: 10 } if tool == "frail"), "{error}");
    assert_eq!(model.sent().len(), 10);
    let last = model.sent().pop().unwrap();
    assert_eq!(last[4], "result! c1 no");
    assert!(last[6].contains("this same call has now failed 3 times"), "{}", last[6]);
}

#[tokio::test]
async fn a_success_in_between_forgives_the_failures() {
    let answers = (0..20).map(|n| calls([call(&format!("c{n}"), "moody", json!({}))])).chain([says("done")]);
    let model = ScriptedModel::new(answers);
    let count = std::sync::atomic::AtomicUsize::new(0);
    let tool = TestTool::new("moody", move |_, _| {
        let n = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async move { if n % 4 == 3 { Ok(ToolOutcome::text("ok")) } else { Err(ToolError::failed("no")) } }
    });
    assert!(run(&context([tool]), &config(&model)).await.result.is_ok());
}

struct Flat;

impl PriceTable for Flat {
    fn price(&self, model: &ModelInfo) -> Option<Price> {
        (model.id == "one").then_some(Price { input: 2.0, output: 10.0, cache_read: 0.5, cache_write: 0.0 })
    }
}

#[tokio::test]
async fn an_answer_carries_what_it_cost() {
    let usage = Usage { input: 1000, output: 100, cache_read: 2000, total_tokens: 3100, ..Usage::default() };
    let answer = AssistantMessage { usage, ..assistant(vec![Content::text("x")], StopReason::Stop) };
    let model = ScriptedModel::new([Answer::Events(vec![ModelEvent::Done(Box::new(answer))])]);
    let mut config = config(&model);
    config.prices = Arc::new(Flat);
    let added = run(&context([]), &config).await.result.unwrap();
    let Message::Assistant(answer) = added[1].as_ref() else { panic!("no answer") };
    assert!((answer.usage.cost.total - 0.004).abs() < 1e-9, "{:?}", answer.usage.cost);
}

//
#[test]
fn every_error_names_the_part_that_failed() {
    let kinds = [
        (AgentError::Model(ModelError::transport("x")), FailureKind::Model),
        (AgentError::Runtime(RuntimeError::failed("x")), FailureKind::Tool),
        (AgentError::ToolLoopExceeded { limit: 1 }, FailureKind::Limit),
        (AgentError::HookAborted { hook: "h".into(), reason: "x".into() }, FailureKind::Hook),
        (AgentError::DuplicateTool { name: "x".into() }, FailureKind::Config),
        (AgentError::Aborted, FailureKind::Other),
    ];
    for (error, kind) in kinds {
        assert_eq!((error.kind(), error.to_string().is_empty()), (kind, false));
    }
}

// 003-130
#[test]
fn model_errors_are_told_apart() {
    let three = [ModelError::request_build("x"), ModelError::transport("x"), ModelError::response_parse("x")];
    let texts: std::collections::BTreeSet<String> = three.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 3);
    let kinds = three.map(|error| error.kind);
    assert_eq!(kinds, [ModelErrorKind::InvalidRequest, ModelErrorKind::Network, ModelErrorKind::Protocol]);
}
