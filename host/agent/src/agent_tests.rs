use super::*;
use crate::scripted_tests::*;
use capstan_ports::{ModelErrorKind, ToolOutcome};
use serde_json::json;
use std::time::{Duration, Instant};

fn agent(model: &Arc<ScriptedModel>, tools: impl IntoIterator<Item = TestTool>) -> Agent {
    let agent = Agent::new(model.clone());
    agent.set_tool_registry(registry(tools));
    agent
}

/// Folds the events that it is told into a state, and compares with the agent's own at each event.
struct Folds {
    agent: Agent,
    folded: Mutex<AgentState>,
    seen: Recorder,
}

#[async_trait]
impl EventSink for Folds {
    async fn emit(&self, event: AgentEvent) {
        let mut folded = self.folded.lock().unwrap().clone();
        folded.is_streaming = true;
        folded.reduce(&event);
        // 000-075, 000-076, 000-077, 000-079
        assert_eq!(self.agent.state(), folded);
        *self.folded.lock().unwrap() = folded;
        self.seen.emit(event).await;
    }
}

fn folding(agent: &Agent) -> Arc<Folds> {
    let folds = Arc::new(Folds { agent: agent.clone(), folded: Mutex::default(), seen: Recorder::default() });
    agent.subscribe(folds.clone());
    folds
}

// 000-005, 000-006, 000-074, 000-075, 000-076, 000-077, 000-079, 000-100, 000-101, 000-185
#[tokio::test]
async fn folding_the_events_gives_the_state_over_two_prompts() {
    let model = ScriptedModel::new([
        calls([call("a", "echo", json!({})), call("b", "nope", json!({}))]),
        says("first"),
        says("second"),
    ]);
    let agent = agent(&model, [TestTool::echo()]);
    assert_eq!(agent.state(), AgentState::default());
    let folds = folding(&agent);
    agent.prompt_text("hello").await.unwrap();
    agent.prompt_text("again").await.unwrap();
    let state = agent.state();
    assert_eq!(
        shorts(&state.messages),
        [
            "user hello",
            "asst +a+b",
            "result a {}",
            "result! b Tool nope not found",
            "asst first",
            "user again",
            "asst second"
        ]
    );
    assert!(!state.is_streaming && state.pending_tool_calls.is_empty());
    assert_eq!(folds.folded.lock().unwrap().messages, state.messages);
    assert_eq!(folds.seen.count("agent_end"), 2);
    assert_eq!(model.sent()[2].last().unwrap(), "user again");
}

// 000-102
#[tokio::test]
async fn each_message_of_a_prompt_begins_and_ends_before_the_first_request() {
    let agent = agent(&ScriptedModel::new([says("ok")]), []);
    let folds = folding(&agent);
    agent.prompt(vec![Message::user("a"), Message::user("b")]).await.unwrap();
    assert_eq!(
        folds.seen.trace()[2..6],
        ["message_start (user a)", "message_end (user a)", "message_start (user b)", "message_end (user b)"]
    );
}

// 000-078, 000-150, 000-187
#[tokio::test]
async fn a_failure_is_kept_as_a_message_and_cleared_by_the_next_run() {
    let model = ScriptedModel::new([fails(ModelErrorKind::Auth, "no key"), says("ok")]);
    let agent = agent(&model, []);
    agent.prompt_text("hi").await.unwrap();
    assert_eq!(agent.state().error_message.as_deref(), Some("no key"));
    assert_eq!(shorts(&agent.state().messages), ["user hi", "asst! no key"]);
    agent.prompt_text("hi").await.unwrap();
    assert_eq!(agent.state().error_message, None);
}

// 000-108, 000-080
#[tokio::test]
async fn a_second_run_a_reset_and_new_messages_are_refused_during_a_run() {
    let model = ScriptedModel::new([calls([call("a", "intrude", json!({}))]), says("done")]);
    let agent = Agent::new(model.clone());
    let intruder = agent.clone();
    let tool = TestTool::new("intrude", move |_, _| {
        let agent = intruder.clone();
        async move {
            assert!(matches!(agent.prompt_text("me too").await, Err(AgentError::AlreadyRunning)));
            assert!(matches!(agent.continue_run().await, Err(AgentError::AlreadyRunning)));
            assert!(matches!(agent.reset(), Err(AgentError::AlreadyRunning)));
            assert!(matches!(agent.set_messages(Vec::new()), Err(AgentError::AlreadyRunning)));
            Ok(ToolOutcome::text("refused"))
        }
    });
    agent.set_tool_registry(registry([tool]));
    agent.prompt_text("hi").await.unwrap();
    assert_eq!(shorts(&agent.state().messages), ["user hi", "asst +a", "result a refused", "asst done"]);
    agent.follow_up(Message::user("x"));
    agent.reset().unwrap();
    assert_eq!(agent.state(), AgentState::default());
    assert!(!agent.has_queued_messages());
}

// 000-106, 000-186
#[tokio::test]
async fn continuing_after_an_answer_runs_queued_steering_one_message_at_a_time() {
    let model = ScriptedModel::new([says("0"), says("1"), says("2")]);
    let agent = agent(&model, []);
    agent.prompt_text("hi").await.unwrap();
    agent.steer(Message::user("one"));
    agent.steer(Message::user("two"));
    let added = agent.continue_run().await.unwrap();
    assert_eq!(shorts(&added), ["user one", "asst 1", "user two", "asst 2"]);
    assert_eq!(model.sent()[1], ["user hi", "asst 0", "user one"]);
}

// 000-107
#[tokio::test]
async fn continuing_after_an_answer_falls_back_to_follow_ups_or_is_refused() {
    let agent = agent(&ScriptedModel::new([says("0"), says("1")]), []);
    assert!(matches!(agent.continue_run().await, Err(AgentError::ContinueWithoutMessages)));
    agent.prompt_text("hi").await.unwrap();
    assert!(matches!(agent.continue_run().await, Err(AgentError::ContinueFromAssistant)));
    agent.follow_up(Message::user("more"));
    assert_eq!(shorts(&agent.continue_run().await.unwrap()), ["user more", "asst 1"]);
}

// 000-060
#[test]
fn clearing_one_queue_leaves_the_other() {
    let agent = Agent::new(ScriptedModel::new([]));
    agent.steer(Message::user("s"));
    agent.follow_up(Message::user("f"));
    agent.clear_steering_queue();
    assert!(agent.has_queued_messages());
    agent.clear_follow_up_queue();
    assert!(!agent.has_queued_messages());
    agent.steer(Message::user("s"));
    agent.follow_up(Message::user("f"));
    agent.clear_all_queues();
    assert!(!agent.has_queued_messages());
}

// 000-055
#[tokio::test]
async fn steering_never_skips_calls_that_were_asked_for() {
    let model = ScriptedModel::new([
        calls([call("a", "steer", json!({})), call("b", "echo", json!({}))]),
        says("done"),
    ]);
    let agent = Agent::new(model.clone());
    let steered = agent.clone();
    let tool = TestTool::new("steer", move |_, _| {
        steered.steer(Message::user("stop"));
        async { Ok(ToolOutcome::text("ok")) }
    });
    agent.set_tool_registry(registry([tool.sequential(), TestTool::echo()]));
    agent.prompt_text("hi").await.unwrap();
    assert_eq!(model.sent()[1][2..], ["result a ok", "result b {}", "user stop"]);
}

// 000-061, 000-163
#[tokio::test]
async fn queues_survive_an_abort_and_are_delivered_by_continuing() {
    let model = ScriptedModel::new([Answer::Hangs(text_events("well")), says("more")]);
    let agent = agent(&model, []);
    agent.abort();
    agent.follow_up(Message::user("and then"));
    let running = tokio::spawn({
        let agent = agent.clone();
        async move { agent.prompt_text("hi").await }
    });
    while agent.state().streaming_message.is_none() {
        tokio::task::yield_now().await;
    }
    let started = Instant::now();
    agent.abort();
    agent.wait_for_idle().await;
    assert!(started.elapsed() < Duration::from_millis(500));
    assert_eq!(shorts(&running.await.unwrap().unwrap()), ["user hi", "asst! wellOperation aborted"]);
    assert!(agent.has_queued_messages());
    assert_eq!(shorts(&agent.continue_run().await.unwrap()), ["user and then", "asst more"]);
    // The aborted answer is not sent again.
    assert_eq!(model.sent()[1], ["user hi", "user and then"]);
}

struct Slow {
    name: &'static str,
    order: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl EventSink for Slow {
    async fn emit(&self, event: AgentEvent) {
        tokio::time::sleep(Duration::from_millis(3)).await;
        if let AgentEvent::AgentEnd { .. } | AgentEvent::AgentStart = event {
            let kind = serde_json::to_value(&event).unwrap()["type"].as_str().unwrap().to_owned();
            self.order.lock().unwrap().push(format!("{} {kind}", self.name));
        }
    }
}

// 000-111, 000-165
#[tokio::test]
async fn listeners_are_awaited_in_order_and_idle_means_they_are_done() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let agent = agent(&ScriptedModel::new([says("ok")]), []);
    for name in ["a", "b"] {
        agent.subscribe(Arc::new(Slow { name, order: order.clone() }));
    }
    let running = tokio::spawn({
        let agent = agent.clone();
        async move { agent.prompt_text("hi").await }
    });
    while !agent.state().is_streaming {
        tokio::task::yield_now().await;
    }
    agent.wait_for_idle().await;
    assert_eq!(*order.lock().unwrap(), ["a agent_start", "b agent_start", "a agent_end", "b agent_end"]);
    assert!(!agent.state().is_streaming);
    running.await.unwrap().unwrap();
}

struct Leaves {
    agent: Agent,
    id: Mutex<Option<SubscriptionId>>,
    events: Recorder,
}

#[async_trait]
impl EventSink for Leaves {
    async fn emit(&self, event: AgentEvent) {
        self.events.emit(event).await;
        if let Some(id) = *self.id.lock().unwrap() {
            self.agent.unsubscribe(id);
        }
    }
}

// 000-109
#[tokio::test]
async fn a_listener_can_leave_while_it_is_told() {
    let agent = agent(&ScriptedModel::new([says("ok")]), []);
    let leaves = Arc::new(Leaves { agent: agent.clone(), id: Mutex::default(), events: Recorder::default() });
    *leaves.id.lock().unwrap() = Some(agent.subscribe(leaves.clone()));
    let stays = folding(&agent);
    agent.prompt_text("hi").await.unwrap();
    assert_eq!(leaves.events.trace(), ["agent_start"]);
    assert_eq!(stays.seen.count("agent_end"), 1);
}

struct Panics;

#[async_trait]
impl EventSink for Panics {
    async fn emit(&self, event: AgentEvent) {
        if let AgentEvent::TurnStart = event {
            panic!("cannot draw");
        }
    }
}

// 000-157
#[tokio::test]
async fn a_panicking_listener_ends_the_run_and_the_others_hear_of_it() {
    let agent = agent(&ScriptedModel::new([says("ok")]), []);
    agent.subscribe(Arc::new(Panics));
    let other = folding(&agent);
    assert!(matches!(agent.prompt_text("hi").await, Err(AgentError::Listener { .. })));
    assert_eq!((other.seen.count("turn_start"), other.seen.count("agent_end")), (1, 1));
    let state = agent.state();
    assert!(state.error_message.unwrap().contains("cannot draw"));
    assert!(!state.is_streaming);
}

// 003-035
#[tokio::test]
async fn dropping_a_run_frees_the_agent() {
    let model = ScriptedModel::new([Answer::Hangs(text_events("well")), says("ok")]);
    let agent = agent(&model, []);
    let dropped = tokio::time::timeout(Duration::from_millis(20), agent.prompt_text("hi")).await;
    assert!(dropped.is_err());
    let state = agent.state();
    assert_eq!((state.is_streaming, state.streaming_message), (false, None));
    agent.wait_for_idle().await;
    agent.prompt_text("again").await.unwrap();
    assert_eq!(model.sent()[1], ["user hi", "user again"]);
}

// 000-070, 000-071, 000-073
#[tokio::test]
async fn settings_count_from_the_next_run() {
    let first = ScriptedModel::new([calls([call("a", "change", json!({}))]), says("one")]);
    let second = ScriptedModel::new([says("two")]);
    let agent = Agent::new(first.clone());
    agent.set_system_prompt("old");
    let (changed, next) = (agent.clone(), second.clone());
    let tool = TestTool::new("change", move |_, _| {
        changed.set_system_prompt("new");
        let next = next.clone();
        changed.configure(|config| config.model = next);
        async { Ok(ToolOutcome::text("ok")) }
    });
    agent.set_tool_registry(registry([tool]));
    agent.prompt_text("hi").await.unwrap();
    agent.prompt_text("hi").await.unwrap();
    let systems = |model: &ScriptedModel| -> Vec<String> {
        model.requests.lock().unwrap().iter().map(|request| request.system.clone()).collect()
    };
    assert_eq!((systems(&first), systems(&second)), (vec!["old".into(), "old".into()], vec!["new".into()]));
    let twice = [TestTool::echo(), TestTool::echo()].map(|tool| Arc::new(tool) as Arc<dyn Tool>);
    assert!(matches!(agent.set_tools(twice), Err(AgentError::DuplicateTool { .. })));
    assert_eq!(agent.tools().list()[0].name, "change");
}
