//! What the agent loop itself costs: rounds of a scripted answer and a tool that does nothing, in process.
//!
//! The time of a round holds the script's part of it, which `loop_script` tells by itself. A model over HTTP forgets a
//! request once it is sent; a script keeps them all, and a list that someone keeps is copied as it grows. Therefore the
//! script is handed empty requests here.

use crate::figure::{Figures, Unit};
use crate::{ALLOCATOR, sandbox};
use anyhow::{Result, ensure};
use capstan_agent::{Agent, AgentLoopConfig, AgentSession, HookChain, TypedTool};
use capstan_ports::{
    Hook, Message, Model, ModelInfo, ModelRequest, ModelStream, NoopHook, SessionLog, ToolOutcome,
};
use capstan_provider::{Answer, ScriptedModel};
use capstan_session::MemorySession;
use futures::StreamExt;
use serde_json::{Value, json};
use stats_alloc::Region;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const GROUP: &str = "loop_overhead";
/// Rounds of a turn that is long for a person, and of one that is long for a machine.
const SHORT: usize = 100;
const LONG: usize = 1_000;
/// Pairs of a short and a long turn, one after the other, so that both see the same machine.
const PAIRS: usize = 60;
/// Not counted: the allocator has its pages and the code is in the caches.
const WARM_UP_TURNS: usize = 5;
/// Hooks of the chain that takes part in nothing.
const IDLE_HOOKS: usize = 8;

/// Ten times the rounds may take a little more than ten times as long: the conversation no longer fits the nearest cache.
const MAX_GROWTH: f64 = 12.0;

/// Measures the group.
pub(crate) fn measure(figures: &mut Figures) -> Result<()> {
    let runtime = sandbox::runtime()?;
    let wants = |figures: &Figures, names: &[&str]| names.iter().any(|name| figures.wants(GROUP, name));
    if wants(figures, &["loop_round", "loop_round_1000", "loop_growth"]) {
        growth(&runtime, figures)?;
    }
    if wants(figures, &["loop_round_no_log", "loop_idle_hooks"]) {
        idle_hooks(&runtime, figures)?;
    }
    if wants(figures, &["loop_script"]) {
        script(&runtime, figures);
    }
    if wants(figures, &["loop_allocations", "loop_allocations_1000", "loop_allocated_1000"]) {
        allocations(&runtime, figures)?;
    }
    Ok(())
}

/// Where a turn is kept, and what stands around it.
#[derive(Clone, Copy)]
enum Kind {
    /// A session in memory, no hooks.
    Logged,
    /// No session, no hooks.
    Bare,
    /// No session, hooks that take part in nothing.
    IdleHooks,
}

fn growth(runtime: &Runtime, figures: &mut Figures) -> Result<()> {
    let (mut short, mut long, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..WARM_UP_TURNS + PAIRS {
        let one = timed(runtime, Kind::Logged, SHORT)?;
        let other = timed(runtime, Kind::Logged, LONG)?;
        if pair >= WARM_UP_TURNS {
            short.push(a_round(one, SHORT));
            long.push(a_round(other, LONG));
            ratios.push(other.as_secs_f64() / one.as_secs_f64());
        }
    }
    figures.times("loop_round", Unit::Microseconds, None, &short);
    figures.times("loop_round_1000", Unit::Microseconds, None, &long);
    figures.ratios("loop_growth", "loop_round", Some(MAX_GROWTH), ratios);
    Ok(())
}

fn idle_hooks(runtime: &Runtime, figures: &mut Figures) -> Result<()> {
    let (mut bare, mut ratios) = (Vec::new(), Vec::new());
    for pair in 0..WARM_UP_TURNS + 3 * PAIRS {
        let without = timed(runtime, Kind::Bare, SHORT)?;
        let with = timed(runtime, Kind::IdleHooks, SHORT)?;
        if pair >= WARM_UP_TURNS {
            bare.push(a_round(without, SHORT));
            ratios.push(with.as_secs_f64() / without.as_secs_f64());
        }
    }
    figures.times("loop_round_no_log", Unit::Microseconds, None, &bare);
    figures.ratios("loop_idle_hooks", "loop_round_no_log", None, ratios);
    Ok(())
}

/// The same answers, read by nobody.
fn script(runtime: &Runtime, figures: &mut Figures) {
    let mut times = Vec::new();
    for _ in 0..WARM_UP_TURNS + PAIRS {
        let model = model(SHORT);
        let began = Instant::now();
        runtime.block_on(async {
            for _ in 0..SHORT {
                let mut events = model.stream(ModelRequest::default());
                while let Some(event) = events.next().await {
                    black_box(event);
                }
            }
        });
        times.push(a_round(began.elapsed(), SHORT));
    }
    figures.times("loop_script", Unit::Microseconds, None, &times[WARM_UP_TURNS..]);
}

/// Counted, hence almost the same in every run and on every machine.
fn allocations(runtime: &Runtime, figures: &mut Figures) -> Result<()> {
    let (mut short, mut long, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..=WARM_UP_TURNS {
        let one = allocated(runtime, SHORT)?;
        let other = allocated(runtime, LONG)?;
        // The first turn of a process sets up what later ones share.
        if turn > 0 {
            short.push(one.0);
            long.push(other.0);
            bytes.push(other.1);
        }
    }
    figures.values("loop_allocations", Unit::Count, None, short);
    figures.values("loop_allocations_1000", Unit::Count, None, long);
    figures.values("loop_allocated_1000", Unit::Bytes, None, bytes);
    Ok(())
}

/// Allocations of a round, and their bytes.
#[expect(clippy::cast_precision_loss, reason = "a float holds every count up to 2^53")]
fn allocated(runtime: &Runtime, rounds: usize) -> Result<(f64, f64)> {
    let turn = Turn::new(Kind::Logged, rounds)?;
    let region = Region::new(&ALLOCATOR);
    let added = runtime.block_on(turn.run())?;
    let seen = region.change();
    turn.check(&added)?;
    let count = (seen.allocations + seen.reallocations) as f64;
    Ok((count / rounds as f64, seen.bytes_allocated as f64 / rounds as f64))
}

/// One turn. Building it, and freeing what it made, is not part of the time.
fn timed(runtime: &Runtime, kind: Kind, rounds: usize) -> Result<Duration> {
    let turn = Turn::new(kind, rounds)?;
    let began = Instant::now();
    let added = runtime.block_on(turn.run())?;
    let took = began.elapsed();
    turn.check(&added)?;
    Ok(took)
}

fn a_round(turn: Duration, rounds: usize) -> Duration {
    turn.div_f64(f64::from(u32::try_from(rounds).unwrap_or(u32::MAX)))
}

/// A turn that is ready to run.
struct Turn {
    runs: Runs,
    rounds: usize,
}

enum Runs {
    Session(AgentSession),
    Agent(Agent),
}

impl Turn {
    fn new(kind: Kind, rounds: usize) -> Result<Self> {
        let mut config = AgentLoopConfig::new(Arc::new(Forgetful(model(rounds))));
        if matches!(kind, Kind::IdleHooks) {
            let hooks = (0..IDLE_HOOKS).map(|_| Arc::new(NoopHook) as Arc<dyn Hook>);
            config.hooks.replace(HookChain::new(hooks));
        }
        // The answer to the last results has a round of its own, without calls, which the figures share among the others.
        config.limits.max_tool_rounds = None;
        let tool = TypedTool::new("noop", "Does nothing.", |_: BTreeMap<String, Value>, _| async {
            Ok(ToolOutcome::text("ok"))
        });
        let runs = match kind {
            Kind::Logged => {
                let log: Arc<dyn SessionLog> = Arc::new(MemorySession::new(Path::new("/")));
                Runs::Session(AgentSession::open(config, log)?)
            }
            Kind::Bare | Kind::IdleHooks => Runs::Agent(Agent::with_config(config)),
        };
        let turn = Self { runs, rounds };
        turn.agent().set_tools([Arc::new(tool) as _])?;
        Ok(turn)
    }

    fn agent(&self) -> &Agent {
        match &self.runs {
            Runs::Session(session) => session.agent(),
            Runs::Agent(agent) => agent,
        }
    }

    async fn run(&self) -> Result<Vec<Arc<Message>>> {
        Ok(match &self.runs {
            Runs::Session(session) => session.prompt_text("go").await?,
            Runs::Agent(agent) => agent.prompt_text("go").await?,
        })
    }

    /// Makes sure that every round took place, with its call and its result.
    fn check(&self, added: &[Arc<Message>]) -> Result<()> {
        let results = added
            .iter()
            .filter(|message| matches!(message.as_ref(), Message::ToolResult(result) if !result.is_error));
        let n_results = results.count();
        ensure!(n_results == self.rounds, "{n_results} of {} calls were executed", self.rounds);
        Ok(())
    }
}

/// So many calls, then a text.
fn model(rounds: usize) -> ScriptedModel {
    let calls = (0..rounds).map(|_| Answer::call("noop", json!({ "path": "src/lib.rs", "limit": 40 })));
    ScriptedModel::new(calls.chain([Answer::text("done")]))
}

/// Forgets what it is asked.
struct Forgetful(ScriptedModel);

impl Model for Forgetful {
    fn info(&self) -> &ModelInfo {
        self.0.info()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        drop(request);
        self.0.stream(ModelRequest::default())
    }
}
