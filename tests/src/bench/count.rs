//! What a turn of the agent loop allocates, and what memory a session takes; run by `capstan-bench`.
//!
//! A program of its own, because counting makes each allocation slower by more than its time without.

mod turn;

use anyhow::{Context, Result};
use capstan_ports::SessionLog;
use capstan_session::SessionFile;
use stats_alloc::{Region, StatsAlloc};
use std::alloc::System;
use std::path::Path;
use turn::Turn;

#[global_allocator]
static ALLOCATOR: StatsAlloc<System> = StatsAlloc::system();

/// The first turns of a process set up what later ones share.
const WARM_UP_TURNS: usize = 2;
const TURNS: usize = 10;

/// Takes the number of rounds and prints a line for each turn: allocations, and their bytes. Or takes `open` and a session
/// file, and prints by how many KiB the process grew at most while it was opened.
fn main() -> Result<()> {
    let mut args = std::env::args_os().skip(1);
    let first = args.next().context("how many rounds?")?;
    if first == "open" {
        let path = args.next().context("which session?")?;
        return opened(Path::new(&path));
    }
    let rounds = first.to_string_lossy();
    let rounds = rounds.parse().with_context(|| format!("{rounds} is no number of rounds"))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for n_turn in 0..WARM_UP_TURNS + TURNS {
        let turn = Turn::logged(rounds)?;
        let region = Region::new(&ALLOCATOR);
        let added = turn.run(&runtime)?;
        let seen = region.change();
        turn.check(&added)?;
        if n_turn >= WARM_UP_TURNS {
            println!("{} {}", seen.allocations + seen.reallocations, seen.bytes_allocated);
        }
    }
    Ok(())
}

fn opened(path: &Path) -> Result<()> {
    let before = resident_kib("VmRSS:")?;
    let session = SessionFile::open(path)?;
    let context = session.context()?;
    let peak = resident_kib("VmHWM:")?;
    anyhow::ensure!(!context.messages.is_empty(), "the session is empty");
    println!("{}", peak.saturating_sub(before));
    Ok(())
}

/// What the system says of this process's resident memory.
fn resident_kib(field: &str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let value =
        status.lines().find_map(|line| line.strip_prefix(field)).context("the system does not tell")?;
    Ok(value.trim().trim_end_matches("kB").trim().parse()?)
}
