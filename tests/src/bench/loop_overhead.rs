//! What the agent loop itself costs: rounds of a scripted answer and a tool that does nothing, in process.
//!
//! The time of a round holds the script's part of it, which `loop_script` tells by itself.

use crate::figure::{Figures, Unit};
use crate::sandbox::runtime;
use crate::turn::{Turn, script};
use anyhow::{Context, Result, ensure};
use capstan_agent::HookChain;
use capstan_ports::{Hook, Model, ModelRequest, NoopHook};
use futures::StreamExt;
use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const GROUP: &str = "loop_overhead";
/// Rounds of a turn that is long for a person, and of one that is long for a machine.
const SHORT: u32 = 100;
const LONG: u32 = 1_000;
/// Pairs of two turns, one after the other, so that both see the same machine.
const PAIRS: usize = 60;
/// Not counted: the allocator has its pages and the code is in the caches.
const WARM_UP_TURNS: usize = 5;
/// Hooks of the chain that takes part in nothing.
const IDLE_HOOKS: usize = 8;

/// Ten times the rounds may take a little more than ten times as long: the conversation no longer fits the nearest cache.
const MAX_GROWTH: f64 = 12.0;

/// Measures the group.
pub(crate) fn measure(figures: &mut Figures) -> Result<()> {
    let runtime = runtime()?;
    let wants = |figures: &Figures, names: &[&str]| names.iter().any(|name| figures.wants(GROUP, name));
    if wants(figures, &["loop_round", "loop_round_1000", "loop_growth"]) {
        growth(&runtime, figures)?;
    }
    if wants(figures, &["loop_round_no_log", "stage_without_subscriber"]) {
        idle_hooks(&runtime, figures)?;
    }
    if wants(figures, &["loop_script"]) {
        scripted(&runtime, figures);
    }
    if wants(figures, &["loop_allocations", "loop_allocations_1000", "loop_allocated_1000"]) {
        allocations(figures)?;
    }
    Ok(())
}

fn growth(runtime: &Runtime, figures: &mut Figures) -> Result<()> {
    let (mut short, mut long, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..WARM_UP_TURNS + PAIRS {
        let one = timed(runtime, &Turn::logged(SHORT as usize)?)?;
        let other = timed(runtime, &Turn::logged(LONG as usize)?)?;
        if pair >= WARM_UP_TURNS {
            short.push(one / SHORT);
            long.push(other / LONG);
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
        let hooks = (0..IDLE_HOOKS).map(|_| Arc::new(NoopHook) as Arc<dyn Hook>);
        let without = timed(runtime, &Turn::new(SHORT as usize, None, HookChain::default())?)?;
        let with = timed(runtime, &Turn::new(SHORT as usize, None, HookChain::new(hooks))?)?;
        if pair >= WARM_UP_TURNS {
            bare.push(without / SHORT);
            ratios.push(with.as_secs_f64() / without.as_secs_f64());
        }
    }
    figures.times("loop_round_no_log", Unit::Microseconds, None, &bare);
    figures.ratios("stage_without_subscriber", "loop_round_no_log", None, ratios);
    Ok(())
}

/// One turn. Building it, and freeing what it made, is not part of the time.
fn timed(runtime: &Runtime, turn: &Turn) -> Result<Duration> {
    let began = Instant::now();
    let added = turn.run(runtime)?;
    let took = began.elapsed();
    turn.check(&added)?;
    Ok(took)
}

/// The same answers, read by nobody.
fn scripted(runtime: &Runtime, figures: &mut Figures) {
    let mut times = Vec::new();
    for _ in 0..WARM_UP_TURNS + PAIRS {
        let model = script(SHORT as usize);
        let began = Instant::now();
        runtime.block_on(async {
            for _ in 0..SHORT {
                let mut events = model.stream(ModelRequest::default());
                while let Some(event) = events.next().await {
                    black_box(event);
                }
            }
        });
        times.push(began.elapsed() / SHORT);
    }
    figures.times("loop_script", Unit::Microseconds, None, &times[WARM_UP_TURNS..]);
}

fn allocations(figures: &mut Figures) -> Result<()> {
    let (short, _) = allocated(SHORT)?;
    let (long, bytes) = allocated(LONG)?;
    figures.values("loop_allocations", Unit::Count, None, short);
    figures.values("loop_allocations_1000", Unit::Count, None, long);
    figures.values("loop_allocated_1000", Unit::Bytes, None, bytes);
    Ok(())
}

/// Allocations of a round, and their bytes, of some turns.
fn allocated(rounds: u32) -> Result<(Vec<f64>, Vec<f64>)> {
    let counter = std::env::current_exe()?.with_file_name("capstan-count");
    let output = Command::new(&counter)
        .arg(rounds.to_string())
        .output()
        .with_context(|| format!("{} cannot be run; `cargo xtask bench` builds it", counter.display()))?;
    ensure!(
        output.status.success(),
        "{} failed: {}",
        counter.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    let per_round = |number: &str| -> Result<f64> { Ok(number.parse::<f64>()? / f64::from(rounds)) };
    let text = String::from_utf8(output.stdout)?;
    let turns = text.lines().map(|line| {
        let (count, bytes) = line.split_once(' ').with_context(|| format!("no count: {line}"))?;
        Ok((per_round(count)?, per_round(bytes)?))
    });
    Ok(turns.collect::<Result<Vec<_>>>()?.into_iter().unzip())
}
