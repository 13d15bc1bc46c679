//! Developer tasks: `cargo xtask setup|demo|test|lint|acceptance|bench|peers`.
//!
//! Everything that a newcomer needs is done here, in the order in which it is needed, with a line about each step: the guest
//! toolchain, the extensions, the host, the run.

mod acceptance;
mod bench;
mod extensions;
mod javascript;
mod mcp_peers;
mod run;
mod tests;
mod typescript;

use anyhow::{Result, bail};
use run::Workspace;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask TASK

  setup          find or make the guest toolchain and build the extensions
  demo           set up, build the host, and run one turn on a scripted model
  test           set up and run everything that CI runs
  lint           formatting, clippy, documentation
  acceptance     which capabilities the tests show, by seed
  bench [NAME]   run the benchmarks, or those whose name contains NAME; figures go to target/bench.json
  peers          install the programs of others that tests and figures speak MCP to
  bindings       write the SDKs' bindings anew from the contract";

fn main() -> ExitCode {
    match task() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn task() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_default();
    let rest: Vec<_> = arguments.collect();
    let workspace = Workspace::find()?;
    match (task.as_str(), rest.as_slice()) {
        ("setup", []) => extensions::build_all(&workspace).map(drop),
        ("demo", []) => demo(&workspace),
        ("test", []) => tests::all(&workspace),
        ("acceptance", []) => acceptance::check(&workspace),
        ("lint", []) => tests::lint(&workspace),
        ("peers", []) => {
            mcp_peers::install(&workspace);
            mcp_peers::typescript_sdk(&workspace);
            Ok(())
        }
        ("bench", []) => bench::run(&workspace, ""),
        ("bench", [name]) => bench::run(&workspace, name),
        ("bindings", []) => tests::bindings(&workspace, tests::Bindings::Write),
        ("" | "help" | "--help" | "-h", _) => {
            println!("{USAGE}");
            Ok(())
        }
        (unknown, _) => bail!("`{unknown}` with these arguments is no task\n\n{USAGE}"),
    }
}

fn demo(workspace: &Workspace) -> Result<()> {
    let extensions = extensions::build_all(workspace)?;
    run::step("building the host (the first time takes some minutes: it contains a compiler)");
    // The whole workspace, as the tests do: with another selection of packages cargo would unite other features and build
    // the compiler a second time.
    workspace.cargo(["build", "--workspace"])?;
    run::step("running the demonstration");
    let capstan = workspace.target().join("debug/capstan");
    workspace.program(&capstan, ["demo".as_ref(), "--extensions".as_ref(), extensions.as_os_str()])
}
