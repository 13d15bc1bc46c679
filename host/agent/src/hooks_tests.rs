use super::*;
use crate::scripted_tests::*;
use crate::trace::FieldChange;
use crate::{AgentLoopConfig, run_agent_loop};
use async_trait::async_trait;
use capstan_ports::hook::HookContext;
use capstan_ports::permission::AllowAll;
use capstan_ports::{
    Amendment, CallAccess, Content, GateVerdict, Message, Permission, PermissionPort, ToolCall, ToolOutcome,
    TurnContext,
};
use serde_json::json;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;

fn fail(message: &str) -> HookError {
    HookError::Failed { hook: "frail".into(), message: message.into(), source: None }
}

/// Runs two calls, `a` and `b`, of a tool that wants an integer `n`; gives their results.
async fn results(chain: HookChain) -> Vec<String> {
    results_with(chain, |_| {}).await
}

async fn results_with(chain: HookChain, change: impl FnOnce(&mut AgentLoopConfig)) -> Vec<String> {
    let tool =
        TestTool::echo().with_schema(json!({"type": "object", "properties": {"n": {"type": "integer"}}}));
    let two = [call("a", "echo", json!({"n": 1})), call("b", "echo", json!({"n": 2}))];
    let model = ScriptedModel::new([calls(two), says("done")]);
    let mut config = config(&model);
    config.hooks.replace(chain);
    change(&mut config);
    let cancel = CancellationToken::new();
    let added =
        run_agent_loop(vec![user("hi")], &context([tool]), &config, &Recorder::default(), &cancel).await;
    shorts(&added.unwrap())[2..4].to_vec()
}

fn on_a(verdict: fn() -> Result<GateVerdict, HookError>) -> TestHook {
    TestHook::gate("frail", move |call| if call.id == "a" { verdict() } else { Ok(GateVerdict::Pass) })
}

const B_RAN: &str = "result b {\"n\":2}";

// 000-131, 000-132, 000-133
#[tokio::test]
async fn a_block_gives_its_reason_or_the_standard_text() {
    let reason = results(hooks([on_a(|| Ok(GateVerdict::Block("no".into())))])).await;
    assert_eq!(reason, ["result! a no", B_RAN]);
    let silent = results(hooks([on_a(|| Ok(GateVerdict::Block(String::new())))])).await;
    assert_eq!(silent, ["result! a Tool execution was blocked", B_RAN]);
}

// 000-134
#[tokio::test]
async fn a_gate_that_fails_or_panics_blocks_its_call_with_its_name() {
    let failed = results(hooks([on_a(|| Err(fail("it trapped")))])).await;
    assert_eq!(failed, ["result! a hook frail failed: it trapped", B_RAN]);
    let panicked = results(hooks([on_a(|| panic!("oops"))])).await;
    assert_eq!(panicked, ["result! a hook frail failed: it panicked (oops)", B_RAN]);
}

// 000-139
#[tokio::test]
async fn rewritten_arguments_are_validated_again_and_seen_by_later_gates() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = seen.clone();
    let chain = hooks([
        TestHook::gate("z-looks", move |call| {
            sees.lock().unwrap().push(call.arguments.clone());
            Ok(GateVerdict::Pass)
        }),
        TestHook::gate("a-rewrites", |call| {
            Ok(GateVerdict::Rewrite(if call.id == "a" { json!({"n": "40"}) } else { json!({"n": "x"}) }))
        }),
    ]);
    let results = results(chain).await;
    assert_eq!(results[0], "result a {\"n\":40}");
    assert!(
        results[1].starts_with("result! b The arguments as the hook a-rewrites rewrote them do not fit. ")
    );
    assert!(results[1].contains("- n: \"x\" is not of type \"integer\""));
    assert_eq!(*seen.lock().unwrap(), [json!({"n": 40})]);
}

// reliability H8
#[tokio::test]
async fn hooks_run_by_priority_then_name_and_the_first_objection_decides() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let gate = |name: &'static str, priority, blocks: bool| {
        let order = order.clone();
        TestHook::gate(name, move |_| {
            order.lock().unwrap().push(name);
            Ok(if blocks { GateVerdict::Block(name.into()) } else { GateVerdict::Pass })
        })
        .at(priority)
    };
    let chain = hooks([gate("d", 5, true), gate("c", 0, true), gate("b", 0, false), gate("a", -1, false)]);
    assert_eq!(results(chain).await, ["result! a c", "result! b c"]);
    assert_eq!(*order.lock().unwrap(), ["a", "b", "c", "a", "b", "c"]);
}

struct SaysYes;

#[async_trait]
impl PermissionPort for SaysYes {
    async fn decide(&self, _turn: &TurnContext, _call: &ToolCall, _access: &CallAccess) -> Permission {
        Permission::Allow
    }

    async fn ask(&self, _turn: &TurnContext, _call: &ToolCall, _by: &str, _question: &str) -> Permission {
        Permission::Allow
    }
}

#[tokio::test]
async fn a_question_is_put_to_a_person_and_a_yes_only_goes_on_to_the_next_gate() {
    let asks = || on_a(|| Ok(GateVerdict::Ask("really?".into())));
    let nobody = results_with(hooks([asks()]), |config| config.permissions = Arc::new(AllowAll)).await;
    assert_eq!(nobody, ["result! a frail asks: really? (nobody is there to answer)", B_RAN]);
    let yes = results_with(hooks([asks()]), |config| config.permissions = Arc::new(SaysYes)).await;
    assert_eq!(yes, ["result a {\"n\":1}", B_RAN]);
    let strict = TestHook::gate("strict", |_| Ok(GateVerdict::Block("still no".into()))).at(1);
    let chain = hooks([asks(), strict]);
    let blocked = results_with(chain, |config| config.permissions = Arc::new(SaysYes)).await;
    assert_eq!(blocked[0], "result! a still no");
}

fn changes(amendment: Amendment) -> impl Fn(&ToolCall, &ToolOutcome) -> Result<Option<Amendment>, HookError> {
    move |_, _| Ok(Some(amendment.clone()))
}

async fn amended(chain: HookChain) -> (ToolOutcome, Option<TurnAbort>) {
    let turn = TurnContext {
        session_id: capstan_ports::SessionId::new("s"),
        turn: 0,
        round: 0,
        model: Arc::from("scripted/one"),
    };
    let context = HookContext::new(turn, CancellationToken::new());
    let outcome = ToolOutcome { details: Some(json!({"a": 1, "b": 2})), ..ToolOutcome::text("was") };
    chain.amend(&context, &call("a", "echo", json!({})), outcome).await
}

// 000-135, 000-136
#[tokio::test]
async fn each_field_is_replaced_as_a_whole_and_by_itself() {
    let content = Amendment { content: Some(vec![Content::text("now")]), ..Amendment::default() };
    let (outcome, _) = amended(hooks([TestHook::amend("h", changes(content))])).await;
    assert_eq!(outcome.content, [Content::text("now")]);
    assert_eq!((outcome.details, outcome.is_error), (Some(json!({"a": 1, "b": 2})), false));
    let details = Amendment { details: Some(json!({"c": 3})), ..Amendment::default() };
    let (outcome, _) = amended(hooks([TestHook::amend("h", changes(details))])).await;
    assert_eq!((outcome.details, outcome.content.len()), (Some(json!({"c": 3})), 1));
    let is_error = Amendment { is_error: Some(true), ..Amendment::default() };
    let (outcome, _) = amended(hooks([TestHook::amend("h", changes(is_error))])).await;
    assert_eq!((outcome.is_error, outcome.content), (true, vec![Content::text("was")]));
}

// 000-138
#[tokio::test]
async fn a_failing_hook_after_a_call_makes_it_an_error_and_later_hooks_still_run() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counts = calls.clone();
    let chain = hooks([
        TestHook::amend("z", |call, _| if call.id == "a" { Err(fail("lost")) } else { Ok(None) }),
        TestHook::amend("b", move |_, _| {
            counts.fetch_add(1, Ordering::SeqCst);
            Ok(None)
        }),
    ]);
    assert_eq!(results(chain).await, ["result! a hook frail failed: lost", B_RAN]);
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    let (outcome, abort) = amended(hooks([TestHook::amend("p", |_, _| panic!("pop"))])).await;
    assert_eq!((outcome.is_error, abort), (true, None));
    let stop = TestHook::amend("s", |_, _| Err(HookError::Aborted { reason: "stop".into() }));
    let (_, abort) = amended(hooks([stop])).await;
    assert_eq!(abort, Some(TurnAbort { hook: "s".into(), reason: "stop".into() }));
}

#[tokio::test]
async fn what_each_hook_did_is_on_the_trace() {
    let trace = Arc::new(HookTrace::default());
    let chain =
        hooks([on_a(|| Ok(GateVerdict::Block("no".into()))), TestHook::amend("later", |_, _| Ok(None))]);
    results(chain.with_trace(trace.clone())).await;
    let records: Vec<_> = trace.records().into_iter().map(|r| (r.hook, r.tool_call_id, r.effect)).collect();
    let record = |hook: &str, id: &str, effect| (hook.to_owned(), id.to_owned(), effect);
    assert_eq!(
        records,
        [
            record("frail", "a", HookEffect::Blocked("no".into())),
            record("frail", "b", HookEffect::Passed),
            record("later", "b", HookEffect::Passed),
        ]
    );
}

#[tokio::test]
async fn the_trace_says_what_a_gate_rewrote_and_what_an_amendment_replaced() {
    let trace = Arc::new(HookTrace::default());
    let amend = Amendment { content: Some(vec![Content::text("short")]), ..Amendment::default() };
    let chain = hooks([
        TestHook::gate("five", |_| Ok(GateVerdict::Rewrite(json!({"n": 5})))),
        TestHook::amend("short", changes(amend)),
    ]);
    results(chain.with_trace(trace.clone())).await;
    let change = |field: &str, before: &str, after: &str| {
        HookEffect::Changed(vec![FieldChange {
            field: field.into(),
            before: Some(before.into()),
            after: Some(after.into()),
        }])
    };
    let records = trace.records();
    let of = |hook: &str| records.iter().find(|r| r.hook == hook && r.tool_call_id == "a").unwrap();
    assert_eq!((&of("five").effect, of("five").tool.as_str()), (&change("n", "1", "5"), "echo"));
    assert_eq!(of("short").effect, change("content", "{\"n\":5}", "short"));
    assert!(of("five").took > Duration::ZERO);
}

/// Takes part for another tool, has switched itself off, or answers.
struct Partly {
    name: &'static str,
    tool: &'static str,
    off: Option<&'static str>,
}

#[async_trait]
impl Hook for Partly {
    fn name(&self) -> &str {
        self.name
    }

    fn handles(&self, stage: HookStage, tool: Option<&str>) -> bool {
        stage == HookStage::BeforeToolCall && tool.is_none_or(|tool| tool == self.tool)
    }

    fn switched_off(&self, stage: HookStage) -> Option<&str> {
        self.off.filter(|_| stage == HookStage::BeforeToolCall)
    }

    async fn before_tool_call(
        &self,
        _context: &HookContext,
        _call: &ToolCall,
    ) -> Result<GateVerdict, HookError> {
        assert!(self.off.is_none(), "asked although it is off");
        Ok(GateVerdict::Pass)
    }
}

#[tokio::test]
async fn the_trace_says_why_a_hook_was_not_asked() {
    let trace = Arc::new(HookTrace::default());
    let chain = HookChain::new([
        Arc::new(Partly { name: "a-bash", tool: "bash", off: None }) as Arc<dyn Hook>,
        Arc::new(Partly { name: "b-off", tool: "echo", off: Some("it trapped") }),
        Arc::new(on_a(|| Ok(GateVerdict::Block("no".into())))),
        Arc::new(Partly { name: "z-late", tool: "echo", off: None }),
    ]);
    results(chain.with_trace(trace.clone())).await;
    let told: Vec<_> = trace.records().into_iter().map(|r| (r.hook, r.tool_call_id, r.effect)).collect();
    let record = |hook: &str, id: &str, effect| (hook.to_owned(), id.to_owned(), effect);
    let absent = |hook: &str, id: &str, absence| record(hook, id, HookEffect::NotAsked(absence));
    assert_eq!(
        told,
        [
            absent("a-bash", "a", Absence::OtherTool),
            absent("b-off", "a", Absence::Off("it trapped".into())),
            record("frail", "a", HookEffect::Blocked("no".into())),
            absent("z-late", "a", Absence::DecidedBy("frail".into())),
            absent("a-bash", "b", Absence::OtherTool),
            absent("b-off", "b", Absence::Off("it trapped".into())),
            record("frail", "b", HookEffect::Passed),
            record("z-late", "b", HookEffect::Passed),
        ]
    );
}

struct Untouched(AtomicUsize);

#[async_trait]
impl Hook for Untouched {
    fn name(&self) -> &str {
        "untouched"
    }

    fn handles(&self, _stage: HookStage, tool: Option<&str>) -> bool {
        tool == Some("other")
    }

    async fn before_tool_call(
        &self,
        _context: &HookContext,
        _call: &ToolCall,
    ) -> Result<GateVerdict, HookError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(GateVerdict::Pass)
    }
}

#[tokio::test]
async fn a_hook_for_another_tool_is_not_called() {
    let hook = Arc::new(Untouched(AtomicUsize::new(0)));
    results(HookChain::new([hook.clone() as Arc<dyn Hook>])).await;
    assert_eq!(hook.0.load(Ordering::SeqCst), 0);
}

// 000-110: replaced between runs, and between the rounds of one.
#[tokio::test]
async fn a_replaced_chain_counts_from_the_next_round() {
    let one = || calls([call("a", "echo", json!({}))]);
    let model = ScriptedModel::new([one(), one(), says("done")]);
    let config = config(&model);
    let registry = config.hooks.clone();
    config.hooks.replace(hooks([TestHook::amend("swap", move |_, _| {
        registry.replace(hooks([TestHook::gate("new", |_| Ok(GateVerdict::Block("new rule".into())))]));
        Ok(None)
    })]));
    let cancel = CancellationToken::new();
    let context = context([TestTool::echo()]);
    let added: Vec<Arc<Message>> =
        run_agent_loop(vec![user("hi")], &context, &config, &Recorder::default(), &cancel).await.unwrap();
    assert_eq!(
        (shorts(&added)[2].as_str(), shorts(&added)[4].as_str()),
        ("result a {}", "result! a new rule")
    );
}

// H1: a reload is no way back for a hook that broke.
#[test]
fn a_hook_that_broke_stays_left_out_of_the_next_chain() {
    let broken: Arc<dyn Hook> = Arc::new(TestHook::gate("broken", |_| Ok(GateVerdict::Pass)));
    let sound: Arc<dyn Hook> = Arc::new(TestHook::gate("sound", |_| Ok(GateVerdict::Pass)));
    let registry = HookRegistry::new(HookChain::new([broken.clone(), sound.clone()]));
    registry.current().members(HookStage::AfterToolCall)[0].off.store(true, Ordering::Relaxed);
    let stranger: Arc<dyn Hook> = Arc::new(TestHook::gate("broken", |_| Ok(GateVerdict::Pass)));
    registry.replace(HookChain::new([broken, sound]));
    let on = |stage| {
        registry.current().members(stage).iter().map(|member| member.is_on(stage)).collect::<Vec<_>>()
    };
    assert_eq!(on(HookStage::AfterToolCall), [false, true]);
    assert_eq!(on(HookStage::BeforeToolCall), [true, true], "only where it broke");
    registry.replace(HookChain::new([stranger]));
    assert_eq!(on(HookStage::AfterToolCall), [true], "another object of its name is another hook");
}
