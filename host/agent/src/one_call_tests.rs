use crate::run_tool_call;
use crate::scripted_tests::*;
use capstan_ports::*;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn turn() -> TurnContext {
    TurnContext { session_id: SessionId::new("other"), turn: 3, round: 0, model: "none/none".into() }
}

#[tokio::test]
async fn a_call_from_elsewhere_passes_gates_and_amenders_and_tells_the_sink() {
    let config = config(&ScriptedModel::new([]));
    config.hooks.replace(hooks([
        TestHook::gate("rewriter", |_| Ok(GateVerdict::Rewrite(json!({"text": "rewritten"})))),
        TestHook::amend("amender", |_, outcome| {
            let text = message::text_of(&outcome.content);
            Ok(Some(Amendment {
                content: Some(vec![Content::text(format!("<{text}>"))]),
                ..Amendment::default()
            }))
        }),
    ]));
    let echo = TestTool::new("echo", |call, _| async move {
        Ok(ToolOutcome::text(call.arguments["text"].as_str().unwrap_or_default()))
    });
    let sink = Recorder::default();
    let tools = registry([echo]);
    let asked = call("A", "echo", json!({"text": "as written"}));
    let outcome = run_tool_call(&asked, turn(), &tools, &config, &sink, &CancellationToken::new()).await;
    assert_eq!(message::text_of(&outcome.content), "<rewritten>");
    assert!(!outcome.is_error);
    assert_eq!(sink.trace()[..2], ["start A", "end A"]);
}

#[tokio::test]
async fn what_a_gate_blocks_or_nobody_knows_is_an_error_that_says_so() {
    let config = config(&ScriptedModel::new([]));
    let tools = registry([TestTool::echo()]);
    let run = async |asked: &ToolCall| {
        run_tool_call(asked, turn(), &tools, &config, &event::NoEvents, &CancellationToken::new()).await
    };
    // The call works before the gate is there.
    let asked = call("A", "echo", json!({}));
    assert!(!run(&asked).await.is_error);
    config.hooks.replace(hooks([TestHook::gate("guard", |_| Ok(GateVerdict::Block("not this".into())))]));
    let blocked = run(&asked).await;
    assert!(blocked.is_error);
    assert_eq!(message::text_of(&blocked.content), "not this");
    config.hooks.replace(hooks([TestHook::gate("guard", |_| Ok(GateVerdict::Defer("ask first".into())))]));
    let deferred = run(&asked).await;
    assert!(deferred.is_error);
    assert_eq!(deferred.details.unwrap()["deferred"], true);
    let unknown = run(&call("B", "nothing", json!({}))).await;
    assert_eq!(message::text_of(&unknown.content), "Tool nothing not found");
}

#[tokio::test]
async fn a_cancelled_call_ends_although_its_tool_does_not_look() {
    let mut config = config(&ScriptedModel::new([]));
    config.limits.abort_grace = Duration::from_millis(20);
    let tools = registry([TestTool::new("sleeper", |_, _| async {
        std::future::pending::<()>().await;
        Ok(ToolOutcome::default())
    })]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let config = Arc::new(config);
    let running = tokio::spawn(async move {
        run_tool_call(&call("A", "sleeper", json!({})), turn(), &tools, &config, &event::NoEvents, &cancel)
            .await
    });
    tokio::task::yield_now().await;
    stop.cancel();
    let outcome = running.await.unwrap();
    assert_eq!(message::text_of(&outcome.content), "Operation aborted");
}
