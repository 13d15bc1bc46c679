use super::*;
use crate::hooks::HookRegistry;
use crate::recording_tests::{Notes, NotingTools, StageHook};
use crate::scripted_tests::{
    ScriptedModel, TestTool, call, calls, config, context as tools, fails, run, says, shorts, user,
};
use capstan_ports::{Hook, ModelErrorKind, NoopHook, SessionId, ToolCall, TurnContext};
use serde_json::json;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn context() -> HookContext {
    let turn = TurnContext { session_id: SessionId::new("s"), turn: 0, round: 0, model: "m/x".into() };
    HookContext::new(turn, CancellationToken::new())
}

fn chain(hooks: impl IntoIterator<Item = StageHook>) -> HookChain {
    HookChain::new(hooks.into_iter().map(|hook| Arc::new(hook) as Arc<dyn Hook>))
}

fn adds(mark: &'static str) -> impl Fn(&Message) -> Result<Verdict<Message>, HookError> {
    move |input| Ok(Verdict::Rewrite(Message::user(format!("{}{mark}", input.text()))))
}

// 003-112
#[tokio::test]
async fn before_a_turn_each_hook_sees_what_the_one_before_made_and_the_first_abort_ends_it() {
    let notes = Arc::new(Notes::default());
    let mut hooks = ["a", "b", "c"].map(|name| StageHook::new(name, &notes));
    hooks[0].before_turn = Some(Box::new(adds("1")));
    hooks[1].before_turn = Some(Box::new(adds("2")));
    let changed = chain(hooks).before_turn(&context(), &user("x")).await.unwrap();
    assert_eq!(changed.unwrap().text(), "x12");
    let mut hooks = ["a", "b", "c"].map(|name| StageHook::new(name, &notes));
    hooks[1].before_turn = Some(Box::new(|_| Err(HookError::Aborted { reason: "stop".into() })));
    notes.take().await;
    let ended = chain(hooks).before_turn(&context(), &user("x")).await.unwrap_err();
    assert_eq!((ended.hook.as_str(), ended.reason.as_str()), ("b", "stop"));
    assert_eq!(notes.take().await, ["a H(BeforeTurn)", "b H(BeforeTurn)"]);
}

// 003-113, 003-091
#[tokio::test]
async fn after_something_all_hooks_run_in_reverse_whatever_the_others_do() {
    let notes = Arc::new(Notes::default());
    let mut hooks = ["a", "b", "c"].map(|name| StageHook::new(name, &notes));
    hooks[2].watch =
        Some(Box::new(|_, _| Err(HookError::Failed { hook: "c".into(), message: "f".into(), source: None })));
    hooks[1].watch = Some(Box::new(|_, _| panic!("b panics")));
    let chain = chain(hooks);
    let failure = Failure::new(capstan_ports::FailureKind::Model, "why");
    chain.turn_error(&context(), &failure).await;
    let all = ["c H(TurnError Model why)", "b H(TurnError Model why)", "a H(TurnError Model why)"];
    assert_eq!(notes.take().await, all);
    // Who broke is left out from now on, who only failed is not.
    chain.turn_error(&context(), &failure).await;
    assert_eq!(notes.take().await, [all[0], all[2]]);
    let mut answer = AssistantMessage::default();
    let mut hooks = ["a", "b"].map(|name| StageHook::new(name, &notes));
    hooks[1].after_model = Some(Box::new(|_| Ok(Verdict::Abort("no".into()))));
    let chain = self::chain(hooks);
    assert_eq!(chain.after_model(&context(), &mut answer).await.unwrap_err().reason, "no");
    assert_eq!(notes.take().await, ["b H(AfterModel)", "a H(AfterModel)"]);
}

// 003-075, 003-091: what a rewriter may not do leaves its subject as it is.
#[tokio::test]
async fn a_rewrite_out_of_form_a_failure_and_a_panic_leave_the_input_unchanged() {
    let notes = Arc::new(Notes::default());
    let messages = [user("hi")];
    let orphan = capstan_ports::build_tool_result_message(
        &call("a", "t", json!({})),
        &capstan_ports::ToolOutcome::text("x"),
    );
    let orphan = Arc::new(orphan);
    let mut hooks = ["a", "b", "c", "d"].map(|name| StageHook::new(name, &notes));
    hooks[0].before_model = Some(Box::new(move |_| Ok(Verdict::Rewrite(vec![orphan.clone()]))));
    hooks[1].before_model = Some(Box::new(|_| Ok(Verdict::Rewrite(Vec::new()))));
    hooks[2].before_model = Some(Box::new(|_| panic!("pop")));
    hooks[3].before_model =
        Some(Box::new(|_| Err(HookError::Failed { hook: "d".into(), message: "f".into(), source: None })));
    assert!(chain(hooks).before_model(&context(), &messages).await.unwrap().is_none());
    let mut hook = StageHook::new("a", &notes);
    hook.before_turn =
        Some(Box::new(|_| Ok(Verdict::Rewrite(Message::Assistant(AssistantMessage::default())))));
    assert!(chain([hook]).before_turn(&context(), &messages[0]).await.unwrap().is_none());
}

// 003-091
#[tokio::test]
async fn a_hook_that_does_not_answer_is_left() {
    struct Slow;
    #[async_trait::async_trait]
    impl Hook for Slow {
        fn name(&self) -> &str {
            "slow"
        }
        fn handles(&self, _stage: HookStage, _tool: Option<&str>) -> bool {
            true
        }
        async fn before_turn(&self, _: &HookContext, _: &Message) -> Result<Verdict<Message>, HookError> {
            std::future::pending().await
        }
        async fn before_tool_call(
            &self,
            _: &HookContext,
            _: &ToolCall,
        ) -> Result<capstan_ports::GateVerdict, HookError> {
            std::future::pending().await
        }
    }
    let chain = HookChain::new([Arc::new(Slow) as Arc<dyn Hook>]).with_timeout(Duration::from_millis(5));
    assert!(chain.before_turn(&context(), &user("x")).await.unwrap().is_none());
    let model = ScriptedModel::new([calls([call("a", "echo", json!({}))]), says("done")]);
    let mut config = config(&model);
    config.hooks = Arc::new(HookRegistry::new(chain));
    let ran = run(&tools([TestTool::echo()]), &config).await;
    assert_eq!(shorts(&ran.result.unwrap())[2], "result! a hook slow failed: it did not answer within 5ms");
}

// 003-111, 003-114
#[tokio::test]
async fn no_hook_an_idle_hook_and_an_empty_chain_are_the_same() {
    let idle = HookChain::new([Arc::new(NoopHook) as Arc<dyn Hook>]);
    for chain in [HookChain::default(), HookChain::new([]), idle] {
        let model = ScriptedModel::new([calls([call("a", "echo", json!({}))]), says("done")]);
        let config = config(&model);
        config.hooks.replace(chain);
        let ran = run(&tools([TestTool::echo()]), &config).await;
        assert_eq!(shorts(&ran.result.unwrap()), ["user hi", "asst +a", "result a {}", "asst done"]);
    }
    let failure = Failure::new(capstan_ports::FailureKind::Tool, "x");
    let call = call("a", "t", json!({}));
    let (context, mut answer) = (context(), AssistantMessage::default());
    assert!(NoopHook.before_turn(&context, &user("x")).await.is_ok_and(|v| v == Verdict::Proceed));
    assert!(NoopHook.before_model(&context, &[]).await.is_ok_and(|v| v == Verdict::Proceed));
    assert!(NoopHook.after_model(&context, &answer).await.is_ok_and(|v| v == Verdict::Proceed));
    assert!(NoopHook.model_error(&context, &failure).await.is_ok());
    assert!(
        NoopHook.before_tool_call(&context, &call).await.is_ok_and(|v| v == capstan_ports::GateVerdict::Pass)
    );
    let outcome = capstan_ports::ToolOutcome::text("x");
    assert!(NoopHook.after_tool_call(&context, &call, &outcome).await.is_ok_and(|v| v.is_none()));
    assert!(NoopHook.tool_error(&context, &call, &failure).await.is_ok());
    assert!(NoopHook.after_turn(&context, &user("x"), &[]).await.is_ok());
    assert!(NoopHook.turn_error(&context, &failure).await.is_ok());
    assert!(HookChain::default().after_model(&context, &mut answer).await.is_ok());
}

#[test]
fn a_stage_is_found_by_its_number() {
    let notes = Arc::new(Notes::default());
    struct Only(HookStage);
    #[async_trait::async_trait]
    impl Hook for Only {
        fn name(&self) -> &str {
            "only"
        }
        fn handles(&self, stage: HookStage, _tool: Option<&str>) -> bool {
            stage == self.0
        }
    }
    let stages = [
        HookStage::BeforeTurn,
        HookStage::BeforeModel,
        HookStage::AfterModel,
        HookStage::ModelError,
        HookStage::AfterTurn,
        HookStage::TurnError,
        HookStage::PlanStep,
        HookStage::SessionLifecycle,
    ];
    for stage in stages {
        let chain = HookChain::new([Arc::new(Only(stage)) as Arc<dyn Hook>]);
        let found: Vec<_> = stages.iter().filter(|other| chain.has(**other)).collect();
        assert_eq!(found, [&stage]);
    }
    drop(NotingTools(notes));
}

// 000-130
#[tokio::test]
async fn a_gate_sees_the_answer_that_made_the_call_and_the_conversation_before_it() {
    struct Looks;
    #[async_trait::async_trait]
    impl Hook for Looks {
        fn name(&self) -> &str {
            "looks"
        }
        fn handles(&self, stage: HookStage, _tool: Option<&str>) -> bool {
            stage == HookStage::BeforeToolCall
        }
        async fn before_tool_call(
            &self,
            context: &HookContext,
            call: &ToolCall,
        ) -> Result<capstan_ports::GateVerdict, HookError> {
            let asked = context.answer().unwrap().tool_calls().any(|other| other.id == call.id);
            let before = shorts(&context.conversation);
            Ok(capstan_ports::GateVerdict::Block(format!("{asked} {before:?} {}", call.arguments)))
        }
    }
    let model = ScriptedModel::new([calls([call("a", "echo", json!({"n": "5"}))]), says("done")]);
    let config = config(&model);
    config.hooks.replace(HookChain::new([Arc::new(Looks) as Arc<dyn Hook>]));
    let tool = TestTool::echo().with_schema(json!({"properties": {"n": {"type": "integer"}}}));
    let ran = run(&tools([tool]), &config).await;
    assert_eq!(shorts(&ran.result.unwrap())[2], "result! a true [\"user hi\", \"asst +a\"] {\"n\":5}");
}

#[tokio::test]
async fn a_failed_model_is_told_once_after_the_last_retry() {
    let notes = Arc::new(Notes::default());
    let model =
        ScriptedModel::new([fails(ModelErrorKind::Server, "one"), fails(ModelErrorKind::Auth, "two")]);
    let mut config = config(&model);
    config.retry.base_delay = Duration::ZERO;
    config.hooks.replace(chain([StageHook::new("h", &notes)]));
    run(&tools([]), &config).await.result.unwrap();
    let told: Vec<_> = notes.take().await.into_iter().filter(|line| line.contains("Error")).collect();
    assert_eq!(told, ["H(ModelError two)", "H(TurnError Model two)"]);
}
