//! What carrying out a plan adds to the turns of its steps.

use crate::figure::{Figures, Unit};
use crate::sandbox::runtime;
use anyhow::{Result, ensure};
use async_trait::async_trait;
use capstan_agent::HookChain;
use capstan_ports::hook::HookContext;
use capstan_ports::{Content, Hook, HookError, HookStage, PlanStepStatus, SessionId, TurnContext};
use capstan_runtime::{
    AgentError, ChatResponse, JsonPlanParser, Plan, PlanOutcome, PlanRecord, Step, TaskAgent, Turns,
};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

const GROUP: &str = "plan";
const STEPS: u32 = 100;
const TIMES: usize = 200;
/// Not counted: the allocator has its pages and the code is in the caches.
const WARM_UP: usize = 10;

/// The promise, in microseconds.
const GOAL: f64 = 100.0;

/// Measures the group: a plan of 100 steps whose turns answer at once, with an observer that makes a record of every step and
/// a hook that is told of it; the time of one step.
pub(crate) fn measure(figures: &mut Figures) -> Result<()> {
    if !figures.wants(GROUP, "plan_step") {
        return Ok(());
    }
    let runtime = runtime()?;
    let mut times = Vec::with_capacity(TIMES);
    for n in 0..WARM_UP + TIMES {
        let mut agent = TaskAgent::new(AtOnce::new(), Arc::new(JsonPlanParser)).with_observer(keep);
        let descriptions =
            (0..STEPS).map(|step| format!("Change file {step} as the issue says, and test it."));
        let mut plan = Plan::new("a hundred changes", descriptions);
        let began = Instant::now();
        let outcome = runtime.block_on(agent.execute_plan(&mut plan))?;
        let took = began.elapsed();
        ensure!(outcome == PlanOutcome::Completed, "the plan was not carried out: {outcome:?}");
        if n >= WARM_UP {
            times.push(took / STEPS);
        }
    }
    figures.times("plan_step", Unit::Microseconds, Some(GOAL), &times);
    Ok(())
}

/// What a program does that keeps its plan: the plan itself at its first step, the status at each change.
fn keep(plan: &Plan, step: &Step) {
    if step.index() == 0 {
        black_box(PlanRecord::from(plan));
    }
    black_box(capstan_runtime::StatusRecord::from(step.status()));
}

/// Answers at once.
struct AtOnce {
    hooks: HookChain,
    context: HookContext,
}

impl AtOnce {
    fn new() -> Self {
        let turn =
            TurnContext { session_id: SessionId::new("plan"), turn: 0, round: 0, model: "none/none".into() };
        let context = HookContext::new(turn, CancellationToken::new());
        Self { hooks: HookChain::new([Arc::new(Told) as Arc<dyn Hook>]), context }
    }
}

#[async_trait]
impl Turns for AtOnce {
    async fn submit(&mut self, text: &str, _cancel: &CancellationToken) -> Result<ChatResponse, AgentError> {
        Ok(ChatResponse { content: vec![Content::text(text)], ..ChatResponse::default() })
    }

    async fn plan_step(&mut self, index: u32, status: &PlanStepStatus) {
        self.hooks.plan_step(&self.context, index, status).await;
    }
}

/// A hook that is told.
struct Told;

#[async_trait]
impl Hook for Told {
    fn name(&self) -> &str {
        "told"
    }

    fn handles(&self, stage: HookStage, _tool: Option<&str>) -> bool {
        stage == HookStage::PlanStep
    }

    async fn plan_step(
        &self,
        _context: &HookContext,
        step: u32,
        status: &PlanStepStatus,
    ) -> Result<(), HookError> {
        black_box((step, status));
        Ok(())
    }
}
