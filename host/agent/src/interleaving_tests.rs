//! Random runs: whatever the model, the tools, the gates and the user do and in whichever order, events pair, the
//! transcript stays acceptable and the agent ends up idle.

use crate::config::Limits;
use crate::queue::QueueMode;
use crate::scripted_tests::*;
use crate::{AgentSession, AgentState, HookChain, ToolExecutionMode, repair};
use async_trait::async_trait;
use capstan_ports::hook::HookContext;
use capstan_ports::*;
use proptest::prelude::*;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a call does while it runs.
#[derive(Debug, Clone, Copy)]
enum Act {
    Answers,
    Fails,
    Panics,
    Yields,
    Steers,
    FollowsUp,
    Aborts,
    Stalls,
    Terminates,
}

#[derive(Debug, Clone, Copy)]
enum Ruling {
    Pass,
    Rewrite,
    RewriteBadly,
    Block,
    Defer,
    Ask,
    Fail,
    Panic,
    AbortTurn,
}

/// What the hooks around a turn or a model call answer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stance {
    Proceed,
    Rewrite,
    RewriteBadly,
    Fail,
    Defer,
    Abort,
}

fn stance() -> impl Strategy<Value = Stance> {
    use Stance::*;
    prop::sample::select(vec![Proceed, Proceed, Proceed, Proceed, Rewrite, RewriteBadly, Fail, Defer, Abort])
}

/// Takes its stances one after another, whichever stage asks.
struct Moody(Mutex<VecDeque<Stance>>);

impl Moody {
    fn verdict<T>(&self, good: T, bad: T) -> Result<Verdict<T>, HookError> {
        match self.0.lock().unwrap().pop_front().unwrap_or(Stance::Proceed) {
            Stance::Proceed => Ok(Verdict::Proceed),
            Stance::Rewrite => Ok(Verdict::Rewrite(good)),
            Stance::RewriteBadly => Ok(Verdict::Rewrite(bad)),
            Stance::Fail => {
                Err(HookError::Failed { hook: "moody".into(), message: "failed".into(), source: None })
            }
            Stance::Defer => Err(HookError::Deferred { reason: "later".into() }),
            Stance::Abort => Ok(Verdict::Abort("no".into())),
        }
    }
}

#[async_trait]
impl Hook for Moody {
    fn name(&self) -> &str {
        "moody"
    }

    fn handles(&self, stage: HookStage, _tool: Option<&str>) -> bool {
        !matches!(stage, HookStage::BeforeToolCall | HookStage::AfterToolCall)
    }

    async fn before_turn(&self, _: &HookContext, input: &Message) -> Result<Verdict<Message>, HookError> {
        self.verdict(
            Message::user(format!("{}!", input.text())),
            Message::Assistant(AssistantMessage::default()),
        )
    }

    async fn before_model(
        &self,
        _: &HookContext,
        messages: &[Arc<Message>],
    ) -> Result<Verdict<Vec<Arc<Message>>>, HookError> {
        let mut good = messages.to_vec();
        good.push(user("by the way"));
        // Cut at the wrong place, which may happen to be no wrong place.
        self.verdict(good, messages[messages.len().min(2) - 1..].to_vec())
    }

    async fn after_model(
        &self,
        _: &HookContext,
        answer: &AssistantMessage,
    ) -> Result<Verdict<AssistantMessage>, HookError> {
        let kept = answer.content.iter().skip(1).cloned().collect();
        let twice = answer.content.iter().chain(&answer.content).cloned().collect();
        self.verdict(
            AssistantMessage { content: kept, ..answer.clone() },
            AssistantMessage { content: twice, ..answer.clone() },
        )
    }

    async fn turn_error(&self, _: &HookContext, _: &Failure) -> Result<(), HookError> {
        self.verdict((), ()).map(|_| ())
    }

    async fn after_turn(&self, _: &HookContext, _: &Message, _: &[Arc<Message>]) -> Result<(), HookError> {
        self.verdict((), ()).map(|_| ())
    }
}

#[derive(Debug, Clone)]
enum Step {
    Says,
    Calls(Vec<(Act, Ruling)>),
    CutOff(Act),
    Breaks,
    HangsUntilAborted,
}

fn act() -> impl Strategy<Value = Act> {
    use Act::*;
    prop::sample::select(vec![
        Answers, Answers, Answers, Fails, Panics, Yields, Yields, Steers, FollowsUp, Aborts, Stalls,
        Terminates,
    ])
}

fn verdict() -> impl Strategy<Value = Ruling> {
    use Ruling::*;
    prop::sample::select(vec![
        Pass,
        Pass,
        Pass,
        Pass,
        Pass,
        Rewrite,
        RewriteBadly,
        Block,
        Defer,
        Ask,
        Fail,
        Panic,
        AbortTurn,
    ])
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Says),
        6 => prop::collection::vec((act(), verdict()), 1..4).prop_map(Step::Calls),
        1 => act().prop_map(Step::CutOff),
        1 => Just(Step::Breaks),
        1 => Just(Step::HangsUntilAborted),
    ]
}

fn arguments(act: Act, verdict: Ruling) -> serde_json::Value {
    json!({ "act": format!("{act:?}"), "verdict": format!("{verdict:?}"), "n": 1 })
}

fn answer(round: usize, step: &Step) -> Answer {
    let id = |at: usize| format!("c{round}-{at}");
    match step {
        Step::Says => says("text"),
        Step::Calls(acts) => calls(
            acts.iter()
                .enumerate()
                .map(|(at, (act, verdict))| call(&id(at), "act", arguments(*act, *verdict))),
        ),
        Step::CutOff(act) => stops(StopReason::Length, [call(&id(0), "act", arguments(*act, Ruling::Pass))]),
        Step::Breaks => fails(ModelErrorKind::Auth, "broken"),
        Step::HangsUntilAborted => Answer::Hangs(text_events("partial")),
    }
}

fn acting(session: &AgentSession) -> TestTool {
    let agent = session.agent().clone();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    TestTool::new("act", move |call, context| {
        let agent = agent.clone();
        async move {
            match call.arguments["act"].as_str().unwrap() {
                "Fails" => return Err(ToolError::failed("failed")),
                "Panics" => panic!("panicked"),
                "Yields" => {
                    for _ in 0..3 {
                        context.progress.report(ToolOutcome::text("partial"));
                        tokio::task::yield_now().await;
                    }
                }
                "Steers" => agent.steer(Message::user("steered")),
                "FollowsUp" => agent.follow_up(Message::user("followed")),
                "Aborts" => agent.abort(),
                "Stalls" => {
                    agent.abort();
                    std::future::pending::<()>().await;
                }
                "Terminates" => return Ok(ToolOutcome { terminate: true, ..ToolOutcome::text("bye") }),
                _ => {}
            }
            Ok(ToolOutcome::text("ok"))
        }
    })
    .with_schema(schema)
}

fn judging() -> TestHook {
    TestHook::gate("judge", |call| {
        let with_n = |n: serde_json::Value| {
            let mut arguments = call.arguments.clone();
            arguments["n"] = n;
            Ok(GateVerdict::Rewrite(arguments))
        };
        match call.arguments["verdict"].as_str().unwrap() {
            "Rewrite" => with_n(json!("2")),
            "RewriteBadly" => with_n(json!("x")),
            "Block" => Ok(GateVerdict::Block("blocked".into())),
            "Defer" => Ok(GateVerdict::Defer("deferred".into())),
            "Fail" => Err(HookError::Failed { hook: "judge".into(), message: "failed".into(), source: None }),
            "Ask" => Ok(GateVerdict::Ask("sure?".into())),
            "Panic" => panic!("judge panicked"),
            "AbortTurn" => Err(HookError::Aborted { reason: "enough".into() }),
            _ => Ok(GateVerdict::Pass),
        }
    })
}

fn is_paired(messages: &[Arc<Message>]) -> bool {
    let repaired = repair(messages);
    repaired.len() == messages.len() && repaired.iter().zip(messages).all(|(a, b)| Arc::ptr_eq(a, b))
}

fn check_events(recorder: &Recorder, runs: usize) -> Result<(), TestCaseError> {
    let trace = recorder.trace();
    prop_assert_eq!(recorder.count("agent_start"), runs);
    prop_assert_eq!(recorder.count("agent_end"), runs);
    prop_assert!(trace.last().unwrap().starts_with("agent_end"));
    prop_assert_eq!(recorder.count("turn_start"), recorder.count("turn_end"));
    let (mut open_message, mut open_calls) = (false, std::collections::BTreeSet::new());
    for event in recorder.events.lock().unwrap().iter() {
        match event {
            AgentEvent::MessageStart { .. } => prop_assert!(!std::mem::replace(&mut open_message, true)),
            AgentEvent::MessageEnd { .. } => prop_assert!(std::mem::replace(&mut open_message, false)),
            AgentEvent::ToolExecutionStart { tool_call_id, .. } => {
                prop_assert!(open_calls.insert(tool_call_id.clone()));
            }
            AgentEvent::ToolExecutionUpdate { tool_call_id, .. } => {
                prop_assert!(open_calls.contains(tool_call_id))
            }
            AgentEvent::ToolExecutionEnd { tool_call_id, .. } => {
                prop_assert!(open_calls.remove(tool_call_id))
            }
            AgentEvent::TurnEnd { .. } | AgentEvent::AgentEnd { .. } => {
                prop_assert!(open_calls.is_empty() && !open_message);
            }
            AgentEvent::AgentStart
            | AgentEvent::TurnStart
            | AgentEvent::MessageUpdate { .. }
            | AgentEvent::CompactionStart { .. }
            | AgentEvent::CompactionEnd { .. } => {}
        }
    }
    Ok(())
}

/// Each turn ends once, well or badly.
#[derive(Default)]
struct TurnCounts {
    ended: Mutex<usize>,
    pending: Mutex<usize>,
}

#[async_trait]
impl ObserverPort for TurnCounts {
    async fn on_event(&self, event: &TurnEvent) {
        match event {
            TurnEvent::TurnCompleted | TurnEvent::TurnFailed { .. } => *self.ended.lock().unwrap() += 1,
            TurnEvent::ToolCallPending { .. } => *self.pending.lock().unwrap() += 1,
            TurnEvent::ToolCallResult { .. } | TurnEvent::ToolCallDeferred { .. } => {
                *self.pending.lock().unwrap() -= 1;
            }
            _ => {}
        }
    }
}

impl TurnCounts {
    fn check(&self, runs: usize) -> Result<(), TestCaseError> {
        prop_assert_eq!(*self.ended.lock().unwrap(), runs);
        prop_assert_eq!(*self.pending.lock().unwrap(), 0);
        Ok(())
    }
}

async fn play(
    steps: Vec<Step>,
    stances: Vec<Stance>,
    mode: ToolExecutionMode,
    queues: QueueMode,
) -> Result<(), TestCaseError> {
    let model = ScriptedModel::new([]);
    let log = MemoryLog::new();
    let mut config = config(&model);
    config.tool_execution = mode;
    config.limits = Limits {
        abort_grace: Duration::from_millis(2),
        max_parallel_calls: 2,
        max_tool_rounds: Some(4),
        ..Limits::default()
    };
    let moody = Moody(Mutex::new(stances.into()));
    config.hooks.replace(HookChain::new([Arc::new(judging()) as Arc<dyn Hook>, Arc::new(moody)]));
    let counts = Arc::new(TurnCounts::default());
    config.observers.add(counts.clone());
    let observers = config.observers.clone();
    let session = AgentSession::open(config, log.clone()).unwrap();
    let agent = session.agent().clone();
    agent.set_tool_registry(registry([acting(&session)]));
    agent.set_steering_mode(queues);
    let recorder = Arc::new(Recorder::default());
    agent.subscribe(recorder.clone());
    for (round, step) in steps.iter().enumerate() {
        model.push(answer(round, step));
    }
    for run in 1..=2 {
        let watchdog = async {
            // Someone who waits on a silent model presses Escape.
            loop {
                tokio::time::sleep(Duration::from_millis(3)).await;
                if agent.state().streaming_message.is_some() {
                    agent.abort();
                }
            }
        };
        tokio::select! {
            ended = tokio::time::timeout(Duration::from_secs(5), session.prompt_text("go")) => {
                prop_assert!(ended.is_ok(), "the run hangs");
            }
            () = watchdog => {}
        }
        check_events(&recorder, run)?;
        observers.flush(Duration::from_secs(5)).await;
        counts.check(run)?;
        let state = agent.state();
        prop_assert!(!state.is_streaming && state.pending_tool_calls.is_empty());
        let mut folded = AgentState::default();
        recorder.events.lock().unwrap().iter().for_each(|event| folded.reduce(event));
        prop_assert_eq!(&folded.messages, &state.messages);
        for waiting in agent.deferred() {
            prop_assert!(repair(&state.messages).iter().any(|message| matches!(
                message.as_ref(), Message::ToolResult(result) if result.tool_call_id == waiting.call.id
            )));
        }
        // The log holds the same conversation, up to the order in which results came in.
        prop_assert_eq!(repair(&log.context().unwrap().messages), repair(&state.messages));
        prop_assert_eq!(log.context().unwrap().messages.len(), state.messages.len());
    }
    for request in model.requests.lock().unwrap().iter() {
        prop_assert!(is_paired(&request.messages), "{:?}", shorts(&request.messages));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    // 000-030, 000-031, 000-032, 000-034, 000-036, 000-039, X-01, X-07
    #[test]
    fn any_interleaving_ends_once_and_leaves_an_acceptable_transcript(
        steps in prop::collection::vec(step(), 1..6),
        stances in prop::collection::vec(stance(), 0..12),
        sequential in any::<bool>(),
        drain_all in any::<bool>(),
    ) {
        let mode = if sequential { ToolExecutionMode::Sequential } else { ToolExecutionMode::Parallel };
        let queues = if drain_all { QueueMode::All } else { QueueMode::OneAtATime };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(play(steps, stances, mode, queues))?;
    }
}
