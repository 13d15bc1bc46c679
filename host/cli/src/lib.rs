//! The `capstan` command: assembly and the terminal.
//!
//! The only crate that sees all others. [`home`] and [`config`] find what the user set, [`catalog`] what extensions there
//! are and which may run, [`prompts`] what the model is told, [`roles`] and [`commands`] who plays which part, [`roster`]
//! lists them with the native ones, [`compose`] puts the real ports into an agent session; [`print`], [`json`], [`rpc`] and [`repl`]
//! drive it, and [`watch`] lets it follow its extensions.
//!
//! A library with one function, so that the suites can build the very same program and drive it.
//!
//! stdout is data, stderr is talk. Exit codes: 0 done, 1 it failed, 2 wrong usage, 130 interrupted, 143 told to end.

mod approve;
mod args;
mod builtin;
mod cache;
mod catalog;
mod commands;
mod compose;
mod config;
mod context;
mod demo;
mod doctor;
mod events;
mod explain;
mod ext;
mod home;
mod json;
mod live;
mod load;
mod loader;
mod lock;
mod log;
mod mcp;
mod memory_command;
mod model;
mod output;
mod permit;
mod plan;
mod print;
mod project;
mod prompts;
mod reading;
mod reload;
mod repl;
mod roles;
mod roster;
mod rpc;
mod screen;
mod secrets;
mod session_command;
mod sessions;
mod start;
mod templates;
mod usage;
mod watch;

use args::{Args, Command, Mode};
use clap::Parser;
use std::process::ExitCode;

/// The program.
pub fn main() -> ExitCode {
    let args = Args::parse();
    if matches!(args.command, Some(Command::CompileWorker)) {
        // Before anything else is set up: the limits hold for all of the process.
        return match capstan_engine::compile::serve(std::io::stdin().lock(), std::io::stdout().lock()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(reason) => {
                screen::complain(&anyhow::Error::new(reason).context("the compiler process failed"));
                ExitCode::FAILURE
            }
        };
    }
    log::start(args.verbosity());
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(reason) => {
            screen::complain(&anyhow::Error::new(reason).context("the runtime cannot start"));
            return ExitCode::FAILURE;
        }
    };
    let program = async {
        let code = run(args).await;
        // However it went: what was started for it ends with it.
        mcp::shut_down().await;
        code
    };
    let code = match runtime.block_on(on_a_worker(program)) {
        Ok(code) => code,
        Err(error) => {
            screen::complain(&error);
            ExitCode::FAILURE
        }
    };
    // A guest or a command that is still being torn down must not hold up the end of the process.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    code
}

/// Runs the program on a thread of the runtime rather than on the main thread: what it starts and waits for, a tool call or
/// a chunk of the model's answer, then runs on the same thread, and a round saves several changes of threads.
async fn on_a_worker(
    program: impl Future<Output = anyhow::Result<ExitCode>> + Send + 'static,
) -> anyhow::Result<ExitCode> {
    match tokio::spawn(program).await {
        Ok(code) => code,
        Err(stopped) => match stopped.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(stopped) => Err(anyhow::Error::new(stopped)),
        },
    }
}

async fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Some(Command::Ext(command)) => ext::run(command).await,
        Some(Command::Secret(command)) => secrets::run(&command),
        Some(Command::Cache(command)) => cache::run(command),
        Some(Command::Session(command)) => session_command::run(command),
        Some(Command::Memory(command)) => memory_command::run(command).await,
        Some(Command::Mcp(command)) => mcp::run(command).await,
        // Done before there was a runtime.
        Some(Command::CompileWorker) => Ok(ExitCode::SUCCESS),
        Some(Command::Doctor) => doctor::run().await,
        Some(Command::Plan(options)) => plan::run(*options).await,
        Some(Command::Demo(options)) => demo::run(options).await,
        None => match (&args.print, args.mode) {
            (Some(_), Mode::Text) => print::run(args).await,
            (Some(_), Mode::Json) => json::run(args).await,
            (None, Mode::Json) => anyhow::bail!("--mode json needs a prompt: capstan --mode json -p \"…\""),
            (None, Mode::Rpc) => rpc::run(args).await,
            (Some(_), Mode::Rpc) => {
                anyhow::bail!("--mode rpc takes its prompts from stdin; leave --print out")
            }
            (None, Mode::Text) => repl::run(args).await,
        },
    }
}
