use super::*;
use crate::recording_tests::*;
use crate::scripted_tests::shorts;
use crate::staged_tests::*;
use capstan_ports::*;
use serde_json::json;

// 003-001, 003-003, 003-032
#[tokio::test]
async fn the_quick_start_of_the_seed_answers() {
    let notes = Arc::new(Notes::default());
    let tools = Arc::new(NotingTools(notes.clone()));
    let agent = RuntimeBundle::from_ports(
        Arc::new(ChatAdapter(NotingChat::new(&notes, []))),
        tools.clone(),
        tools,
        NotingStore::new(&notes),
        Arc::new(NoopObserver),
        Arc::new(NoopCompressor),
        None,
        None,
        AgentConfig { max_tool_rounds: 10, ..AgentConfig::default() },
    );
    let result = agent.run_turn(Message::user("hello"), "session_1").await.unwrap();
    assert_eq!((result.message.text().as_str(), result.final_session_id.as_str()), ("done", "session_1"));
}

// 003-002: ports are trait objects, so agents of different models are one type.
#[tokio::test]
async fn bundles_of_different_models_fit_in_one_list() {
    let bundles = [stage(Parts::default()).bundle, {
        let model = crate::scripted_tests::ScriptedModel::new([crate::scripted_tests::says("streamed")]);
        let notes = Arc::new(Notes::default());
        let tools = Arc::new(NotingTools(notes.clone()));
        RuntimeBundle::new(AgentLoopConfig::new(model), tools.clone(), tools, NotingStore::new(&notes), None)
    }];
    for (bundle, text) in bundles.iter().zip(["done", "streamed"]) {
        assert_eq!(bundle.run_turn(Message::user("hi"), "s").await.unwrap().message.text(), text);
    }
}

// 003-020, 003-080, 003-081, 003-082, 003-089, 003-100, 003-103, 003-105
#[tokio::test]
async fn a_turn_without_tools_takes_its_steps_in_order() {
    let stage = stage(Parts::default());
    stage.turn().await.unwrap();
    assert_eq!(
        stage.notes.take().await,
        [
            "H(BeforeTurn)",
            "O(TurnStarted)",
            "load",
            "compress",
            "H(BeforeModel)",
            "chat",
            "O(ModelResponseReceived)",
            "H(AfterModel)",
            "save",
            "O(TurnCompleted)",
            "H(AfterTurn asst done 0)",
        ]
    );
}

// 003-021, 003-023, 003-024, 003-025, 003-029, 003-033, 003-060, 003-062, 003-063, 003-085, 003-086, 003-101, 003-102, 003-044,
// 003-045 (X11)
#[tokio::test]
async fn a_turn_with_a_tool_takes_its_steps_in_order() {
    let answers = vec![Ok(wants([work("a")]))];
    let stage = stage(Parts { answers, ..Parts::default() });
    stage.store.sessions.lock().unwrap().insert(
        "session_1".into(),
        Session { messages: vec![Arc::new(Message::user("earlier"))], ..Session::default() },
    );
    let result = stage.turn().await.unwrap();
    assert_eq!(
        stage.notes.take().await[2..],
        [
            "load",
            "compress",
            "H(BeforeModel)",
            "chat",
            "O(ModelResponseReceived)",
            "H(AfterModel)",
            "O(ToolCallPending(a))",
            "H(BeforeToolCall a)",
            "execute echo a {\"n\":1}",
            "H(AfterToolCall a {\"n\":1} {\"n\":1})",
            "O(ToolCallResult(a, is_error=false))",
            "compress",
            "H(BeforeModel)",
            "chat",
            "O(ModelResponseReceived)",
            "H(AfterModel)",
            "save",
            "O(TurnCompleted)",
            "H(AfterTurn asst done 1)",
        ]
    );
    assert_eq!(shorts(&result.tool_results), ["result a {\"n\":1}"]);
    let Message::ToolResult(kept) = result.tool_results[0].as_ref() else { panic!("no result") };
    assert_eq!(kept.details, Some(json!({"kept": 1})));
    assert_eq!(stage.chat.sent()[0], ["user earlier", "user hello"]);
    assert_eq!(stage.saved(), ["user earlier", "user hello", "asst +a", "result a {\"n\":1}", "asst done"]);
    let requests = stage.chat.requests.lock().unwrap();
    assert_eq!(requests[0].tools.to_vec(), NotingTools(stage.notes.clone()).list_tools());
}

// 003-022, 003-074, 003-124, 003-125, 003-129: the same variant and the raw reason from every stage.
#[tokio::test]
async fn a_hook_that_ends_the_turn_gives_its_reason_unchanged() {
    let abort = || HookError::Aborted { reason: "x".into() };
    let defer = || HookError::Deferred { reason: "x".into() };
    type Shape = Box<dyn FnOnce(&mut StageHook)>;
    let shapes: Vec<(Shape, usize, usize)> = vec![
        (Box::new(move |h| h.before_turn = Some(Box::new(move |_| Err(abort())))), 0, 0),
        (Box::new(|h| h.before_turn = Some(Box::new(|_| Ok(Verdict::Abort("x".into()))))), 0, 0),
        (Box::new(move |h| h.before_model = Some(Box::new(move |_| Err(abort())))), 1, 0),
        (Box::new(move |h| h.before_model = Some(Box::new(move |_| Err(defer())))), 1, 0),
        (Box::new(move |h| h.after_model = Some(Box::new(move |_| Err(abort())))), 1, 1),
        (Box::new(move |h| h.gate = Some(Box::new(move |_| Err(abort())))), 1, 1),
    ];
    for (shape, loads, chats) in shapes {
        let answers = vec![Ok(wants([work("a")]))];
        let stage = stage(Parts { answers, shape, ..Parts::default() });
        let error = stage.turn().await.unwrap_err();
        assert!(matches!(&error, AgentError::HookAborted { hook, reason } if hook == "h" && reason == "x"));
        assert_eq!(error.to_string(), "x");
        let lines = stage.notes.take().await;
        assert_eq!(
            (count(&lines, "load"), count(&lines, "chat"), count(&lines, "execute")),
            (loads, chats, 0)
        );
        assert_eq!(
            (count(&lines, "O(TurnStarted)"), count(&lines, "O(TurnFailed(x))")),
            (loads, 1),
            "{lines:?}"
        );
        assert_eq!((count(&lines, "H(TurnError Hook x)"), count(&lines, "H(AfterTurn")), (1, 0));
        assert_eq!(count(&lines, "O(TurnCompleted)"), 0);
    }
}

// 003-026, 003-123, 003-106
#[tokio::test]
async fn the_tool_loop_is_bounded() {
    let answers = (0..5).map(|n| Ok(wants([work(&format!("c{n}"))]))).collect();
    let settings = AgentConfig { max_tool_rounds: 2, ..AgentConfig::default() };
    let stage = stage(Parts { answers, settings, ..Parts::default() });
    let error = stage.turn().await.unwrap_err();
    assert!(matches!(error, AgentError::ToolLoopExceeded { limit: 2 }));
    let lines = stage.notes.take().await;
    assert_eq!((count(&lines, "chat"), count(&lines, "execute"), count(&lines, "O(TurnFailed")), (3, 2, 1));
    assert_eq!(count(&lines, "H(TurnError Limit"), 1);
}

// 003-027
#[tokio::test]
async fn no_tool_round_at_all_allows_plain_answers_only() {
    let none = || AgentConfig { max_tool_rounds: 0, ..AgentConfig::default() };
    let tools = stage(Parts { answers: vec![Ok(wants([work("a")]))], settings: none(), ..Parts::default() });
    assert!(matches!(tools.turn().await, Err(AgentError::ToolLoopExceeded { limit: 0 })));
    assert!(stage(Parts { settings: none(), ..Parts::default() }).turn().await.is_ok());
}

// 003-004, 003-005, 003-006, 003-007, 003-008, 003-009
#[tokio::test]
async fn settings_arrive_where_they_belong() {
    assert_eq!(AgentConfig::default().max_tool_rounds, 10);
    let choices =
        [ToolChoice::Auto, ToolChoice::NoTool, ToolChoice::Required, ToolChoice::NamedTool("echo".into())];
    for tool_choice in choices {
        let settings = AgentConfig {
            temperature: Some(0.2),
            max_output_tokens: Some(99),
            tool_choice: tool_choice.clone(),
            thinking: ThinkingLevel::High,
            model_context_window: Some(1234),
            ..AgentConfig::default()
        };
        let stage = stage(Parts { settings, ..Parts::default() });
        stage.turn().await.unwrap();
        let request = stage.chat.requests.lock().unwrap().remove(0);
        assert_eq!((request.temperature, request.max_output_tokens), (Some(0.2), Some(99)));
        assert_eq!((request.tool_choice, request.thinking), (tool_choice, ThinkingLevel::High));
    }
    let plain = stage(Parts::default());
    plain.turn().await.unwrap();
    assert_eq!(plain.chat.requests.lock().unwrap()[0].temperature, None);
    let (notes, compressor) = (Arc::new(Notes::default()), ScriptedCompressor::new(&Arc::default(), []));
    let tools = Arc::new(NotingTools(notes.clone()));
    let bundle = RuntimeBundle::from_ports(
        Arc::new(ChatAdapter(NotingChat::new(&notes, []))),
        tools.clone(),
        tools,
        NotingStore::new(&notes),
        Arc::new(NoopObserver),
        compressor.clone(),
        None,
        None,
        AgentConfig { model_context_window: Some(1234), ..AgentConfig::default() },
    );
    bundle.run_turn(Message::user("hi"), "s").await.unwrap();
    let context = compressor.contexts.lock().unwrap().remove(0);
    assert_eq!((context.window_tokens, context.reason), (1234, CompressReason::BeforeModel));
}

// 003-028, 003-064, 003-065, 003-121, 003-131
#[tokio::test]
async fn a_store_that_fails_fails_the_turn() {
    let stage = stage(Parts::default());
    *stage.store.fails.lock().unwrap() = Some("save");
    let error = stage.turn().await.unwrap_err();
    assert!(matches!(&error, AgentError::Session(SessionError::Save { message, .. }) if message == "full"));
    let lines = stage.notes.take().await;
    assert_eq!((count(&lines, "O(TurnCompleted)"), count(&lines, "O(TurnFailed")), (0, 1));
    assert_eq!(count(&lines, "H(TurnError Session"), 1);
    *stage.store.fails.lock().unwrap() = Some("load");
    let error = stage.turn().await.unwrap_err();
    assert!(std::error::Error::source(&error).is_some(), "the inner error is kept");
    assert!(matches!(&error, AgentError::Session(SessionError::Load { .. })));
    let lines = stage.notes.take().await;
    assert_eq!((count(&lines, "chat"), count(&lines, "save"), count(&lines, "O(TurnFailed")), (0, 0, 1));
}

// 003-064: an unknown session is an empty one.
#[tokio::test]
async fn an_unknown_session_is_empty() {
    let stage = stage(Parts::default());
    stage.turn().await.unwrap();
    assert_eq!(stage.chat.sent()[0], ["user hello"]);
}

// 003-030, 003-049 (X14)
#[tokio::test]
async fn metadata_survives_a_turn() {
    let stage = stage(Parts::default());
    let metadata = serde_json::Map::from_iter([("k".to_owned(), json!({"v": [1, null]}))]);
    let before = Session { metadata: metadata.clone(), ..Session::default() };
    stage.store.sessions.lock().unwrap().insert("session_1".into(), before);
    stage.turn().await.unwrap();
    let after = stage.store.get("session_1");
    assert_eq!(after.metadata, metadata);
    let text = serde_json::to_string(&after).unwrap();
    assert_eq!(serde_json::from_str::<Session>(&text).unwrap(), after);
}

// 003-031, 003-084, 003-090, 003-120, 003-132
#[tokio::test]
async fn a_failed_turn_keeps_the_input_and_finished_results() {
    let answers = vec![Ok(wants([work("a")])), Err(ModelError::response_parse("x"))];
    let stage = stage(Parts { answers, ..Parts::default() });
    let error = stage.turn().await.unwrap_err();
    assert!(matches!(&error, AgentError::Model(inner) if inner.kind == ModelErrorKind::Protocol));
    assert!(error.to_string().contains('x'));
    assert_eq!(stage.saved()[..3], ["user hello", "asst +a", "result a {\"n\":1}"]);
    let lines = stage.notes.take().await;
    assert_eq!(count(&lines, "H(ModelError the answer could not be read: x)"), 1);
    assert_eq!((count(&lines, "H(TurnError Model"), count(&lines, "O(TurnFailed")), (1, 1));
    assert_eq!(count(&lines, "H(AfterTurn"), 0);
    // The next turn begins with a whole transcript.
    stage.turn().await.unwrap();
    assert_eq!(stage.chat.sent()[2], ["user hello", "asst +a", "result a {\"n\":1}", "user hello"]);
}

// 003-088, 003-122, 003-102
#[tokio::test]
async fn a_failing_tool_is_a_message_and_the_model_goes_on() {
    let stage = stage(Parts { answers: vec![Ok(wants([broken("a"), work("b")]))], ..Parts::default() });
    let result = stage.turn().await.unwrap();
    assert_eq!(shorts(&result.tool_results), ["result! a broken tool", "result b {\"n\":1}"]);
    let lines = stage.notes.take().await;
    assert_eq!((count(&lines, "H(ToolError a broken tool)"), count(&lines, "H(AfterToolCall a")), (1, 0));
    assert_eq!((count(&lines, "O(ToolCallResult(a, is_error=true))"), count(&lines, "chat")), (1, 2));
}

// 003-085, 003-087, 003-102: hooks rewrite the call and the result; model and observers see what is left.
#[tokio::test]
async fn rewrites_reach_the_tool_the_model_and_the_observers() {
    let answers = vec![Ok(wants([work("a")]))];
    let shape = Box::new(|hook: &mut StageHook| {
        hook.gate = Some(Box::new(|_| Ok(GateVerdict::Rewrite(json!({"n": 2})))));
        hook.amend = Some(Amendment { content: Some(vec![Content::text("short")]), ..Amendment::default() });
    });
    let stage = stage(Parts { answers, shape, ..Parts::default() });
    let result = stage.turn().await.unwrap();
    let lines = stage.notes.take().await;
    assert_eq!(count(&lines, "execute echo a {\"n\":2}"), 1);
    assert_eq!(count(&lines, "H(AfterToolCall a {\"n\":2} {\"n\":2})"), 1);
    assert_eq!(shorts(&result.tool_results), ["result a short"]);
    assert_eq!(stage.chat.sent()[1][2], "result a short");
}

// 003-073, 003-083 (X12)
#[tokio::test]
async fn rewrites_around_the_model_are_honoured() {
    let answers = vec![Ok(wants([work("a"), work("b")]))];
    let shape = Box::new(|hook: &mut StageHook| {
        hook.before_model = Some(Box::new(|messages| {
            let mut more = messages.to_vec();
            more.insert(0, Arc::new(Message::user("extra")));
            Ok(Verdict::Rewrite(more))
        }));
        hook.after_model = Some(Box::new(|answer| {
            let keep = |piece: &&Content| !matches!(piece, Content::ToolCall(call) if call.id == "a");
            let content = answer.content.iter().filter(keep).cloned().collect();
            Ok(Verdict::Rewrite(AssistantMessage { content, ..answer.clone() }))
        }));
    });
    let stage = stage(Parts { answers, shape, ..Parts::default() });
    stage.turn().await.unwrap();
    assert_eq!(stage.chat.sent()[0], ["user extra", "user hello"]);
    assert_eq!(stage.saved(), ["user hello", "asst +b", "result b {\"n\":1}", "asst done"]);
}
