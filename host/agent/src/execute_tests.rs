use crate::config::{AgentContext, AgentLoopConfig, Limits, ToolExecutionMode};
use crate::scripted_tests::*;
use crate::{AgentError, run_agent_loop};
use async_trait::async_trait;
use capstan_ports::*;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Runs one prompt; gives the events between the first answer and its `turn_end`, and the loop's result.
async fn batch(
    context: &AgentContext,
    config: &AgentLoopConfig,
) -> (Vec<String>, Result<Vec<Arc<Message>>, AgentError>) {
    let sink = Recorder::default();
    let result = run_agent_loop(vec![user("hi")], context, config, &sink, &CancellationToken::new()).await;
    let trace = sink.trace();
    let from = trace.iter().position(|event| event.starts_with("message_end (asst")).unwrap() + 1;
    let to = trace.iter().position(|event| event.starts_with("turn_end")).unwrap();
    (trace[from..to].to_vec(), result)
}

fn waits(name: &str, milliseconds: u64) -> TestTool {
    TestTool::new(name, move |call, _| async move {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        Ok(ToolOutcome::text(call.name))
    })
}

fn three() -> Arc<ScriptedModel> {
    let names = [("A", "slow"), ("B", "blocked"), ("C", "fast")];
    ScriptedModel::new([calls(names.map(|(id, name)| call(id, name, json!({})))), says("done")])
}

// T3; 000-121, 000-123, 000-124, 000-131, 000-184
#[tokio::test]
async fn a_parallel_batch_gives_trace_t3() {
    let model = three();
    let config = config(&model);
    config.hooks.replace(hooks([TestHook::gate("guard", |call| {
        Ok(if call.name == "blocked" { GateVerdict::Block("no".into()) } else { GateVerdict::Pass })
    })]));
    let context = context([waits("slow", 60), waits("blocked", 0), waits("fast", 5)]);
    let (trace, result) = batch(&context, &config).await;
    assert_eq!(
        trace,
        [
            "start A",
            "start B",
            "end! B",
            "start C",
            "end C",
            "end A",
            "message_start (result A slow)",
            "message_end (result A slow)",
            "message_start (result! B no)",
            "message_end (result! B no)",
            "message_start (result C fast)",
            "message_end (result C fast)",
        ]
    );
    assert_eq!(shorts(&result.unwrap())[2..5], ["result A slow", "result! B no", "result C fast"]);
    assert_eq!(model.sent()[1][2..], ["result A slow", "result! B no", "result C fast"]);
}

// T4; 000-120, 000-126
#[tokio::test]
async fn a_sequential_batch_gives_trace_t4() {
    let expected = [
        "start A",
        "end A",
        "message_start (result A slow)",
        "message_end (result A slow)",
        "start B",
        "end B",
        "message_start (result B fast)",
        "message_end (result B fast)",
    ];
    let model = || {
        ScriptedModel::new([
            calls([call("A", "slow", json!({})), call("B", "fast", json!({}))]),
            says("done"),
        ])
    };
    let mut by_config = config(&model());
    by_config.tool_execution = ToolExecutionMode::Sequential;
    assert_eq!(batch(&context([waits("slow", 20), waits("fast", 0)]), &by_config).await.0, expected);
    let by_tool = config(&model());
    let tools = context([waits("slow", 20), waits("fast", 0).sequential()]);
    assert_eq!(batch(&tools, &by_tool).await.0, expected);
}

fn meeting() -> (TestTool, AgentLoopConfig) {
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let tool = TestTool::new("meet", move |_, _| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            Ok(ToolOutcome::text("met"))
        }
    });
    let both = [call("A", "meet", json!({})), call("B", "meet", json!({}))];
    (tool, config(&ScriptedModel::new([calls(both), says("done")])))
}

// 000-122, 000-125
#[tokio::test]
async fn calls_that_wait_for_each_other_finish_on_one_thread() {
    let (tool, config) = meeting();
    tokio::time::timeout(Duration::from_secs(1), batch(&context([tool]), &config)).await.unwrap().1.unwrap();
}

// 000-122, 000-125
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_wait_for_each_other_finish_on_two_threads() {
    let (tool, config) = meeting();
    tokio::time::timeout(Duration::from_secs(1), batch(&context([tool]), &config)).await.unwrap().1.unwrap();
}

// 000-128
#[tokio::test]
async fn never_more_calls_run_than_the_limit_allows() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, peak) = (running.clone(), most.clone());
    let tool = TestTool::new("count", move |_, _| {
        let (now, peak) = (now.clone(), peak.clone());
        async move {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(2)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(ToolOutcome::text("ok"))
        }
    });
    let fifty = (0..50).map(|n| call(&format!("c{n}"), "count", json!({})));
    let mut config = config(&ScriptedModel::new([calls(fifty), says("done")]));
    config.limits = Limits { max_parallel_calls: 4, ..Limits::default() };
    assert_eq!(batch(&context([tool]), &config).await.1.unwrap().len(), 53);
    assert_eq!(most.load(Ordering::SeqCst), 4);
}

// 000-127: the finished call is on record while its neighbour stalls, and a reload brings source order back.
#[tokio::test]
async fn a_finished_call_is_durable_while_another_stalls() {
    let model = ScriptedModel::new([calls([call("A", "stall", json!({})), call("B", "echo", json!({}))])]);
    let log = MemoryLog::new();
    let mut config = config(&model);
    config.log = Some(log.clone());
    let context = context([TestTool::new("stall", |_, _| std::future::pending()), TestTool::echo()]);
    let cancel = CancellationToken::new();
    let sink = Recorder::default();
    let run = run_agent_loop(vec![user("hi")], &context, &config, &sink, &cancel);
    let watch = async {
        // Until all is there that comes without the call that stalls; should it never be, the comparison below says so.
        for _ in 0..2_000 {
            if log.operations().len() >= 6 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let early = log.operations();
        cancel.cancel();
        early
    };
    let (added, early) = tokio::join!(run, watch);
    assert_eq!(
        early,
        ["append user hi", "commit", "append asst +A+B", "commit", "append result B {}", "commit"]
    );
    let repaired = crate::repair(&log.context().unwrap().messages);
    assert_eq!(shorts(&repaired)[1..], ["asst +A+B", "result! A Operation aborted", "result B {}"]);
    // The transcript of the run had source order all along.
    assert_eq!(shorts(&added.unwrap())[1..4], shorts(&repaired)[1..]);
}

// 000-010, 000-024, 000-025, 000-039
#[tokio::test]
async fn unknown_and_panicking_tools_cost_only_their_own_calls() {
    let three = [call("A", "nope", json!({})), call("B", "boom", json!({})), call("C", "echo", json!({}))];
    let boom = TestTool::new("boom", |_, _| async { panic!("kaboom") });
    let config = config(&ScriptedModel::new([calls(three), says("done")]));
    let (trace, result) = batch(&context([boom, TestTool::echo()]), &config).await;
    assert_eq!(
        shorts(&result.unwrap())[2..5],
        ["result! A Tool nope not found", "result! B The tool boom panicked: kaboom", "result C {}"]
    );
    for id in ["A", "B", "C"] {
        assert_eq!(trace.iter().filter(|e| e.starts_with("start") && e.ends_with(id)).count(), 1);
        assert_eq!(trace.iter().filter(|e| e.starts_with("end") && e.ends_with(id)).count(), 1);
    }
}

// 000-014, 000-015, 000-016, 000-017, 000-018, 000-019, 000-137
#[tokio::test]
async fn arguments_are_prepared_then_validated_then_gated_then_executed() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let (gated, executed, amended) = (order.clone(), order.clone(), order.clone());
    let mut tool = TestTool::new("shape", move |call, _| {
        executed.lock().unwrap().push(format!("execute {} {}", call.id, call.arguments));
        async { Ok(ToolOutcome::text("ok")) }
    })
    .with_schema(json!({"type": "object", "properties": {"new": {"type": "integer"}}, "required": ["new"]}));
    tool.prepare = |mut arguments| {
        let Some(object) = arguments.as_object_mut() else { return Ok(arguments) };
        if object.contains_key("bad") {
            return Err(ToolError::InvalidArguments("bad shape".into()));
        }
        if let Some(old) = object.remove("old") {
            object.insert("new".into(), old);
        }
        Ok(arguments)
    };
    let model = ScriptedModel::new([
        calls([
            call("A", "shape", json!({"old": "7"})),
            call("B", "shape", json!({"bad": 1})),
            call("C", "shape", json!({"new": "x"})),
        ]),
        says("done"),
    ]);
    let config = config(&model);
    config.hooks.replace(hooks([
        TestHook::gate("gate", move |call| {
            gated.lock().unwrap().push(format!("gate {} {}", call.id, call.arguments));
            Ok(GateVerdict::Pass)
        }),
        TestHook::amend("after", move |call, _| {
            amended.lock().unwrap().push(format!("after {}", call.id));
            Ok(None)
        }),
    ]));
    let results = shorts(&batch(&context([tool]), &config).await.1.unwrap());
    assert_eq!(*order.lock().unwrap(), ["gate A {\"new\":7}", "execute A {\"new\":7}", "after A"]);
    assert_eq!(results[3], "result! B bad shape");
    assert!(results[4].starts_with("result! C Validation failed for tool \"shape\":\n  - new: "));
    assert!(results[4].ends_with("{\n  \"new\": \"x\"\n}"));
}

// 000-028
#[tokio::test]
async fn a_malformed_call_is_never_executed() {
    let broken = ToolCall { malformed: Some("{\"a\": 1,".into()), ..call("A", "echo", json!({"a": 1})) };
    let config = config(&ScriptedModel::new([calls([broken]), says("done")]));
    let results = shorts(&batch(&context([TestTool::echo()]), &config).await.1.unwrap());
    assert!(
        results[2].starts_with("result! A The arguments for tool \"echo\" were not a complete JSON object")
    );
}

// 000-021
#[tokio::test]
async fn a_failing_tool_gives_an_error_result_with_empty_details_and_the_run_goes_on() {
    let tool = TestTool::new("fail", |_, _| async { Err(ToolError::failed("disk on fire")) });
    let config = config(&ScriptedModel::new([calls([call("A", "fail", json!({}))]), says("oh")]));
    let added = batch(&context([tool]), &config).await.1.unwrap();
    let Message::ToolResult(result) = added[2].as_ref() else { panic!("no result: {added:?}") };
    assert_eq!((result.details.clone(), result.is_error), (Some(json!({})), true));
    assert_eq!(shorts(&added)[2..], ["result! A disk on fire", "asst oh"]);
}

// 000-023
#[tokio::test]
async fn progress_after_the_end_gives_no_event() {
    let tool = TestTool::new("late", |_, context| async move {
        context.progress.report(ToolOutcome::text("in time"));
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            context.progress.report(ToolOutcome::text("too late"));
        });
        Ok(ToolOutcome::text("ok"))
    });
    let two = [call("A", "late", json!({})), call("B", "slow", json!({}))];
    let config = config(&ScriptedModel::new([calls(two), says("done")]));
    let (trace, _) = batch(&context([tool, waits("slow", 40)]), &config).await;
    assert_eq!(
        trace.iter().filter(|event| event.starts_with("update")).collect::<Vec<_>>(),
        ["update A in time"]
    );
}

// A tool that reports without pause cannot outlive an abort.
#[tokio::test]
async fn a_flood_of_progress_does_not_hold_up_an_abort() {
    let tool = TestTool::new("flood", |_, context| async move {
        loop {
            context.progress.report(ToolOutcome::text("x"));
            tokio::task::yield_now().await;
        }
    });
    let config = config(&ScriptedModel::new([calls([call("A", "flood", json!({}))])]));
    let cancel = CancellationToken::new();
    let (context, sink) = (context([tool]), Recorder::default());
    let aborts = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    };
    let run = run_agent_loop(vec![user("hi")], &context, &config, &sink, &cancel);
    let (added, ()) =
        tokio::time::timeout(Duration::from_secs(1), async { tokio::join!(run, aborts) }).await.unwrap();
    assert_eq!(short(&added.unwrap()[2]), "result! A Operation aborted");
}

// 000-140
#[tokio::test]
async fn a_batch_ends_the_turn_only_if_every_result_says_so() {
    let stops = |name| {
        TestTool::new(name, |_, _| async { Ok(ToolOutcome { terminate: true, ..ToolOutcome::text("bye") }) })
    };
    for (second, requests) in [("stop", 1), ("echo", 2)] {
        let two = [call("A", "stop", json!({})), call("B", second, json!({}))];
        let model = ScriptedModel::new([calls(two), says("done")]);
        batch(&context([stops("stop"), TestTool::echo()]), &config(&model)).await.1.unwrap();
        assert_eq!(model.sent().len(), requests);
    }
}

#[tokio::test]
async fn a_result_is_cut_at_the_limit_before_it_is_stored_and_sent() {
    let tool = TestTool::new("long", |_, _| async { Ok(ToolOutcome::text("x".repeat(10_000))) });
    let model = ScriptedModel::new([calls([call("A", "long", json!({}))]), says("done")]);
    let mut config = config(&model);
    config.limits = Limits { max_result_bytes: 100, ..Limits::default() };
    let added = batch(&context([tool]), &config).await.1.unwrap();
    assert!(added[2].text().len() < 300 && added[2].text().contains("10000 bytes"));
}

struct Denies;

#[async_trait]
impl PermissionPort for Denies {
    async fn decide(&self, _turn: &TurnContext, call: &ToolCall, _access: &CallAccess) -> Permission {
        Permission::Deny(format!("{} needs --permissions all", call.arguments))
    }

    async fn ask(&self, _turn: &TurnContext, _call: &ToolCall, by: &str, question: &str) -> Permission {
        Permission::Deny(format!("{by}: {question} - no"))
    }
}

#[tokio::test]
async fn permissions_decide_last_on_the_rewritten_call() {
    let mut config = config(&ScriptedModel::new([calls([call("A", "echo", json!({}))]), says("done")]));
    config.permissions = Arc::new(Denies);
    config.hooks.replace(hooks([TestHook::gate("r", |_| Ok(GateVerdict::Rewrite(json!({"n": 2}))))]));
    let results = shorts(&batch(&context([TestTool::echo()]), &config).await.1.unwrap());
    assert_eq!(results[2], "result! A {\"n\":2} needs --permissions all");
}

struct NeverAnswers;

#[async_trait]
impl PermissionPort for NeverAnswers {
    async fn decide(&self, _turn: &TurnContext, _call: &ToolCall, _access: &CallAccess) -> Permission {
        std::future::pending().await
    }

    async fn ask(&self, _turn: &TurnContext, _call: &ToolCall, _by: &str, _question: &str) -> Permission {
        std::future::pending().await
    }
}

// 000-164
#[tokio::test]
async fn an_abort_ends_the_wait_for_a_persons_answer() {
    let two = [call("A", "echo", json!({})), call("B", "echo", json!({}))];
    let mut config = config(&ScriptedModel::new([calls(two)]));
    config.permissions = Arc::new(NeverAnswers);
    let (context, sink, cancel) =
        (context([TestTool::echo()]), Recorder::default(), CancellationToken::new());
    let aborts = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    };
    let run = run_agent_loop(vec![user("hi")], &context, &config, &sink, &cancel);
    let (added, ()) = tokio::join!(run, aborts);
    assert_eq!(shorts(&added.unwrap())[2..4], ["result! A Operation aborted", "result! B Operation aborted"]);
}

// 003-126, 003-127, X13
#[tokio::test]
async fn a_deferred_call_ends_the_turn_after_its_batch() {
    let two = [call("A", "risky", json!({})), call("B", "echo", json!({}))];
    let model = ScriptedModel::new([calls(two), says("unused")]);
    let config = config(&model);
    config.hooks.replace(hooks([TestHook::gate("guard", |call| {
        Ok(if call.name == "risky" { GateVerdict::Defer("ask Ada".into()) } else { GateVerdict::Pass })
    })]));
    let added = batch(&context([waits("risky", 0), TestTool::echo()]), &config).await.1.unwrap();
    assert_eq!(shorts(&added)[2..], ["result! A Not executed, it needs approval: ask Ada", "result B {}"]);
    assert_eq!(model.sent().len(), 1);
}

// 003-124
#[tokio::test]
async fn a_hook_can_end_the_turn_and_no_call_of_the_batch_runs() {
    let three = ["A", "B", "C"].map(|id| call(id, if id == "B" { "risky" } else { "echo" }, json!({})));
    let model = ScriptedModel::new([calls(three), says("unused")]);
    let config = config(&model);
    config.hooks.replace(hooks([TestHook::gate("guard", |call| {
        if call.name == "risky" {
            Err(HookError::Aborted { reason: "enough".into() })
        } else {
            Ok(GateVerdict::Pass)
        }
    })]));
    let sink = Recorder::default();
    let context = context([waits("risky", 0), TestTool::echo()]);
    let result = run_agent_loop(vec![user("hi")], &context, &config, &sink, &CancellationToken::new()).await;
    let Err(error @ AgentError::HookAborted { .. }) = result else { panic!("not aborted: {result:?}") };
    assert_eq!(error.to_string(), "enough");
    assert_eq!(sink.count("end!"), 3);
    assert_eq!(sink.count("agent_end 5"), 1);
    assert_eq!(model.sent().len(), 1);
}
