use super::*;
use crate::scripted_tests::*;
use async_trait::async_trait;
use capstan_ports::{AgentEvent, EventSink, ModelErrorKind, ToolOutcome};
use serde_json::json;
use std::time::Duration;

fn work(log: &Arc<MemoryLog>) -> TestTool {
    let log = log.clone();
    TestTool::new("work", move |_, _| {
        log.note("tool runs");
        async { Ok(ToolOutcome { details: Some(json!({"d": 1})), ..ToolOutcome::text("ok") }) }
    })
}

fn session(model: &Arc<ScriptedModel>, log: &Arc<MemoryLog>) -> AgentSession {
    let session = AgentSession::open(config(model), log.clone()).unwrap();
    session.agent().set_tool_registry(registry([work(log)]));
    session
}

fn one_call() -> Arc<ScriptedModel> {
    ScriptedModel::new([calls([call("a", "work", json!({}))]), says("done")])
}

struct NotesEnds(Arc<MemoryLog>);

#[async_trait]
impl EventSink for NotesEnds {
    async fn emit(&self, event: AgentEvent) {
        tokio::time::sleep(Duration::from_millis(2)).await;
        match event {
            AgentEvent::MessageEnd { message } => self.0.note(format!("seen {}", short(&message))),
            AgentEvent::ToolExecutionEnd { .. } => self.0.note("seen end"),
            _ => {}
        }
    }
}

// X7, 001-062, 001-063: the record comes first, however slow a listener is.
#[tokio::test]
async fn each_step_is_durable_before_anything_follows_from_it() {
    let log = MemoryLog::new();
    let model = one_call();
    let session = session(&model, &log);
    session.agent().subscribe(Arc::new(NotesEnds(log.clone())));
    session.prompt_text("hi").await.unwrap();
    assert_eq!(
        log.operations(),
        [
            "append user hi",
            "seen user hi",
            "commit",
            "append asst +a",
            "commit",
            "seen asst +a",
            "tool runs",
            "append result a ok",
            "commit",
            "seen end",
            "seen result a ok",
            "append asst done",
            "commit",
            "seen asst done",
        ]
    );
    // 000-166
    let Message::ToolResult(result) = log.context().unwrap().messages[2].as_ref().clone() else {
        panic!("no result")
    };
    assert_eq!(result.details, Some(json!({"d": 1})));
}

// 001-060
#[tokio::test]
async fn a_reopened_session_goes_on_where_it_was() {
    let log = MemoryLog::new();
    session(&one_call(), &log).prompt_text("hi").await.unwrap();
    let model = ScriptedModel::new([says("more")]);
    let session = session(&model, &log);
    assert_eq!(session.id(), log.id().clone());
    assert_eq!(session.agent().state().messages.len(), 4);
    session.prompt_text("go on").await.unwrap();
    assert_eq!(model.sent()[0], ["user hi", "asst +a", "result a ok", "asst done", "user go on"]);
    assert_eq!(model.requests.lock().unwrap()[0].session_id.as_ref(), Some(log.id()));
}

// 001-069
#[tokio::test]
async fn going_back_to_an_entry_follows_the_session() {
    let log = MemoryLog::new();
    let session = session(&one_call(), &log);
    session.prompt_text("hi").await.unwrap();
    let first = log.entries()[0].id.clone();
    session.branch(Some(&first)).await.unwrap();
    assert_eq!(shorts(&session.agent().state().messages), ["user hi"]);
}

// A crash between a call and its result: the next request is whole.
#[tokio::test]
async fn a_log_that_ends_in_a_call_can_be_continued() {
    let log = MemoryLog::new();
    session(&one_call(), &log).prompt_text("hi").await.unwrap();
    let call = log.entries()[1].id.clone();
    log.branch(Some(&call)).unwrap();
    let model = ScriptedModel::new([says("more")]);
    session(&model, &log).prompt_text("go on").await.unwrap();
    assert_eq!(model.sent()[0], ["user hi", "asst +a", "result! a No result provided", "user go on"]);
}

// 003-031
#[tokio::test]
async fn a_failed_turn_keeps_the_input_and_the_failure() {
    let log = MemoryLog::new();
    let model = ScriptedModel::new([fails(ModelErrorKind::Auth, "no key")]);
    session(&model, &log).prompt_text("hi").await.unwrap();
    assert_eq!(shorts(&log.context().unwrap().messages), ["user hi", "asst! no key"]);
    assert_eq!(log.operations().last().unwrap(), "commit");
}

#[tokio::test]
async fn a_prompt_that_cannot_be_recorded_is_not_sent() {
    let (log, model) = (MemoryLog::new(), one_call());
    let session = session(&model, &log);
    *log.room.lock().unwrap() = 0;
    let error = session.prompt_text("hi").await.unwrap_err();
    assert!(
        matches!(error, AgentError::Session(_)) && error.to_string().contains("the disk is full"),
        "{error}"
    );
    assert!(model.sent().is_empty());
    assert!(session.agent().state().error_message.unwrap().contains("the disk is full"));
}

#[tokio::test]
async fn tools_do_not_run_for_an_answer_that_is_not_on_record() {
    let (log, model) = (MemoryLog::new(), one_call());
    let session = session(&model, &log);
    *log.room.lock().unwrap() = 1;
    assert!(matches!(session.prompt_text("hi").await, Err(AgentError::Session(_))));
    assert!(!log.operations().contains(&"tool runs".to_owned()));
    let messages = session.agent().state().messages;
    assert!(short(&messages[1]).starts_with("asst! +a"), "{messages:?}");
}

#[tokio::test]
async fn a_result_that_cannot_be_recorded_ends_the_run_and_cancels_its_neighbours() {
    let log = MemoryLog::new();
    let model = ScriptedModel::new([
        calls([call("a", "wait", json!({})), call("b", "work", json!({}))]),
        says("unreached"),
    ]);
    let session = session(&model, &log);
    let wait = TestTool::new("wait", |_, context| async move {
        context.cancel.cancelled().await;
        Err(capstan_ports::ToolError::Aborted)
    });
    session.agent().tools().register(Arc::new(wait)).unwrap();
    *log.room.lock().unwrap() = 2;
    let recorder = Arc::new(Recorder::default());
    session.agent().subscribe(recorder.clone());
    assert!(matches!(session.prompt_text("hi").await, Err(AgentError::Session(_))));
    let messages = session.agent().state().messages;
    assert_eq!(shorts(&messages)[2..], ["result! a Operation aborted", "result b ok"]);
    assert_eq!((recorder.count("agent_end"), model.sent().len()), (1, 1));
}

// 003-128, reliability T8 (what is executed is the call that was put off, as it stands in the log), T9
#[tokio::test]
async fn a_deferred_call_can_be_approved_or_denied_later() {
    let puts_off =
        || hooks([TestHook::gate("careful", |_| Ok(capstan_ports::GateVerdict::Defer("ask Ann".into())))]);
    for approved in [true, false] {
        let (log, model) = (MemoryLog::new(), one_call());
        let session = session(&model, &log);
        session.agent().configure(|config| config.hooks.replace(puts_off()));
        session.prompt_text("hi").await.unwrap();
        let waiting = session.deferred();
        assert_eq!((waiting[0].call.id.as_str(), waiting[0].reason.as_str()), ("a", "ask Ann"));
        assert!(matches!(session.approve("x").await, Err(AgentError::NotDeferred { .. })));
        let added = match approved {
            true => session.approve("a").await.unwrap(),
            false => session.deny("a", "too dear").await.unwrap(),
        };
        let result =
            if approved { "result a ok" } else { "result! a Not executed, the user denied it: too dear" };
        assert_eq!(shorts(&added), [result, "asst done"]);
        assert_eq!(model.sent()[1], ["user hi", "asst +a", result]);
        assert_eq!(log.operations().contains(&"tool runs".to_owned()), approved);
        assert!(session.deferred().is_empty());
        // An answer counts once, and for this session alone.
        assert!(matches!(session.approve("a").await, Err(AgentError::NotDeferred { .. })));
        // The log keeps both, and a reopened session goes on with what was decided.
        let reopened = AgentSession::open(config(&ScriptedModel::new([])), log.clone()).unwrap();
        assert!(reopened.deferred().is_empty());
    }
}

#[tokio::test]
async fn hooks_are_told_what_happens_to_the_session() {
    use crate::recording_tests::{Notes, StageHook};
    use capstan_ports::{Hook, SessionLifecycle};
    let notes = Arc::new(Notes::default());
    let hook = || crate::HookChain::new([Arc::new(StageHook::new("h", &notes)) as Arc<dyn Hook>]);
    let log = MemoryLog::new();
    for began in ["Start", "Resume"] {
        let session = AgentSession::open(config(&ScriptedModel::new([says("x")])), log.clone()).unwrap();
        session.agent().configure(|config| config.hooks.replace(hook()));
        session.prompt_text("hi").await.unwrap();
        session.prompt_text("hi").await.unwrap();
        session.tell(SessionLifecycle::End).await;
        let lines = notes.take().await;
        let told: Vec<_> = lines.iter().filter(|line| line.contains("SessionLifecycle")).collect();
        assert_eq!(told, [&format!("H(SessionLifecycle s1 {began})"), "H(SessionLifecycle s1 End)"]);
    }
}

// 000-160
#[tokio::test]
async fn a_custom_message_is_told_of_recorded_and_read_by_the_model_as_the_users() {
    let (log, model) = (MemoryLog::new(), ScriptedModel::new([says("ok"), says("steered")]));
    let open = || session(&model, &log);
    let session = open();
    let recorder = Arc::new(Recorder::default());
    session.agent().subscribe(recorder.clone());
    // Whether screens show it makes no difference to the model, and details are never sent.
    let hidden = |text: &str| CustomMessage {
        display: false,
        details: Some(json!({"k": 1})),
        ..CustomMessage::new("note", text)
    };
    let first = hidden("seen");
    session.append_custom(first.clone()).await.unwrap();
    assert_eq!(recorder.trace(), ["message_start (custom note seen)", "message_end (custom note seen)"]);
    assert_eq!(log.operations(), ["append custom note seen", "commit"]);
    assert!(!session.agent().state().is_streaming);

    session.agent().follow_up(Message::Custom(hidden("later")));
    session.prompt_text("hi").await.unwrap();
    assert_eq!(model.sent()[0], ["user seen", "user hi"]);
    assert_eq!(model.sent()[1], ["user seen", "user hi", "asst ok", "user later"]);
    assert_eq!(recorder.count("message_end (custom note later)"), 1);

    let kept = open().log().context().unwrap().messages;
    let Message::Custom(again) = kept[0].as_ref() else { panic!("{kept:?}") };
    assert_eq!(again, &CustomMessage { timestamp: again.timestamp, ..first });
    assert_eq!(
        shorts(&kept),
        ["custom note seen", "user hi", "asst ok", "custom note later", "asst steered"]
    );
}

// 000-160
#[tokio::test]
async fn a_custom_message_can_be_answered_alone_and_is_refused_during_a_run() {
    let model = ScriptedModel::new([says("at once"), calls([call("a", "intrude", json!({}))]), says("done")]);
    let session = AgentSession::open(config(&model), MemoryLog::new()).unwrap();
    session.append_custom(CustomMessage::new("note", "wake up")).await.unwrap();
    session.agent().continue_run().await.unwrap();
    assert_eq!(model.sent()[0], ["user wake up"]);

    let intruder = session.clone();
    let tool = TestTool::new("intrude", move |_, _| {
        let session = intruder.clone();
        async move {
            let refused = session.append_custom(CustomMessage::new("note", "now")).await;
            assert!(matches!(refused, Err(AgentError::AlreadyRunning)));
            Ok(ToolOutcome::text("ok"))
        }
    });
    session.agent().set_tool_registry(registry([tool]));
    session.prompt(vec![Message::Custom(CustomMessage::new("task", "go"))]).await.unwrap();
    assert_eq!(model.sent()[2], ["user wake up", "asst at once", "user go", "asst +a", "result a ok"]);
}

//
#[tokio::test]
async fn a_submitted_turn_gives_its_answer_or_says_why_not() {
    let model = ScriptedModel::new([
        calls([call("a", "work", json!({}))]),
        says("done"),
        fails(ModelErrorKind::Auth, "no key"),
        Answer::Hangs(text_events("hm")),
    ]);
    let session = session(&model, &MemoryLog::new());
    assert_eq!(session.submit_turn("hi").await.unwrap().text(), "done");
    let failed = session.submit_turn("hi").await;
    assert!(matches!(failed, Err(AgentError::Model(error)) if error.kind == ModelErrorKind::Auth));
    assert_eq!(session.agent().state().error_message.as_deref(), Some("no key"));
    let aborts = async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        session.agent().abort();
    };
    let (aborted, ()) = tokio::join!(session.submit_turn("hi"), aborts);
    assert!(matches!(aborted, Err(AgentError::Aborted)), "{aborted:?}");
}

/// A model that looks up, at the moment it is asked, what the session says then.
struct Compares {
    inner: Arc<ScriptedModel>,
    log: Arc<MemoryLog>,
    compared: std::sync::Mutex<usize>,
}

impl capstan_ports::Model for Compares {
    fn info(&self) -> &capstan_ports::ModelInfo {
        self.inner.info()
    }

    fn stream(&self, request: capstan_ports::ModelRequest) -> capstan_ports::ModelStream {
        let as_user = |message: &Arc<Message>| match message.as_ref() {
            Message::Custom(custom) => Message::User(custom.to_user()),
            other => other.clone(),
        };
        let said: Vec<_> = self.log.context().unwrap().messages.iter().map(as_user).collect();
        let sent: Vec<_> = request.messages.iter().map(|message| message.as_ref().clone()).collect();
        assert_eq!(sent, said);
        *self.compared.lock().unwrap() += 1;
        self.inner.stream(request)
    }
}

// 001-061, 001-062, 001-176: what extensions, shell commands and summaries contribute is sent, nothing private is.
#[tokio::test]
async fn a_request_is_what_the_session_says_at_that_moment() {
    use capstan_ports::entry::{BashExecution, BranchSummary};
    let log = MemoryLog::new();
    let inner = ScriptedModel::new([
        says("first"),
        calls([call("a", "work", json!({}))]),
        says("done"),
        says("sum"),
        says("else"),
    ]);
    let model = Arc::new(Compares { inner, log: log.clone(), compared: std::sync::Mutex::default() });
    let session = AgentSession::open(AgentLoopConfig::new(model.clone()), log.clone()).unwrap();
    session.agent().set_tool_registry(registry([TestTool::echo(), work(&log)]));
    session.append_custom(CustomMessage::new("note", "mind this")).await.unwrap();
    session.append_custom_entry("private", Some(json!("never seen"))).await.unwrap();
    session.prompt_text("hi").await.unwrap();
    let bash = |command: &str, exclude_from_context| BashExecution {
        command: command.into(),
        output: "out".into(),
        exit_code: Some(1),
        cancelled: false,
        truncated: false,
        full_output_path: None,
        exclude_from_context,
        timestamp: 1,
    };
    session.record_bash(bash("ls", false)).await.unwrap();
    session.record_bash(bash("env", true)).await.unwrap();
    log.append(EntryKind::BranchSummary(BranchSummary {
        from_id: "root".into(),
        summary: "elsewhere".into(),
        details: None,
        from_hook: None,
    }))
    .await
    .unwrap();
    session.agent().follow_up(Message::Custom(CustomMessage::new("note", "later")));
    session.prompt_text("work").await.unwrap();
    assert_eq!(*model.compared.lock().unwrap(), 4);
    let sent = model.inner.sent().concat().join("\n");
    for told in ["mind this", "Ran `ls`", "elsewhere", "later"] {
        assert!(sent.contains(told), "{told}");
    }
    assert!(!sent.contains("never seen") && !sent.contains("env"));
    // The agent's own list is what was said; the rest is what the session tells a model besides.
    assert_eq!(log.transcript().unwrap().len(), 7);
}

// 001-068: each way to say something ends in the session, in the order in which it was said.
#[tokio::test]
async fn every_way_to_say_something_is_recorded() {
    let log = MemoryLog::new();
    let model = ScriptedModel::new([
        says("one"),
        says("two"),
        says("three"),
        calls([call("a", "steer", json!({}))]),
        says("four"),
        says("five"),
        says("six"),
    ]);
    let session = AgentSession::open(config(&model), log.clone()).unwrap();
    let steerer = session.clone();
    let tool = TestTool::new("steer", move |_, _| {
        steerer.steer_text("left");
        steerer.follow_up_text("then");
        async { Ok(ToolOutcome::text("ok")) }
    });
    session.agent().set_tool_registry(registry([tool]));
    session.prompt_text("a text").await.unwrap();
    session.prompt(vec![Message::user("a message")]).await.unwrap();
    session.prompt(vec![Message::user("some"), Message::user("messages")]).await.unwrap();
    session.submit_turn("steer").await.unwrap();
    session.steer_text("waits");
    session.continue_run().await.unwrap();
    let said = [
        "user a text",
        "asst one",
        "user a message",
        "asst two",
        "user some",
        "user messages",
        "asst three",
        "user steer",
        "asst +a",
        "result a ok",
        "user left",
        "asst four",
        "user then",
        "asst five",
        "user waits",
        "asst six",
    ];
    assert_eq!(shorts(&log.transcript().unwrap()), said);
    assert_eq!(shorts(&session.agent().state().messages), said);
    assert!(matches!(session.continue_run().await, Err(AgentError::ContinueFromAssistant)));
    assert_eq!(log.operations().last().unwrap(), "commit");
}

// 001-072
#[tokio::test]
async fn a_failed_and_an_aborted_answer_stay_in_the_session_and_are_not_sent() {
    let log = MemoryLog::new();
    let model = ScriptedModel::new([
        fails(ModelErrorKind::Auth, "no key"),
        Answer::Hangs(text_events("half")),
        says("whole"),
    ]);
    let session = session(&model, &log);
    session.prompt_text("first").await.unwrap();
    let aborts = async {
        while model.sent().len() < 2 {
            tokio::task::yield_now().await;
        }
        session.agent().abort();
    };
    let (aborted, ()) = tokio::join!(session.prompt_text("second"), aborts);
    aborted.unwrap();
    session.prompt_text("third").await.unwrap();
    assert_eq!(model.sent()[2], ["user first", "user second", "user third"]);
    let reasons = |message: &Arc<Message>| match message.as_ref() {
        Message::Assistant(answer) => Some(answer.stop_reason),
        _ => None,
    };
    use capstan_ports::StopReason::{Aborted, Error, Stop};
    let kept: Vec<_> = log.transcript().unwrap().iter().filter_map(reasons).collect();
    assert_eq!(kept, [Error, Aborted, Stop]);
    // So it is after reopening.
    let reopened = AgentSession::open(config(&ScriptedModel::new([])), log).unwrap();
    assert_eq!(reopened.agent().state().messages.len(), 6);
}

// What an extension holds is the conversation, whichever session it is in.
#[tokio::test]
async fn an_extensions_handle_follows_to_another_session() {
    use crate::{CodingExtension, ExtensionRuntime};
    let held: Arc<std::sync::Mutex<Option<AgentSession>>> = Arc::default();
    let keep = held.clone();
    let extension = CodingExtension::new("keeps").with_on_start(move |context| {
        *keep.lock().unwrap() = Some(context.session.clone());
        async { Ok(()) }
    });
    let mut runtime = ExtensionRuntime::new();
    runtime.register(Arc::new(extension)).unwrap();
    let model = ScriptedModel::new([says("a"), says("b")]);
    let (first, second) = (MemoryLog::new(), MemoryLog::named("s2"));
    let opened = runtime.open(config(&model), first.clone(), Vec::new()).await.unwrap();
    opened.session.prompt_text("hi").await.unwrap();
    let held = held.lock().unwrap().clone().unwrap();
    opened.session.switch(second.clone()).await.unwrap();
    held.append_custom_entry("state", Some(json!(1))).await.unwrap();
    held.prompt_text("there").await.unwrap();
    assert_eq!(held.id(), second.id().clone());
    assert_eq!((first.entries().len(), second.entries().len()), (2, 3));
    assert_eq!(model.sent()[1], ["user there"]);
    assert_eq!(model.requests.lock().unwrap()[1].session_id.as_ref(), Some(second.id()));
}

#[tokio::test]
async fn hooks_hear_that_one_session_ended_and_another_began() {
    use crate::recording_tests::{Notes, StageHook};
    use capstan_ports::Hook;
    let notes = Arc::new(Notes::default());
    let session = session(&ScriptedModel::new([says("a"), says("b")]), &MemoryLog::new());
    let hook = crate::HookChain::new([Arc::new(StageHook::new("h", &notes)) as Arc<dyn Hook>]);
    session.agent().configure(|config| config.hooks.replace(hook));
    // Nobody heard of the first one yet.
    session.switch(MemoryLog::named("s2")).await.unwrap();
    session.prompt_text("hi").await.unwrap();
    session.switch(MemoryLog::named("s3")).await.unwrap();
    session.prompt_text("hi").await.unwrap();
    let lines = notes.take().await;
    let told: Vec<_> = lines.iter().filter_map(|line| line.strip_prefix("H(SessionLifecycle ")).collect();
    assert_eq!(told, ["s2 Start)", "s2 End)", "s3 Start)"]);
}
