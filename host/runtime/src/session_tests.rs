use super::*;
use crate::scripted_tests::*;
use crate::{AgentConfig, InMemoryStore};
use capstan_agent::HookRegistry;
use capstan_ports::permission::{CallAccess, Permission, PermissionPort};
use capstan_ports::{AgentEvent, Content, StopReason, ToolCall};
use capstan_provider::{Answer, ScriptedModel};
use capstan_session::MemorySession;
use futures::StreamExt;
use serde_json::json;
use std::path::Path;

fn tool_names(model: &ScriptedModel, request: usize) -> Vec<String> {
    model.requests()[request].tools.iter().map(|tool| tool.name.clone()).collect()
}

fn over(model: &ScriptedModel, role: Arc<dyn Agent>) -> (AgentSession, Arc<Notes>) {
    let notes = Arc::default();
    let bundle = builder(model, &notes).build().unwrap();
    (AgentSession::new("s1", role, Arc::new(bundle)), notes)
}

// 004-001, 004-008
#[tokio::test]
async fn sessions_that_share_a_role_keep_their_own_state() {
    let role: Arc<dyn Agent> = Role::named("clerk", "be kind");
    let shared = role.clone();
    assert_eq!(std::thread::spawn(move || shared.name().to_owned()).join().unwrap(), "clerk");
    let model = ScriptedModel::new(["a", "b", "c"].map(text));
    let bundle = Arc::new(builder(&model, &Arc::default()).build().unwrap());
    let mut one = AgentSession::new("one", role.clone(), bundle.clone());
    let mut two = AgentSession::new("two", role.clone(), bundle);
    one.submit_turn("1").await.unwrap();
    one.session_memory().set("k", "v").await.unwrap();
    two.submit_turn("2").await.unwrap();
    one.submit_turn("3").await.unwrap();
    assert_eq!((one.turn_index(), two.turn_index()), (2, 1));
    assert_eq!((one.cost_so_far().calls, two.cost_so_far().calls), (2, 1));
    assert_eq!(two.session_memory().get("k").await.unwrap(), None);
    assert_eq!(sent(&model)[1], ["user 2"]);
    assert!(Arc::ptr_eq(&one.agent, &two.agent));
}

// 004-003
#[tokio::test]
async fn the_prompt_is_the_roles_or_none() {
    let model = ScriptedModel::new(["a", "b"].map(text));
    over(&model, Role::named("clerk", "be kind")).0.submit_turn("hi").await.unwrap();
    over(&model, Role::with_only(&[])).0.submit_turn("hi").await.unwrap();
    let systems: Vec<String> = model.requests().into_iter().map(|request| request.system).collect();
    assert_eq!(systems, ["be kind", ""]);
}

// 004-004, 004-005, 004-132
#[tokio::test]
async fn a_role_exposes_all_tools_or_the_ones_it_names() {
    /// Leaves the choice of tools to the trait.
    struct Plain;
    impl Agent for Plain {
        fn name(&self) -> &str {
            "plain"
        }

        fn system_prompt(&self) -> Option<&str> {
            None
        }
    }
    let model = ScriptedModel::new(["a", "b"].map(text));
    let notes = Arc::default();
    let registry = tools(&["add", "drop", "list"], &notes);
    let bundle = Arc::new(builder(&model, &notes).tool_registry(registry.clone()).build().unwrap());
    AgentSession::new("s", Arc::new(Plain), bundle.clone()).submit_turn("hi").await.unwrap();
    AgentSession::new("s", Role::with_only(&["list"]), bundle).submit_turn("hi").await.unwrap();
    assert_eq!(tool_names(&model, 0), ["add", "drop", "list"]);
    assert_eq!(tool_names(&model, 1), ["list"]);
    assert_eq!(registry.list().len(), 3, "the registry is not the role's to change");
    assert!(registry.register(tool("add", &notes)).is_err(), "a name is given once");
    assert!(registry.get("add").is_some() && registry.get("Add").is_none());
}

// 004-006
#[tokio::test]
async fn a_tool_that_the_role_leaves_out_is_not_run() {
    let script = || ScriptedModel::new([call("drop"), text("done")]);
    for (role, runs) in [(Role::with_only(&["add", "drop"]), true), (Role::with_only(&["add"]), false)] {
        let model = script();
        let (mut session, notes) = over(&model, role);
        session.submit_turn("hi").await.unwrap();
        assert_eq!(notes.take().contains(&"run drop".to_owned()), runs);
        let result = sent(&model)[1].last().unwrap().clone();
        assert_eq!(result, if runs { "toolResult {\"n\":1}" } else { "toolResult Tool drop not found" });
    }
}

// 004-005
#[tokio::test]
async fn a_role_may_describe_a_tool_but_not_invent_one_or_loosen_what_it_takes() {
    struct Inventive(&'static str);
    impl Agent for Inventive {
        fn name(&self) -> &str {
            "inventive"
        }

        fn system_prompt(&self) -> Option<&str> {
            None
        }

        fn tool_definitions(&self, bundle: &RuntimeBundle) -> Vec<capstan_ports::ToolDefinition> {
            let own = bundle.tool_registry.list()[0].clone();
            let (name, description) = (self.0.to_owned(), "in my words".to_owned());
            vec![capstan_ports::ToolDefinition { name, description, parameters: json!(true), ..own }]
        }
    }
    let model = ScriptedModel::new([call("add"), text("done")]);
    let (mut session, notes) = over(&model, Arc::new(Inventive("add")));
    session.submit_turn("hi").await.unwrap();
    let shown = &model.requests()[0].tools[0];
    assert_eq!((&*shown.description, &shown.parameters), ("in my words", &json!({"type": "object"})));
    assert_eq!(notes.take(), ["run add"]);
    session.agent = Arc::new(Inventive("fly"));
    let error = session.submit_turn("hi").await.unwrap_err();
    assert!(
        matches!(&error, AgentError::Config(text) if text.contains("inventive") && text.contains("`fly`"))
    );
    assert_eq!(model.requests().len(), 2);
}

// 004-040, 004-042, 004-043, 004-158
#[tokio::test]
async fn a_turn_answers_what_the_model_said_last() {
    let model = ScriptedModel::new([text("hello").with_thinking("hm"), text("again")]);
    let (mut session, _) = over(&model, Role::named("clerk", "be kind"));
    assert_eq!((session.session_id.as_str(), session.agent.name(), session.turn_index()), ("s1", "clerk", 0));
    assert_eq!(session.cost_so_far(), CostTracker::default());
    assert_eq!(session.session_memory().namespace(), "_session_s1");
    let answer: ChatResponse = session.submit_turn("a str").await.unwrap();
    assert_eq!((answer.text().as_str(), answer.stop_reason), ("hello", StopReason::Stop));
    assert_eq!(answer.reasoning().as_deref(), Some("hm"));
    assert_eq!(session.submit_turn(String::from("a String")).await.unwrap().text(), "again");
}

// 004-044, 004-130, 004-131 (X19)
#[tokio::test]
async fn a_request_holds_prompt_history_and_tools() {
    let model = ScriptedModel::new([text("one"), text("two")]);
    let (mut session, _) = over(&model, Role::named("clerk", "be kind"));
    session.submit_turn("first").await.unwrap();
    session.submit_turn("second").await.unwrap();
    assert_eq!(sent(&model), [vec!["user first"], vec!["user first", "assistant one", "user second"]]);
    let last = &model.requests()[1];
    assert_eq!((last.system.as_str(), tool_names(&model, 1)), ("be kind", vec!["add".into(), "drop".into()]));
    assert_eq!(last.session_id, Some(SessionId::new("s1")));
    assert_eq!(said(&session.messages().unwrap()).len(), 4);
}

// 004-045, 004-131
#[tokio::test]
async fn a_tool_round_is_part_of_its_turn() {
    let model = ScriptedModel::new([call("add"), text("done")]);
    let (mut session, notes) = over(&model, Role::named("clerk", "be kind"));
    assert_eq!(session.submit_turn("hi").await.unwrap().text(), "done");
    assert_eq!((notes.take(), model.requests().len(), session.turn_index()), (vec!["run add".into()], 2, 1));
    assert_eq!(sent(&model)[1], ["user hi", "assistant  +add", "toolResult {\"n\":1}"]);
}

// 004-054
#[tokio::test]
async fn another_role_goes_on_with_the_same_conversation() {
    let model = ScriptedModel::new(["one", "two"].map(text));
    let (mut session, _) = over(&model, Role::named("clerk", "be kind"));
    session.submit_turn("first").await.unwrap();
    session.agent = Arc::new(Role { name: "judge", prompt: Some("be stern"), only: Some(&["drop"]) });
    session.submit_turn("second").await.unwrap();
    let last = &model.requests()[1];
    assert_eq!((last.system.as_str(), tool_names(&model, 1)), ("be stern", vec!["drop".to_owned()]));
    assert_eq!(sent(&model)[1], ["user first", "assistant one", "user second"]);
}

// 004-055, 004-136
#[tokio::test]
async fn a_stream_shows_the_turn_as_it_happens_and_ends_in_the_same_answer() {
    let script = || ScriptedModel::new([call("add").with_text("let me see"), text("it is three")]);
    let (mut plain, _) = over(&script(), Role::named("clerk", "be kind"));
    let mut wanted = plain.submit_turn("hi").await.unwrap();
    let (mut session, _) = over(&script(), Role::named("clerk", "be kind"));
    let mut stream = session.submit_turn_streaming("hi", &CancellationToken::new());
    let (mut deltas, mut kinds) = (String::new(), Vec::new());
    while let Some(event) = stream.next().await {
        if let AgentEvent::MessageUpdate { assistant_message_event, .. } = &event
            && let capstan_ports::AssistantEvent::TextDelta { delta, .. } = assistant_message_event
        {
            deltas.push_str(delta);
        }
        kinds.push(serde_json::to_value(&event).unwrap()["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(deltas, "let me seeit is three");
    let at = |kind: &str| kinds.iter().position(|found| found == kind);
    assert_eq!((at("agent_start"), kinds.last().map(String::as_str)), (Some(0), Some("agent_end")));
    assert!(at("tool_execution_start") < at("tool_execution_end") && at("tool_execution_start").is_some());
    let answer = stream.response().await.unwrap();
    wanted.timestamp = answer.timestamp;
    assert_eq!(answer, wanted);
    assert_eq!((session.turn_index(), session.cost_so_far().calls), (1, 2));
}

// 004-055, 004-057
#[tokio::test]
async fn a_stream_that_is_not_read_to_its_end_ends_the_turn() {
    let model = ScriptedModel::new([Answer::call("add", json!({"hang": true})), text("two")]);
    let (mut session, notes) = over(&model, Role::named("clerk", "be kind"));
    let mut stream = session.submit_turn_streaming("hi", &CancellationToken::new());
    while !notes.has("run add") {
        tokio::select! {
            event = stream.next() => assert!(event.is_some()),
            () = until(|| notes.has("run add")) => {}
        }
    }
    drop(stream);
    until(|| notes.has("ended add")).await;
    assert_eq!((session.turn_index(), session.messages().unwrap().len()), (0, 0));
    let stream = session.submit_turn_streaming("ho", &CancellationToken::new());
    assert!(stream.response().await.is_ok());
    assert_eq!(session.turn_index(), 1);
}

// 004-056, 004-069, 004-070, 004-072
#[tokio::test]
async fn contexts_of_one_session_tell_each_other_facts_and_not_what_was_said() {
    let model = ScriptedModel::new(["a", "b", "c"].map(text));
    let shared = || builder(&model, &Arc::default());
    let backend = Arc::new(InMemoryStore::new());
    let with = |id: &str, role| {
        let bundle = shared().session_memory_backend(backend.clone()).build().unwrap();
        AgentSession::new(id, role, Arc::new(bundle))
    };
    let mut build = with("s1", Role::named("build", "you build"));
    build.submit_turn("a secret").await.unwrap();
    build.session_memory().set("design", "use SQLite").await.unwrap();
    let mut plan = with("s1", Role::named("plan", "you plan"));
    plan.submit_turn("go on").await.unwrap();
    let request = &model.requests()[1];
    assert_eq!(request.system, "you plan\n\n<session-context>\ndesign: use SQLite\n</session-context>");
    assert_eq!(sent(&model)[1], ["user go on"]);
    let mut other = with("s2", Role::named("plan", "you plan"));
    other.submit_turn("go on").await.unwrap();
    assert_eq!(model.requests()[2].system, "you plan");
    // Without a backend each session has its own facts, whatever its id.
    let alone = || AgentSession::new("s1", Role::named("x", "y"), Arc::new(shared().build().unwrap()));
    let (one, two) = (alone(), alone());
    one.session_memory().set("k", "v").await.unwrap();
    assert_eq!(two.session_memory().get("k").await.unwrap(), None);
}

/// Denies one tool.
struct Denies(&'static str);

#[async_trait::async_trait]
impl PermissionPort for Denies {
    async fn decide(&self, _: &TurnContext, call: &ToolCall, _: &CallAccess) -> Permission {
        if call.name == self.0 { Permission::Deny("ask Ann first".into()) } else { Permission::Allow }
    }

    async fn ask(&self, _: &TurnContext, _: &ToolCall, _: &str, question: &str) -> Permission {
        Permission::Deny(question.to_owned())
    }
}

// 004-058
#[tokio::test]
async fn a_denied_call_is_not_run_and_the_model_reads_why() {
    for (denied, runs) in [("drop", true), ("add", false)] {
        let model = ScriptedModel::new([call("add"), text("done")]);
        let notes = Arc::default();
        let mut session = session(builder(&model, &notes).permissions(Arc::new(Denies(denied))));
        assert_eq!(session.submit_turn("hi").await.unwrap().text(), "done");
        assert_eq!(notes.take().contains(&"run add".to_owned()), runs);
        assert_eq!(sent(&model)[1][2].contains("ask Ann first"), !runs);
    }
}

// 004-044: with a log the conversation outlives the object.
#[tokio::test]
async fn a_session_over_a_log_is_continued_from_it() {
    let log: Arc<dyn SessionLog> = Arc::new(MemorySession::new(Path::new(".")));
    let model = ScriptedModel::new([call("add"), text("one"), text("two")]);
    let open = || {
        let bundle = Arc::new(builder(&model, &Arc::default()).build().unwrap());
        AgentSession::over_log(Role::named("clerk", "be kind"), bundle, log.clone()).unwrap()
    };
    let mut first = open();
    assert_eq!((first.session_id.as_str(), first.turn_index()), (log.id().as_str(), 0));
    first.submit_turn("first").await.unwrap();
    drop(first);
    let mut second = open();
    assert_eq!(second.turn_index(), 1);
    second.submit_turn("second").await.unwrap();
    assert_eq!(
        sent(&model)[2][..4],
        ["user first", "assistant  +add", "toolResult {\"n\":1}", "assistant one"]
    );
    assert_eq!(said(&log.transcript().unwrap()).len(), 6);
}

// 004-154 (NF5), 004-158: every part is the program's own.
#[tokio::test]
async fn each_part_can_be_replaced() {
    let model = ScriptedModel::new([Answer::call("add", json!({})), text("done")]);
    let notes = Arc::default();
    let bundle = crate::AgentBuilder::new()
        .provider(Arc::new(model))
        .tool_registry(tools(&["add"], &notes))
        .hook_executor(hooks([NotingHook::new(&notes)]))
        .memory_store(Arc::new(InMemoryStore::new()))
        .session_memory_backend(Arc::new(InMemoryStore::new()))
        .permissions(Arc::new(Denies("drop")))
        .config(AgentConfig { max_turns: 1, ..AgentConfig::default() })
        .build()
        .unwrap();
    let mut session = AgentSession::new("s", Role::with_only(&["add"]), Arc::new(bundle));
    assert_eq!(session.submit_turn("hi").await.unwrap().content, [Content::text("done")]);
    assert!(session.submit_turn("hi").await.is_err());
    let _: &Arc<HookRegistry> = &session.bundle().hook_executor;
    assert!(notes.take().contains(&"run add".to_owned()));
}
