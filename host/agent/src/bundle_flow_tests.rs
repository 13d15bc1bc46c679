//! Turns that go another way: compressed, redirected, deferred, cancelled, or through another entry point.

use super::*;
use crate::recording_tests::*;
use crate::scripted_tests::{
    Answer, MemoryLog, Recorder, ScriptedModel, TestHook, TestTool, call, calls, hooks, registry, says,
    shorts,
};
use crate::staged_tests::*;
use capstan_ports::*;
use serde_json::json;

// 003-067, 003-068, 003-110
#[tokio::test]
async fn a_compressor_that_replaces_is_followed_exactly() {
    let actions = vec![CompressAction::Replace(vec![Arc::new(Message::user("short"))])];
    let stage = stage(Parts { actions, ..Parts::default() });
    stage.turn().await.unwrap();
    assert_eq!(stage.chat.sent()[0], ["user short"]);
    assert_eq!(stage.saved(), ["user short", "asst done"]);
    stage.turn().await.unwrap();
    assert_eq!(stage.chat.sent()[1], ["user short", "asst done", "user hello"], "none leaves everything");
    let context = CompressContext {
        session_id: SessionId::new("s"),
        window_tokens: 1,
        used_tokens: 1000,
        reserve_tokens: 1,
        instructions: None,
        reason: CompressReason::Overflow,
    };
    let messages = [Arc::new(Message::user("x"))];
    assert_eq!(NoopCompressor.compress(&messages, &context).await.unwrap(), CompressAction::None);
}

// 003-072 (P18)
#[tokio::test]
async fn a_compressor_that_parts_calls_from_results_is_not_followed() {
    let orphan = build_tool_result_message(&work("a"), &ToolOutcome::text("x"));
    let actions = vec![CompressAction::Replace(vec![Arc::new(orphan)]), CompressAction::Replace(Vec::new())];
    let stage = stage(Parts { answers: vec![Ok(wants([work("a")]))], actions, ..Parts::default() });
    stage.turn().await.unwrap();
    assert_eq!(stage.chat.sent()[0], ["user hello"]);
    assert_eq!(stage.chat.sent()[1], ["user hello", "asst +a", "result a {\"n\":1}"]);
}

fn new_session(id: Option<&str>) -> CompressAction {
    let messages = vec![Arc::new(Message::user("fresh"))];
    CompressAction::NewSession { messages, session_id: id.map(SessionId::new) }
}

// 003-034, 003-069, 003-104
#[tokio::test]
async fn a_new_session_is_followed_everywhere() {
    for (id, wanted) in [(Some("other"), "other"), (None, "session_1-2")] {
        let stage = stage(Parts { actions: vec![CompressAction::None, new_session(id)], ..Parts::default() });
        stage.turn().await.unwrap();
        let old = stage.store.get("session_1");
        let result = stage.turn().await.unwrap();
        assert_eq!(result.final_session_id.as_str(), wanted);
        let new = stage.store.get(wanted);
        assert_eq!(shorts(&new.messages), ["user fresh", "asst done"]);
        assert_eq!(new.metadata["parent_session_id"], "session_1");
        assert_eq!(stage.store.get("session_1"), old, "still there and as it was");
        let lines = stage.notes.take().await;
        assert_eq!(count(&lines, &format!("O(SessionRedirect(session_1, {wanted}))")), 1);
        assert_eq!(stage.chat.sent()[1], ["user fresh"]);
    }
}

// 003-070, 003-071
#[tokio::test]
async fn a_new_session_that_cannot_be_made_fails_the_turn_and_leaves_the_old_one() {
    let taken = stage(Parts { actions: vec![new_session(Some("taken"))], ..Parts::default() });
    let there = Session { messages: vec![Arc::new(Message::user("mine"))], ..Session::default() };
    taken.store.sessions.lock().unwrap().insert("taken".into(), there.clone());
    let error = taken.turn().await.unwrap_err();
    assert!(matches!(error, AgentError::Session(SessionError::Exists { .. })), "{error}");
    assert_eq!(taken.store.get("taken"), there);
    let full = stage(Parts { actions: vec![new_session(None)], ..Parts::default() });
    *full.store.fails.lock().unwrap() = Some("save");
    assert!(matches!(full.turn().await, Err(AgentError::Session(SessionError::Save { .. }))));
    let lines = full.notes.take().await;
    assert_eq!((count(&lines, "O(SessionRedirect"), count(&lines, "O(TurnFailed")), (0, 1));
}

fn defers(id: &'static str) -> Box<dyn FnOnce(&mut StageHook)> {
    Box::new(move |hook| {
        hook.gate = Some(Box::new(move |call| {
            if call.id == id {
                Err(HookError::Deferred { reason: "ask Ann".into() })
            } else {
                Ok(GateVerdict::Pass)
            }
        }));
    })
}

// 003-107, 003-126, 003-127 (X13)
#[tokio::test]
async fn a_deferred_call_is_told_to_the_model_in_the_next_turn() {
    let answers = vec![Ok(wants([work("a"), work("b")]))];
    let stage = stage(Parts { answers, shape: defers("a"), ..Parts::default() });
    let result = stage.turn().await.unwrap();
    assert_eq!(result.deferred[0].call.id, "a");
    assert_eq!(
        shorts(&result.tool_results),
        ["result! a Not executed, it needs approval: ask Ann", "result b {\"n\":1}"]
    );
    let lines = stage.notes.take().await;
    assert_eq!(
        (count(&lines, "O(ToolCallDeferred(a, ask Ann))"), count(&lines, "O(ToolCallResult(a")),
        (1, 0)
    );
    assert_eq!(
        (count(&lines, "execute echo a"), count(&lines, "execute echo b"), count(&lines, "chat")),
        (0, 1, 1)
    );
    stage.turn().await.unwrap();
    assert_eq!(stage.chat.sent()[1][2], "result! a Not executed, it needs approval: ask Ann");
}

// 003-128
#[tokio::test]
async fn a_deferred_call_is_executed_after_approval_and_the_model_goes_on() {
    let answers = vec![Ok(wants([work("a")]))];
    let stage = stage(Parts { answers, shape: defers("a"), ..Parts::default() });
    stage.turn().await.unwrap();
    stage.notes.take().await;
    let resumed = stage.bundle.resume_turn("session_1", "a", Decision::Approve).await.unwrap();
    assert_eq!(resumed.message.text(), "done");
    assert_eq!(count(&stage.notes.take().await, "execute echo a {\"n\":1}"), 1);
    assert_eq!(stage.chat.sent()[1], ["user hello", "asst +a", "result a {\"n\":1}"]);
    let again = stage.bundle.resume_turn("session_1", "a", Decision::Approve).await;
    assert!(matches!(again, Err(AgentError::NotDeferred { .. })));
}

#[tokio::test]
async fn a_denied_call_is_told_with_the_reason() {
    let answers = vec![Ok(wants([work("a")]))];
    let stage = stage(Parts { answers, shape: defers("a"), ..Parts::default() });
    stage.turn().await.unwrap();
    stage.bundle.resume_turn("session_1", "a", Decision::Deny("too dear".into())).await.unwrap();
    assert_eq!(stage.chat.sent()[1][2], "result! a Not executed, the user denied it: too dear");
    assert_eq!(count(&stage.notes.take().await, "execute"), 0);
}

// 003-012, 003-013
#[tokio::test]
async fn sessions_run_side_by_side_and_one_session_only_once_at_a_time() {
    let stage = Arc::new(stage(Parts::default()));
    let (one, two) = tokio::join!(
        stage.bundle.run_turn(Message::user("one"), "s1"),
        stage.bundle.run_turn(Message::user("two"), "s2"),
    );
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(shorts(&stage.store.get("s1").messages), ["user one", "asst done"]);
    assert_eq!(shorts(&stage.store.get("s2").messages), ["user two", "asst done"]);
    let model = ScriptedModel::new([Answer::Hangs(Vec::new())]);
    let tools = Arc::new(NotingTools(Arc::default()));
    let store = NotingStore::new(&Arc::default());
    let bundle = RuntimeBundle::new(AgentLoopConfig::new(model), tools.clone(), tools, store, None);
    tokio::select! {
        biased;
        _ = bundle.run_turn(Message::user("one"), "s1") => panic!("the model hangs"),
        second = bundle.run_turn(Message::user("two"), "s1") => {
            assert!(matches!(second, Err(AgentError::AlreadyRunning)));
        }
    }
}

// 003-035, X-07
#[tokio::test]
async fn a_cancelled_or_dropped_turn_ends_with_one_failure() {
    let hang = || {
        let model = ScriptedModel::new([Answer::Hangs(Vec::new())]);
        let notes = Arc::new(Notes::default());
        let (tools, store) = (Arc::new(NotingTools(notes.clone())), NotingStore::new(&notes));
        let bundle = RuntimeBundle::new(AgentLoopConfig::new(model), tools.clone(), tools, store, None);
        bundle.config().observers.add(Arc::new(NotingObserver(notes.clone())));
        assert!(notes.observers.set(bundle.config().observers.clone()).is_ok());
        (bundle, notes)
    };
    let (bundle, notes) = hang();
    let cancel = CancellationToken::new();
    let started = std::time::Instant::now();
    let turn = bundle.run_turn_until(Message::user("hi"), "s", &cancel);
    let (ended, ()) = tokio::join!(turn, async {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        cancel.cancel();
    });
    assert!(matches!(ended, Err(AgentError::Aborted)));
    assert!(started.elapsed() < std::time::Duration::from_secs(1));
    assert_eq!(notes.take().await, ["O(TurnStarted)", "load", "save", "O(TurnFailed(Operation aborted))"]);
    let (bundle, notes) = hang();
    let limit = std::time::Duration::from_millis(20);
    assert!(tokio::time::timeout(limit, bundle.run_turn(Message::user("hi"), "s")).await.is_err());
    let lines = notes.take().await;
    assert_eq!(count(&lines, "O(TurnFailed(the turn was dropped before its end))"), 1, "{lines:?}");
    assert_eq!(count(&lines, "save"), 0);
}

// 003-077, 003-079
#[tokio::test]
async fn the_model_reaches_a_memory_through_a_tool() {
    let memory = Arc::new(crate::recall::InMemory::default());
    memory.store(MemoryEntry::new("the cat is called Mio")).await.unwrap();
    let notes = Arc::new(Notes::default());
    let chat = NotingChat::new(&notes, [Ok(wants([call("r", "retrieve", json!({"query": "cat name"}))]))]);
    let tools = Arc::new(NotingTools(notes.clone()));
    let bundle = RuntimeBundle::from_ports(
        Arc::new(ChatAdapter(chat.clone())),
        tools.clone(),
        tools,
        NotingStore::new(&notes),
        Arc::new(NoopObserver),
        Arc::new(NoopCompressor),
        None,
        Some(memory),
        AgentConfig::default(),
    );
    bundle.run_turn(Message::user("who?"), "s").await.unwrap();
    assert!(chat.sent()[1][2].contains("the cat is called Mio"));
}

struct Changing(std::sync::Mutex<Vec<ToolDefinition>>);

impl ToolProvider for Changing {
    fn list_tools(&self) -> Vec<ToolDefinition> {
        self.0.lock().unwrap().clone()
    }
}

// 003-115, 003-116, X-04: a registry is a provider and a runtime, and changes count from the next turn.
#[tokio::test]
async fn a_registry_serves_the_bundle_and_may_change_between_turns() {
    let registry = registry([TestTool::echo()]);
    let notes = Arc::new(Notes::default());
    let chat = NotingChat::new(&notes, [Ok(wants([work("a")])), Ok(reply("one"))]);
    let config = AgentLoopConfig::new(Arc::new(ChatAdapter(chat.clone())));
    let bundle =
        RuntimeBundle::new(config, registry.clone(), registry.clone(), NotingStore::new(&notes), None);
    let result = bundle.run_turn(Message::user("hi"), "s").await.unwrap();
    assert_eq!(shorts(&result.tool_results), ["result a {\"n\":1}"]);
    let late = TestTool::new("late", |_, _| async { Ok(ToolOutcome::text("ok")) });
    let definition = late.definition.clone();
    registry.register(Arc::new(late)).unwrap();
    bundle.run_turn(Message::user("hi"), "s").await.unwrap();
    let names = |at: usize| -> Vec<String> {
        chat.requests.lock().unwrap()[at].tools.iter().map(|tool| tool.name.clone()).collect()
    };
    assert_eq!((names(0), names(2)), (vec!["echo".to_owned()], vec!["echo".to_owned(), "late".to_owned()]));
    registry.unregister("late");
    assert_eq!(registry.list_tools().len(), 1);
    let other = ToolDefinition { description: "other".into(), ..registry.list_tools()[0].clone() };
    let more = Arc::new(Changing(std::sync::Mutex::new(vec![other, definition])));
    let both = CompositeToolProvider::new([registry as Arc<dyn ToolProvider>, more]);
    let listed = both.list_tools();
    assert_eq!((listed.len(), listed[0].description.as_str()), (2, "does echo"));
    assert_eq!(both.duplicates(), ["echo"]);
}

// X-01, X-02, X-03, 001-064, 001-065: the same answers give the same trace through every entry point.
#[tokio::test]
async fn agent_session_and_bundle_run_the_same_loop() {
    let model = || ScriptedModel::new([calls([work("a"), broken("b")]), says("done")]);
    let tools = || registry([TestTool::echo()]);
    let gate = || {
        hooks([TestHook::gate("g", |call| {
            Ok(if call.id == "b" { GateVerdict::Block("no".into()) } else { GateVerdict::Pass })
        })])
    };
    let mut traces = Vec::new();
    for entry in ["agent", "session", "bundle", "submit", "session submit"] {
        let recorder = Arc::new(Recorder::default());
        let config = AgentLoopConfig::new(model());
        config.hooks.replace(gate());
        match entry {
            "agent" => {
                let agent = crate::Agent::with_config(config);
                agent.set_tool_registry(tools());
                agent.subscribe(recorder.clone());
                agent.prompt_text("hi").await.unwrap();
            }
            "session" => {
                let session = crate::AgentSession::open(config, MemoryLog::new()).unwrap();
                session.agent().set_tool_registry(tools());
                session.agent().subscribe(recorder.clone());
                session.prompt_text("hi").await.unwrap();
            }
            "submit" => {
                let agent = crate::Agent::with_config(config);
                agent.set_tool_registry(tools());
                agent.subscribe(recorder.clone());
                assert_eq!(agent.submit_turn("hi").await.unwrap().text(), "done");
            }
            "session submit" => {
                let session = crate::AgentSession::open(config, MemoryLog::new()).unwrap();
                session.agent().set_tool_registry(tools());
                session.agent().subscribe(recorder.clone());
                assert_eq!(session.submit_turn("hi").await.unwrap().text(), "done");
            }
            _ => {
                let (tools, store) = (tools(), NotingStore::new(&Arc::default()));
                let bundle = RuntimeBundle::new(config, tools.clone(), tools, store, None);
                let bundle = bundle.with_events(recorder.clone());
                bundle.run_turn(Message::user("hi"), "s").await.unwrap();
            }
        }
        traces.push(recorder.trace());
    }
    assert!(traces[0].iter().any(|line| line == "end! b") && traces[0].len() > 15);
    assert!(traces.iter().all(|trace| *trace == traces[0]), "{traces:#?}");
}

// X-05: what one entry point wrote the other continues.
#[tokio::test]
async fn a_conversation_of_an_agent_can_be_continued_over_a_store() {
    let stage = stage(Parts::default());
    let log = MemoryLog::new();
    let config = AgentLoopConfig::new(Arc::new(ChatAdapter(NotingChat::new(&Arc::default(), []))));
    crate::AgentSession::open(config, log.clone()).unwrap().prompt_text("first").await.unwrap();
    let messages = log.context().unwrap().messages;
    stage
        .store
        .sessions
        .lock()
        .unwrap()
        .insert("session_1".into(), Session { messages, ..Session::default() });
    stage.turn().await.unwrap();
    assert_eq!(stage.chat.sent()[0], ["user first", "asst done", "user hello"]);
}
