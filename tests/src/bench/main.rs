//! Benchmarks of the product as it ships: the release binary over loopback HTTP; the sandbox, the agent
//! loop and the session file in process.
//!
//! Figures of one run are comparable with each other and with nothing else, so whatever a figure is compared with is
//! measured beside it. All of a run goes to one file; `--only` measures a part and leaves the rest of the file as it was.

mod client;
mod driven;
mod figure;
mod guest_size;
mod hook_call;
mod load;
mod loop_overhead;
mod mcp;
mod memory;
mod plan_step;
mod sandbox;
mod session;
mod session_list;
mod swap;
mod turn;

use anyhow::{Context, Result};
use clap::Parser;
use figure::Figures;
use std::path::PathBuf;

/// Measures the product.
#[derive(Debug, Parser)]
#[command(name = "capstan-bench")]
struct Args {
    /// The release binary to drive
    #[arg(long, value_name = "PATH")]
    capstan: PathBuf,

    /// The folder with `repo-map.wasm` and `command-guard.wasm`
    #[arg(long, value_name = "DIR")]
    extensions: PathBuf,

    /// The folder with the test guests, such as `minimal_gate.wasm`; default: `guests` beside the extensions
    #[arg(long, value_name = "DIR")]
    guests: Option<PathBuf>,

    /// Where the figures go, as JSON
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Only figures whose name, or whose group's name (client, hook_call, guest_size, load, swap, loop_overhead, plan, session, memory, mcp), contains this
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,
}

/// What a group of figures is measured on.
pub(crate) struct Subject {
    /// The release binary.
    pub(crate) capstan: PathBuf,
    /// Built extensions.
    pub(crate) extensions: PathBuf,
    /// Built test guests.
    pub(crate) guests: PathBuf,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let guests = args.guests.unwrap_or_else(|| args.extensions.with_file_name("guests"));
    let absolute = |path: &PathBuf| {
        path.canonicalize()
            .with_context(|| format!("{} is missing; `cargo xtask bench` builds it", path.display()))
    };
    let subject =
        Subject { capstan: absolute(&args.capstan)?, extensions: absolute(&args.extensions)?, guests };
    let mut figures = Figures::matching(&args.only);
    client::measure(&subject, &mut figures)?;
    hook_call::measure(&subject, &mut figures)?;
    guest_size::measure(&subject, &mut figures)?;
    load::measure(&subject, &mut figures)?;
    swap::measure(&subject, &mut figures)?;
    loop_overhead::measure(&mut figures)?;
    plan_step::measure(&mut figures)?;
    session::measure(&mut figures)?;
    session_list::measure(&mut figures)?;
    memory::measure(&mut figures)?;
    mcp::measure(&subject, &mut figures)?;
    anyhow::ensure!(!figures.is_empty(), "no figure's name contains `{}`", args.only);
    figures.merge_into(&args.out)?;
    println!("{}", figures.table());
    println!("figures are in {}", args.out.display());
    Ok(())
}
