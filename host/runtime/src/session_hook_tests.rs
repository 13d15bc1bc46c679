//! What hooks see of a turn (seed 004, 3.4).

use super::*;
use crate::InMemoryStore;
use crate::scripted_tests::*;
use async_trait::async_trait;
use capstan_agent::{HookChain, HookRegistry};
use capstan_ports::memory_store::{MemoryRecord, MemoryStore};
use capstan_ports::{Hook, HookError, HookStage, ModelErrorKind, Verdict};
use capstan_provider::{Answer, ScriptedModel};

fn watched(answers: impl IntoIterator<Item = Answer>) -> (AgentSession, ScriptedModel, Arc<Notes>) {
    let (model, notes) = (ScriptedModel::new(answers), Arc::default());
    let hooks = hooks([NotingHook::new(&notes)]);
    (session(builder(&model, &notes).hook_executor(hooks)), model, notes)
}

// 004-002, 004-041, 004-046, 004-120, 004-121, 004-123
#[tokio::test]
async fn the_steps_of_a_turn_come_in_their_order_and_turns_are_counted() {
    let (mut session, _, notes) = watched([call("add"), text("a"), text("b"), text("c")]);
    session.submit_turn("1").await.unwrap();
    assert_eq!(
        notes.take(),
        [
            "notes: OnTurnStart clerk turn=0",
            "notes: PreRequest",
            "notes: PostRequest",
            "run add",
            "notes: PreRequest",
            "notes: PostRequest",
            "notes: OnTurnEnd turn=0",
        ]
    );
    for turn in 1..3 {
        session.submit_turn("again").await.unwrap();
        let lines = notes.take();
        assert_eq!(lines.first().unwrap(), &format!("notes: OnTurnStart clerk turn={turn}"));
        assert_eq!(lines.last().unwrap(), &format!("notes: OnTurnEnd turn={turn}"));
    }
    assert_eq!(session.turn_index(), 3);
}

/// Looks at the session's cost when the turn ends.
struct Bill {
    meter: Arc<Meter>,
    notes: Arc<Notes>,
}

#[async_trait]
impl Hook for Bill {
    fn name(&self) -> &str {
        "bill"
    }

    fn handles(&self, stage: HookStage, _: Option<&str>) -> bool {
        stage == HookStage::AfterTurn
    }

    async fn after_turn(&self, _: &HookContext, _: &Message, _: &[Arc<Message>]) -> Result<(), HookError> {
        self.notes.add(format!("paid for {}", self.meter.read().calls));
        Ok(())
    }
}

// 004-041
#[tokio::test]
async fn the_cost_is_known_when_the_end_of_the_turn_is_told() {
    let (mut session, _, notes) = watched([call("add"), text("a")]);
    let bill: Arc<dyn Hook> = Arc::new(Bill { meter: session.meter.clone(), notes: notes.clone() });
    session.bundle.hook_executor.replace(HookChain::new([bill]));
    session.submit_turn("1").await.unwrap();
    assert_eq!(notes.take(), ["run add", "paid for 2"]);
}

// 004-124, 004-135
#[tokio::test]
async fn a_retry_is_told_between_its_requests() {
    let (mut session, model, notes) =
        watched([Answer::error(ModelErrorKind::Server, "overloaded"), text("a")]);
    session.submit_turn("1").await.unwrap();
    assert_eq!(
        notes.take(),
        [
            "notes: OnTurnStart clerk turn=0",
            "notes: PreRequest",
            "notes: OnRetry 1",
            "notes: PostRequest",
            "notes: OnTurnEnd turn=0",
        ]
    );
    assert_eq!(model.requests().len(), 2);
}

// 004-049, 004-124
#[tokio::test]
async fn a_failed_turn_is_told_as_an_error_and_not_as_an_end() {
    let (mut session, _, notes) = watched([Answer::error(ModelErrorKind::Auth, "no key")]);
    assert!(matches!(session.submit_turn("1").await, Err(AgentError::Llm(_))));
    assert_eq!(
        notes.take(),
        [
            "notes: OnTurnStart clerk turn=0",
            "notes: PreRequest",
            "notes: OnError",
            "notes: turn failed (scripted/scripted: no key) turn=0",
        ]
    );
}

// 004-050, 004-127
#[tokio::test]
async fn the_first_hook_that_blocks_ends_the_turn_with_its_reason() {
    let (model, notes) = (ScriptedModel::new([text("a"), text("b")]), Arc::default());
    let named = |name, before: &'static (dyn Fn() -> Result<Verdict<Message>, HookError> + Sync)| {
        NotingHook { name, before: Box::new(before), ..NotingHook::new(&notes) }
    };
    let list = hooks([
        named("z first", &|| Ok(Verdict::Proceed)),
        named("y blocks", &|| Ok(Verdict::Abort("not on Sundays".into()))),
        named("x never", &|| Ok(Verdict::Abort("other".into()))),
    ]);
    let mut session = session(builder(&model, &notes).hook_executor(list));
    let error = session.submit_turn("hi").await.unwrap_err();
    assert!(matches!(&error, AgentError::HookBlocked(reason) if reason == "not on Sundays"), "{error}");
    let lines = notes.take();
    let starts: Vec<_> = lines.iter().filter(|line| line.contains("OnTurnStart")).collect();
    assert_eq!(starts, ["z first: OnTurnStart clerk turn=0", "y blocks: OnTurnStart clerk turn=0"]);
    assert!(!lines.iter().any(|line| line.contains("PreRequest")));
    assert_eq!((model.requests().len(), session.turn_index()), (0, 0));
    assert!(session.messages().unwrap().is_empty());
    session.bundle.hook_executor.replace(HookChain::default());
    session.submit_turn("hi").await.unwrap();
    assert_eq!(model.requests().len(), 1);
}

// 004-126
#[tokio::test]
async fn hooks_that_fail_do_not_fail_the_turn() {
    let (model, notes) = (ScriptedModel::new([text("a"), text("b")]), Arc::default());
    let broken = || HookError::Failed { hook: "broken".into(), message: "disk full".into(), source: None };
    let failing = NotingHook {
        name: "broken",
        before: Box::new(move || Err(broken())),
        fails_after: true,
        ..NotingHook::new(&notes)
    };
    let list = hooks([failing, NotingHook::new(&notes)]);
    let mut session = session(builder(&model, &notes).hook_executor(list));
    assert_eq!(session.submit_turn("hi").await.unwrap().text(), "a");
    let lines = notes.take();
    assert!(lines.contains(&"broken: OnTurnEnd turn=0".to_owned()), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("notes: OnTurn")).count(), 2);
    assert_eq!(session.turn_index(), 1);
}

/// Never answers.
struct Stuck;

#[async_trait]
impl Hook for Stuck {
    fn name(&self) -> &str {
        "stuck"
    }

    fn handles(&self, stage: HookStage, _: Option<&str>) -> bool {
        stage == HookStage::AfterTurn
    }

    async fn after_turn(&self, _: &HookContext, _: &Message, _: &[Arc<Message>]) -> Result<(), HookError> {
        std::future::pending().await
    }
}

// 004-126
#[tokio::test]
async fn a_hook_that_never_answers_is_given_up() {
    let model = ScriptedModel::new([text("a")]);
    let chain = HookChain::new([Arc::new(Stuck) as Arc<dyn Hook>]).with_timeout(Duration::from_millis(20));
    let hooks = Arc::new(HookRegistry::new(chain));
    let mut session = session(builder(&model, &Arc::default()).hook_executor(hooks));
    assert_eq!(session.submit_turn("hi").await.unwrap().text(), "a");
}

// 004-122, 004-123
#[tokio::test]
async fn a_step_of_a_plan_is_told_with_its_number() {
    let (session, _, notes) = watched([]);
    session.tell_plan_step(3, &PlanStepStatus::Completed("done".into())).await;
    session.tell_plan_step(4, &PlanStepStatus::Skipped).await;
    assert_eq!(
        notes.take(),
        ["notes: OnPlanStepComplete Completed(\"done\") step=3", "notes: OnPlanStepComplete Skipped step=4"]
    );
}

// 004-125 (X23): written against the four old events, with the context's constructor.
#[tokio::test]
async fn code_that_knows_only_the_old_events_still_works() {
    struct Old;
    #[async_trait]
    impl Hook for Old {
        fn name(&self) -> &str {
            "old"
        }

        fn handles(&self, stage: HookStage, _: Option<&str>) -> bool {
            matches!(stage, HookStage::BeforeModel | HookStage::AfterModel | HookStage::ModelError)
        }
    }
    let turn = TurnContext { session_id: SessionId::new("s"), turn: 2, round: 0, model: "m".into() };
    let context = HookContext::new(turn, CancellationToken::new());
    assert_eq!((context.turn_index, context.plan_step_index, &context.agent), (None, None, &None));
    assert_eq!(context.clone().of_turn().turn_index, Some(2));
    let (mut session, _, _) = watched([text("a")]);
    session.bundle.hook_executor.replace(HookChain::new([Arc::new(Old) as Arc<dyn Hook>]));
    session.submit_turn("hi").await.unwrap();
}

/// Writes what was said into a store, in a task of its own.
struct WritesBack {
    store: Arc<InMemoryStore>,
    go: Arc<tokio::sync::Notify>,
    task: Arc<std::sync::Mutex<Option<tokio::task::JoinHandle<()>>>>,
}

#[async_trait]
impl Hook for WritesBack {
    fn name(&self) -> &str {
        "writes back"
    }

    fn handles(&self, stage: HookStage, _: Option<&str>) -> bool {
        stage == HookStage::AfterTurn
    }

    async fn after_turn(
        &self,
        context: &HookContext,
        answer: &Message,
        _: &[Arc<Message>],
    ) -> Result<(), HookError> {
        let (store, go) = (self.store.clone(), self.go.clone());
        let key = context.turn_index.unwrap().to_string();
        let exchange = format!("{} / {}", context.conversation[0].text(), answer.text());
        let task = tokio::spawn(async move {
            go.notified().await;
            store.save(MemoryRecord::new("talk", key, exchange)).await.unwrap();
        });
        *self.task.lock().unwrap() = Some(task);
        Ok(())
    }
}

// 004-053
#[tokio::test]
async fn a_listener_writes_back_in_a_task_that_the_turn_does_not_wait_for() {
    let (mut session, _, _) = watched([text("hello")]);
    let (store, go, task) = (Arc::new(InMemoryStore::new()), Arc::default(), Arc::default());
    let hook = WritesBack { store: store.clone(), go: Arc::clone(&go), task: Arc::clone(&task) };
    session.bundle.hook_executor.replace(HookChain::new([Arc::new(hook) as Arc<dyn Hook>]));
    session.submit_turn("hi").await.unwrap();
    assert!(store.list("talk").await.unwrap().is_empty(), "the turn is over first");
    go.notify_one();
    let written = task.lock().unwrap().take().unwrap();
    written.await.unwrap();
    assert_eq!(store.load("talk", "0").await.unwrap().unwrap().value, "hi / hello");
}
