use super::*;
use crate::HookChain;
use crate::queue::{PendingMessageQueue, QueueMode};
use crate::scripted_tests::*;
use async_trait::async_trait;
use capstan_ports::hook::HookContext;
use capstan_ports::{Content, CustomMessage, Hook, HookError, HookStage, Tool, ToolOutcome, Verdict};
use serde_json::json;

// T1; 000-001, 000-008, 000-030, 000-031, 000-040, 000-182
#[tokio::test]
async fn a_plain_answer_gives_trace_t1() {
    let model = ScriptedModel::new([says("hello")]);
    let ran = run(&context([]), &config(&model)).await;
    assert_eq!(
        ran.trace,
        [
            "agent_start",
            "turn_start",
            "message_start (user hi)",
            "message_end (user hi)",
            "message_start (asst )",
            "message_update (asst )",
            "message_update (asst hello)",
            "message_end (asst hello)",
            "turn_end (asst hello) []",
            "agent_end 2",
        ]
    );
    assert_eq!(shorts(&ran.result.unwrap()), ["user hi", "asst hello"]);
    assert_eq!(model.sent(), [["user hi"]]);
}

// T2; 000-035, 000-097, 000-003, 000-004, 000-020, 000-022, 000-033, 000-037, 000-038, 000-041, 000-183
#[tokio::test]
async fn a_tool_call_gives_trace_t2() {
    let tool = TestTool::new("work", |_, context| async move {
        context.progress.report(ToolOutcome::text("half"));
        context.progress.report(ToolOutcome::text("most"));
        Ok(ToolOutcome { details: Some(json!({"n": 1})), ..ToolOutcome::text("all") })
    });
    let model = ScriptedModel::new([calls([call("a", "work", json!({}))]), says("done")]);
    let ran = run(&context([tool]), &config(&model)).await;
    assert_eq!(
        ran.trace,
        [
            "agent_start",
            "turn_start",
            "message_start (user hi)",
            "message_end (user hi)",
            "message_start (asst +a)",
            "message_end (asst +a)",
            "start a",
            "update a half",
            "update a most",
            "end a",
            "message_start (result a all)",
            "message_end (result a all)",
            "turn_end (asst +a) [a]",
            "turn_start",
            "message_start (asst )",
            "message_update (asst )",
            "message_update (asst done)",
            "message_end (asst done)",
            "turn_end (asst done) []",
            "agent_end 4",
        ]
    );
    assert_eq!(model.sent()[1], ["user hi", "asst +a", "result a all"]);
    let added = ran.result.unwrap();
    let Message::ToolResult(result) = added[2].as_ref() else { panic!("no result: {added:?}") };
    assert_eq!((result.tool_name.as_str(), result.is_error), ("work", false));
    // X2, 000-166
    assert_eq!(result.details, Some(json!({"n": 1})));
    assert!(result.timestamp > 0);
}

// T5; 000-053, 000-104
#[tokio::test]
async fn steering_during_a_tool_gives_trace_t5() {
    let queue = Arc::new(PendingMessageQueue::default());
    let steered = queue.clone();
    let tool = TestTool::new("work", move |_, _| {
        steered.enqueue(user("left"));
        async { Ok(ToolOutcome::text("ok")) }
    });
    let model = ScriptedModel::new([calls([call("a", "work", json!({}))]), says("turned")]);
    let mut config = config(&model);
    config.steering = drains(&queue);
    let ran = run(&context([tool]), &config).await;
    let after = ran.trace.iter().position(|event| event.starts_with("turn_end")).unwrap();
    assert_eq!(
        ran.trace[after..after + 5],
        [
            "turn_end (asst +a) [a]",
            "turn_start",
            "message_start (user left)",
            "message_end (user left)",
            "message_start (asst )",
        ]
    );
    assert_eq!(model.sent()[1], ["user hi", "asst +a", "result a ok", "user left"]);
}

// T6; 000-007, 000-056, 000-105, 000-057
#[tokio::test]
async fn follow_ups_wait_for_the_end_and_steering_goes_first() {
    let (steering, follow_ups) =
        (Arc::new(PendingMessageQueue::default()), Arc::new(PendingMessageQueue::default()));
    follow_ups.enqueue(user("more"));
    let steered = steering.clone();
    let tool = TestTool::new("work", move |_, _| {
        steered.enqueue(user("left"));
        async { Ok(ToolOutcome::text("ok")) }
    });
    let model =
        ScriptedModel::new([calls([call("a", "work", json!({}))]), says("one"), says("two"), says("unused")]);
    let mut config = config(&model);
    config.steering = drains(&steering);
    config.follow_ups = drains(&follow_ups);
    let ran = run(&context([tool]), &config).await;
    assert_eq!(
        shorts(&ran.result.unwrap()),
        ["user hi", "asst +a", "result a ok", "user left", "asst one", "user more", "asst two"]
    );
    assert_eq!(ran.trace.iter().filter(|event| event.starts_with("agent_end")).count(), 1);
    assert_eq!(ran.trace.last().unwrap(), "agent_end 7");
    let before_follow_up = ran.trace.iter().position(|event| event == "message_start (user more)").unwrap();
    assert_eq!(ran.trace[before_follow_up - 2..before_follow_up], ["turn_end (asst one) []", "turn_start"]);
}

// 000-054, 000-058
#[tokio::test]
async fn steering_is_polled_before_the_first_request_one_message_a_round() {
    for (mode, requests) in [(QueueMode::OneAtATime, 3), (QueueMode::All, 1)] {
        let queue = Arc::new(PendingMessageQueue::new(mode));
        for text in ["a", "b", "c"] {
            queue.enqueue(user(text));
        }
        let model = ScriptedModel::new([says("1"), says("2"), says("3")]);
        let mut config = config(&model);
        config.steering = drains(&queue);
        run(&context([]), &config).await.result.unwrap();
        assert_eq!(model.sent().len(), requests);
        assert_eq!(model.sent()[0][..2], ["user hi", "user a"]);
    }
}

// 000-042
#[tokio::test]
async fn an_answer_without_updates_still_starts_just_before_it_ends() {
    let model = ScriptedModel::new([stops(StopReason::Stop, [])]);
    let ran = run(&context([]), &config(&model)).await;
    assert_eq!(ran.trace[4..6], ["message_start (asst )", "message_end (asst )"]);
}

// 000-091, 000-092, 000-093, 000-094
#[tokio::test]
async fn continuing_needs_a_tail_that_the_model_has_not_answered() {
    let model = ScriptedModel::new([calls([call("a", "echo", json!({}))]), says("done"), says("again")]);
    let mut context = context([TestTool::echo()]);
    let config = config(&model);
    let (sink, cancel) = (Recorder::default(), CancellationToken::new());
    let refused = run_agent_loop_continue(&context, &config, &sink, &cancel).await;
    assert!(matches!(refused, Err(AgentError::ContinueWithoutMessages)));
    context.messages = run(&context, &config).await.result.unwrap();
    let refused = run_agent_loop_continue(&context, &config, &sink, &cancel).await;
    assert!(matches!(refused, Err(AgentError::ContinueFromAssistant)));
    assert!(sink.trace().is_empty());
    context.messages.pop();
    let added = run_agent_loop_continue(&context, &config, &sink, &cancel).await.unwrap();
    assert_eq!(shorts(&added), ["asst again"]);
    assert_eq!(model.sent()[2], ["user hi", "asst +a", "result a {}"]);
    assert_eq!(sink.trace()[..3], ["agent_start", "turn_start", "message_start (asst )"]);
}

struct KeepsLast;

#[async_trait]
impl crate::ContextTransform for KeepsLast {
    async fn transform(
        &self,
        messages: Vec<Arc<Message>>,
    ) -> Result<Vec<Arc<Message>>, Box<dyn std::error::Error + Send + Sync>> {
        if messages.len() > 9 {
            return Err("too much".into());
        }
        Ok(messages.into_iter().rev().take(1).collect())
    }
}

// 000-095, 000-096
#[tokio::test]
async fn a_transformation_shapes_the_request_is_repaired_and_leaves_the_transcript() {
    let model = ScriptedModel::new([calls([call("a", "echo", json!({}))]), says("done")]);
    let mut context = context([TestTool::echo()]);
    let mut config = config(&model);
    config.transform = Some(Arc::new(KeepsLast));
    let added = run(&context, &config).await.result.unwrap();
    // The kept tool result lost its call, so nothing is left of it.
    assert_eq!(model.sent(), [vec!["user hi"], vec![]]);
    assert_eq!(added.len(), 4);
    context.messages = vec![user("x"); 9];
    let ran = run(&context, &config).await;
    assert!(matches!(ran.result, Err(AgentError::Context { .. })));
    assert_eq!(
        ran.trace[4..],
        [
            "message_start (asst! the context of the request could not be prepared: too much)",
            "message_end (asst! the context of the request could not be prepared: too much)",
            "turn_end (asst! the context of the request could not be prepared: too much) []",
            "agent_end 2"
        ]
    );
}

// 000-012, 000-013, 000-070, 000-169
#[tokio::test]
async fn the_request_carries_prompt_tools_and_session() {
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    let model = ScriptedModel::new([says("ok")]);
    let mut config = config(&model);
    config.log = Some(MemoryLog::new());
    config.thinking = capstan_ports::ThinkingLevel::High;
    run(&context([TestTool::echo().with_schema(schema.clone())]), &config).await.result.unwrap();
    let requests = model.requests.lock().unwrap();
    assert_eq!(requests[0].system, "be good");
    assert_eq!(requests[0].tools[0].description, "does echo");
    assert_eq!(requests[0].tools[0].parameters, schema);
    assert_eq!(requests[0].thinking, capstan_ports::ThinkingLevel::High);
    assert_eq!(requests[0].session_id, Some(SessionId::new("s1")));
}

// 000-043, 000-044
#[tokio::test]
async fn every_event_survives_json() {
    let model = ScriptedModel::new([calls([call("a", "echo", json!({"x": 1}))]), says("done")]);
    let ran = run(&context([TestTool::echo()]), &config(&model)).await;
    for event in ran.sink.events.lock().unwrap().iter() {
        let text = serde_json::to_string(event).unwrap();
        assert_eq!(&serde_json::from_str::<AgentEvent>(&text).unwrap(), event);
    }
}

struct WantsNoUpdates(Recorder);

#[async_trait]
impl EventSink for WantsNoUpdates {
    async fn emit(&self, event: AgentEvent) {
        self.0.emit(event).await;
    }

    fn wants_updates(&self) -> bool {
        false
    }
}

#[tokio::test]
async fn updates_are_left_out_when_nobody_wants_them() {
    let model = ScriptedModel::new([says("hello")]);
    let sink = WantsNoUpdates(Recorder::default());
    let cancel = CancellationToken::new();
    run_agent_loop(vec![user("hi")], &context([]), &config(&model), &sink, &cancel).await.unwrap();
    assert_eq!((sink.0.count("message_update"), sink.0.count("message_start")), (0, 2));
}

// 003-116: a tool that appears during a run can be called in the next round.
#[tokio::test]
async fn changed_tools_count_from_the_next_round() {
    let context = context([]);
    let tools = context.tools.clone();
    let installs = TestTool::new("install", move |_, _| {
        tools.register(Arc::new(TestTool::echo()) as Arc<dyn Tool>).unwrap();
        async { Ok(ToolOutcome::text("installed")) }
    });
    context.tools.register(Arc::new(installs)).unwrap();
    let model = ScriptedModel::new([
        calls([call("a", "install", json!({}))]),
        calls([call("b", "echo", json!({}))]),
        says("done"),
    ]);
    let added = run(&context, &config(&model)).await.result.unwrap();
    assert_eq!(short(&added[4]), "result b {}");
    let requests = model.requests.lock().unwrap();
    assert_eq!((requests[0].tools.len(), requests[1].tools.len()), (1, 2));
}

// A run of many rounds shares its messages instead of copying them.
#[tokio::test]
async fn a_hundred_rounds_copy_no_message() {
    let rounds = (0..100).map(|n| calls([call(&format!("c{n}"), "echo", json!({}))]));
    let model = ScriptedModel::new(rounds.chain([says("done")]));
    let added = run(&context([TestTool::echo()]), &config(&model)).await.result.unwrap();
    let requests = model.requests.lock().unwrap();
    assert_eq!((requests.len(), added.len()), (101, 202));
    for (at, message) in requests[100].messages.iter().enumerate() {
        assert!(Arc::ptr_eq(message, &added[at]));
    }
}

#[tokio::test]
async fn an_image_in_a_prompt_reaches_the_request() {
    // 000-103, the half that is the loop's
    let model = ScriptedModel::new([says("nice")]);
    let image = Content::Image { data: "AAAA".into(), mime_type: "image/png".into() };
    let prompt =
        Message::User(capstan_ports::message::UserMessage { content: vec![image.clone()], timestamp: 1 });
    let cancel = CancellationToken::new();
    run_agent_loop(vec![Arc::new(prompt)], &context([]), &config(&model), &Recorder::default(), &cancel)
        .await
        .unwrap();
    assert_eq!(model.requests.lock().unwrap()[0].messages[0].content(), [image]);
}

// 000-168
#[tokio::test]
async fn the_transport_reaches_the_model_in_every_round() {
    let model = ScriptedModel::new([calls([call("a", "echo", json!({}))]), says("done")]);
    let mut config = config(&model);
    config.transport = Some("websocket".into());
    run(&context([TestTool::echo()]), &config).await.result.unwrap();
    let told: Vec<_> =
        model.requests.lock().unwrap().iter().map(|request| request.transport.clone()).collect();
    assert_eq!(told, [Some("websocket".to_owned()), Some("websocket".to_owned())]);
}

struct Adds(Arc<Message>);

#[async_trait]
impl Hook for Adds {
    fn name(&self) -> &str {
        "adds"
    }

    fn handles(&self, stage: HookStage, _tool: Option<&str>) -> bool {
        stage == HookStage::BeforeModel
    }

    async fn before_model(
        &self,
        _context: &HookContext,
        messages: &[Arc<Message>],
    ) -> Result<Verdict<Vec<Arc<Message>>>, HookError> {
        assert_eq!(shorts(messages), ["custom note before", "user hi"]);
        Ok(Verdict::Rewrite([messages, std::slice::from_ref(&self.0)].concat()))
    }
}

// 000-160: what a hook puts in is converted like what was there; the hook itself sees the conversation as it is.
#[tokio::test]
async fn custom_messages_of_a_hook_reach_the_model_as_the_users() {
    let custom = |text: &str| Arc::new(Message::Custom(CustomMessage::new("note", text)));
    let model = ScriptedModel::new([says("done")]);
    let mut context = context([]);
    context.messages.push(custom("before"));
    let config = config(&model);
    config.hooks.replace(HookChain::new([Arc::new(Adds(custom("added"))) as Arc<dyn Hook>]));
    run(&context, &config).await.result.unwrap();
    assert_eq!(model.sent()[0], ["user before", "user hi", "user added"]);
}
