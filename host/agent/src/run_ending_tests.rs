//! Runs that end early: failed and aborted answers, limits, listeners, retries.

use super::*;
use crate::RetryEvent;
use crate::config::Limits;
use crate::queue::PendingMessageQueue;
use crate::scripted_tests::*;
use async_trait::async_trait;
use capstan_ports::{ModelErrorKind, ModelEvent, ToolError, ToolOutcome};
use serde_json::json;
use std::sync::Mutex;
use std::time::{Duration, Instant};

// T7; 000-150, 000-151, 000-153, 000-154
#[tokio::test]
async fn a_failed_request_gives_trace_t7_and_leaves_queues_alone() {
    let queue = Arc::new(PendingMessageQueue::default());
    let model = ScriptedModel::new([fails(ModelErrorKind::Auth, "no key")]);
    let mut config = config(&model);
    config.follow_ups = drains(&queue);
    queue.enqueue(user("later"));
    let ran = run(&context([]), &config).await;
    assert_eq!(
        ran.trace[4..],
        [
            "message_start (asst! no key)",
            "message_end (asst! no key)",
            "turn_end (asst! no key) []",
            "agent_end 2",
        ]
    );
    let added = ran.result.unwrap();
    let Message::Assistant(answer) = added[1].as_ref() else { panic!("no answer: {added:?}") };
    assert_eq!((answer.stop_reason, answer.model.as_str()), (StopReason::Error, "one"));
    assert!(queue.has_items());
}

// 000-154
#[tokio::test]
async fn calls_of_a_failed_answer_are_not_executed() {
    for reason in [StopReason::Error, StopReason::Aborted] {
        let model = ScriptedModel::new([stops(reason, [call("a", "echo", json!({}))])]);
        let ran = run(&context([TestTool::echo()]), &config(&model)).await;
        assert_eq!(ran.sink.count("start"), 0);
        assert_eq!(ran.trace.last().unwrap(), "agent_end 2");
    }
}

// 000-152
#[tokio::test]
async fn a_stream_without_an_end_and_a_panicking_provider_are_failed_answers() {
    for (answer, expected) in [
        (Answer::Events(text_events("half")), "stream ended without terminal message"),
        (Answer::Panics, "scripted panic"),
    ] {
        let model = ScriptedModel::new([answer]);
        let added = run(&context([]), &config(&model)).await.result.unwrap();
        let Message::Assistant(answer) = added[1].as_ref() else { panic!("no answer: {added:?}") };
        assert!(answer.error_message.as_ref().unwrap().contains(expected), "{answer:?}");
    }
}

// 000-155
#[tokio::test]
async fn the_request_after_a_failure_omits_the_failed_answer() {
    let model = ScriptedModel::new([fails(ModelErrorKind::Auth, "no"), says("yes")]);
    let mut context = context([]);
    context.messages = run(&context, &config(&model)).await.result.unwrap();
    let before = context.messages.clone();
    run(&context, &config(&model)).await.result.unwrap();
    assert_eq!(model.sent()[1], ["user hi", "user hi"]);
    // 000-090
    assert_eq!(context.messages, before);
}

// 000-156
#[tokio::test]
async fn calls_of_a_cut_off_answer_get_errors_and_the_model_hears_of_it() {
    let model = ScriptedModel::new([stops(StopReason::Length, [call("a", "echo", json!({}))]), says("ok")]);
    let ran = run(&context([TestTool::echo()]), &config(&model)).await;
    assert!(model.sent()[1][2].starts_with("result! a Not executed: the answer was cut off"));
    assert_eq!((ran.sink.count("start"), ran.sink.count("end!")), (1, 1));
}

// 003-026, 003-027
#[tokio::test]
async fn the_round_limit_ends_the_run_with_a_whole_transcript() {
    for limit in [0, 2] {
        let again = || calls([call("a", "echo", json!({}))]);
        let model = ScriptedModel::new([again(), again(), again(), again()]);
        let mut config = config(&model);
        config.limits = Limits { max_tool_rounds: Some(limit), ..Limits::default() };
        let ran = run(&context([TestTool::echo()]), &config).await;
        assert!(matches!(ran.result, Err(AgentError::ToolLoopExceeded { limit: l }) if l == limit));
        assert_eq!(model.sent().len(), limit as usize + 1);
        assert_eq!(ran.trace[ran.trace.len() - 2], "turn_end (asst +a) [a]");
        assert_eq!(ran.sink.count("agent_end"), 1);
        let model = ScriptedModel::new([says("no tools needed")]);
        let mut config = crate::scripted_tests::config(&model);
        config.limits = Limits { max_tool_rounds: Some(limit), ..Limits::default() };
        run(&context([]), &config).await.result.unwrap();
    }
}

// 000-161, 000-163
#[tokio::test]
async fn an_abort_while_the_model_speaks_keeps_the_partial_text() {
    let model = ScriptedModel::new([Answer::Hangs(text_events("once upon"))]);
    let (context, config) = (context([]), config(&model));
    let (sink, cancel) = (Recorder::default(), CancellationToken::new());
    let started = Instant::now();
    let aborts = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    };
    let (added, ()) =
        tokio::join!(run_agent_loop(vec![user("hi")], &context, &config, &sink, &cancel), aborts);
    assert!(started.elapsed() < Duration::from_millis(500));
    assert_eq!(shorts(&added.unwrap()), ["user hi", "asst! once uponOperation aborted"]);
    assert_eq!(sink.count("agent_end"), 1);
    // Aborted before anything was asked.
    let sink = Recorder::default();
    let added = run_agent_loop(vec![user("hi")], &context, &config, &sink, &cancel).await.unwrap();
    assert_eq!(shorts(&added), ["user hi", "asst! Operation aborted"]);
    assert_eq!(model.sent().len(), 1);
}

// 000-162, X-07
#[tokio::test]
async fn an_abort_during_tools_drops_the_deaf_one_and_keeps_the_transcript_whole() {
    let polite = TestTool::new("polite", |_, context| async move {
        context.cancel.cancelled().await;
        Err(ToolError::Aborted)
    });
    let deaf = TestTool::new("deaf", |_, _| std::future::pending());
    let model = ScriptedModel::new([calls([call("a", "polite", json!({})), call("b", "deaf", json!({}))])]);
    let (context, config) = (context([polite, deaf]), config(&model));
    let (sink, cancel) = (Recorder::default(), CancellationToken::new());
    let started = Instant::now();
    let aborts = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    };
    let (added, ()) =
        tokio::join!(run_agent_loop(vec![user("hi")], &context, &config, &sink, &cancel), aborts);
    assert!(started.elapsed() < Duration::from_secs(1));
    assert_eq!(
        shorts(&added.unwrap()),
        [
            "user hi",
            "asst +a+b",
            "result! a Operation aborted",
            "result! b Operation aborted",
            "asst! Operation aborted"
        ]
    );
}

// 000-162: a tool that never yields can only be left behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_leaves_a_tool_behind_that_blocks_its_thread() {
    let blocking = TestTool::new("block", |_, _| async {
        std::thread::sleep(Duration::from_millis(1500));
        Ok(ToolOutcome::text("late"))
    });
    let model = ScriptedModel::new([calls([call("a", "block", json!({}))])]);
    let (context, config) = (context([blocking]), config(&model));
    let cancel = CancellationToken::new();
    let started = Instant::now();
    let aborts = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        aborts.cancel();
    });
    let added =
        run_agent_loop(vec![user("hi")], &context, &config, &Recorder::default(), &cancel).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(short(&added[2]), "result! a Operation aborted");
}

struct PanicsOn(&'static str, Recorder);

#[async_trait]
impl EventSink for PanicsOn {
    async fn emit(&self, event: AgentEvent) {
        self.1.emit(event).await;
        if self.1.trace().last().unwrap().starts_with(self.0) {
            panic!("cannot draw");
        }
    }
}

// 000-157
#[tokio::test]
async fn a_panicking_listener_ends_the_run_with_an_error_message() {
    for (at, executed) in [("turn_start", 0), ("message_end (asst +a)", 0), ("end a", 1)] {
        let model = ScriptedModel::new([calls([call("a", "echo", json!({}))]), says("unreached")]);
        let sink = PanicsOn(at, Recorder::default());
        let context = context([TestTool::echo()]);
        let cancel = CancellationToken::new();
        let result = run_agent_loop(vec![user("hi")], &context, &config(&model), &sink, &cancel).await;
        assert!(matches!(result, Err(AgentError::Listener { .. })), "{at}: {result:?}");
        let trace = sink.1.trace();
        assert!(
            trace[trace.len() - 2].starts_with("turn_end (asst! an event listener failed"),
            "{at}: {trace:?}"
        );
        assert_eq!(sink.1.count("end a"), executed, "{at}");
        assert_eq!(sink.1.count("agent_end"), 1);
        assert_eq!(sink.1.count("turn_start"), sink.1.count("turn_end"));
    }
}

#[derive(Default)]
struct NotesWaits(Mutex<Vec<Duration>>);

#[async_trait]
impl crate::retry::Sleeper for NotesWaits {
    async fn sleep(&self, duration: Duration) {
        self.0.lock().unwrap().push(duration);
    }
}

// 000-170, P2
#[tokio::test]
async fn passing_failures_are_retried_and_leave_no_trace_in_the_next_request() {
    let busy = || fails(ModelErrorKind::Server, "busy");
    let model = ScriptedModel::new([busy(), busy(), says("finally")]);
    let (waits, seen) = (Arc::new(NotesWaits::default()), Arc::new(Mutex::new(Vec::new())));
    let mut config = config(&model);
    config.sleeper = waits.clone();
    config.random = Arc::new(|| 0);
    let sees = seen.clone();
    config.on_retry = Some(Arc::new(move |event| sees.lock().unwrap().push(event)));
    let ran = run(&context([]), &config).await;
    assert_eq!(shorts(&ran.result.unwrap()), ["user hi", "asst finally"]);
    assert_eq!(*waits.0.lock().unwrap(), [Duration::from_millis(1500), Duration::from_secs(3)]);
    let start = |attempt, delay_ms| RetryEvent::AutoRetryStart {
        attempt,
        max_attempts: 3,
        delay_ms,
        error_message: "busy".into(),
    };
    let end = RetryEvent::AutoRetryEnd { success: true, attempt: 2, final_error: None };
    assert_eq!(*seen.lock().unwrap(), [start(1, 1500), start(2, 3000), end]);
    assert_eq!(ran.trace.iter().filter(|event| *event == "turn_start").count(), 1);
}

// 000-170, 000-032
#[tokio::test]
async fn retries_end_and_a_half_answer_that_was_shown_is_closed_first() {
    let half = || {
        let mut events = text_events("half");
        events.push(ModelEvent::Failed(capstan_ports::ModelError::new(ModelErrorKind::Network, "gone")));
        Answer::Events(events)
    };
    let model = ScriptedModel::new([half(), half(), half(), half(), says("unused")]);
    let mut config = config(&model);
    config.sleeper = Arc::new(NotesWaits::default());
    let ran = run(&context([]), &config).await;
    assert_eq!(
        shorts(&ran.result.unwrap()),
        ["user hi", "asst! halfgone", "asst! halfgone", "asst! halfgone", "asst! halfgone"]
    );
    assert_eq!(ran.sink.count("turn_start"), 4);
    assert_eq!(ran.sink.count("turn_end"), 4);
    assert!(model.sent().iter().all(|sent| sent == &["user hi"]));
}

struct NeverWakes;

#[async_trait]
impl crate::retry::Sleeper for NeverWakes {
    async fn sleep(&self, _duration: Duration) {
        std::future::pending().await
    }
}

// 000-164
#[tokio::test]
async fn an_abort_ends_the_wait_for_a_retry() {
    let model = ScriptedModel::new([fails(ModelErrorKind::RateLimited, "slow down")]);
    let mut config = config(&model);
    config.sleeper = Arc::new(NeverWakes);
    let (sink, cancel) = (Recorder::default(), CancellationToken::new());
    let context = context([]);
    let aborts = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        cancel.cancel();
    };
    let (added, ()) =
        tokio::join!(run_agent_loop(vec![user("hi")], &context, &config, &sink, &cancel), aborts);
    assert_eq!(shorts(&added.unwrap()), ["user hi", "asst! Operation aborted"]);
}

// A client that sees a retry coming calls it off.
#[tokio::test]
async fn a_retry_that_is_called_off_ends_the_run_with_the_failure() {
    let half = || {
        let mut events = text_events("half");
        events.push(ModelEvent::Failed(capstan_ports::ModelError::new(ModelErrorKind::Network, "gone")));
        Answer::Events(events)
    };
    for (answer, said) in [
        (fails(ModelErrorKind::Server, "busy"), vec!["user hi", "asst! busy"]),
        (half(), vec!["user hi", "asst! halfgone", "asst! gone"]),
    ] {
        let model = ScriptedModel::new([answer, says("unused")]);
        let mut config = config(&model);
        config.sleeper = Arc::new(NeverWakes);
        let (stop, ends) = (config.retry_stop.clone(), Arc::new(Mutex::new(Vec::new())));
        let seen = ends.clone();
        config.on_retry = Some(Arc::new(move |event| match event {
            RetryEvent::AutoRetryStart { .. } => stop.stop(),
            RetryEvent::AutoRetryEnd { .. } => seen.lock().unwrap().push(event),
        }));
        let ran = run(&context([]), &config).await;
        assert_eq!(shorts(&ran.result.unwrap()), said);
        let why = Some(said.last().unwrap().trim_start_matches("asst! ").to_owned());
        assert_eq!(
            *ends.lock().unwrap(),
            [RetryEvent::AutoRetryEnd { success: false, attempt: 1, final_error: why }]
        );
        assert_eq!(ran.sink.count("turn_start"), ran.sink.count("turn_end"));
        assert_eq!(model.sent().len(), 1);
    }
}

// 000-061: what was queued in the same moment as the abort waits for the next run.
#[tokio::test]
async fn nothing_is_taken_from_the_queues_after_an_abort() {
    let queue = Arc::new(PendingMessageQueue::default());
    let cancel = CancellationToken::new();
    let (queued, aborts) = (queue.clone(), cancel.clone());
    let tool = TestTool::new("work", move |_, _| {
        queued.enqueue(user("later"));
        aborts.cancel();
        async { Ok(ToolOutcome::text("ok")) }
    });
    let model = ScriptedModel::new([calls([call("a", "work", json!({}))])]);
    let mut config = config(&model);
    config.steering = drains(&queue);
    config.follow_ups = drains(&queue);
    let context = context([tool]);
    let added =
        run_agent_loop(vec![user("hi")], &context, &config, &Recorder::default(), &cancel).await.unwrap();
    assert_eq!(shorts(&added)[2..], ["result a ok", "asst! Operation aborted"]);
    assert!(queue.has_items());
}
