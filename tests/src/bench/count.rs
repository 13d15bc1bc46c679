//! What a turn of the agent loop allocates; run by `capstan-bench`.
//!
//! A program of its own, because counting makes each allocation slower by more than its time without.

mod turn;

use anyhow::{Context, Result};
use stats_alloc::{Region, StatsAlloc};
use std::alloc::System;
use turn::Turn;

#[global_allocator]
static ALLOCATOR: StatsAlloc<System> = StatsAlloc::system();

/// The first turns of a process set up what later ones share.
const WARM_UP_TURNS: usize = 2;
const TURNS: usize = 10;

/// Takes the number of rounds. Prints a line for each turn: allocations, and their bytes.
fn main() -> Result<()> {
    let rounds = std::env::args().nth(1).context("how many rounds?")?;
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
