//! What one gate costs: a component in a fresh instance, one that is kept, and a spawned shell in its place.

use crate::Subject;
use crate::figure::{Figures, Unit};
use crate::sandbox::{Place, context, runtime, shell_call, variant};
use anyhow::{Context, Result, bail, ensure};
use capstan_engine::Sandbox;
use capstan_ports::ToolOutcome;
use capstan_ports::hook::{GateVerdict, Hook};
use capstan_ports::message::ToolCall;
use capstan_tests::guest::Guest;
use capstan_tests::sandboxed::call;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const GROUP: &str = "hook_call";
const CALLS: usize = 20_000;
/// Before counting: the pool's slots, the branch predictors and the allocator are as in a running session.
const WARM_UP_CALLS: usize = 1_000;
const SPAWNS: usize = 300;
/// Calls with 50 KB, which take a hundred times as long as the others.
const RESULTS: usize = 1_000;

/// A gate from Rust through the SDK; the figure that `sh` is compared with.
const FRESH: &str = "hook_fresh";
const SPAWNED: &str = "hook_spawn_sh";

/// Measures the group.
pub(crate) fn measure(subject: &Subject, figures: &mut Figures) -> Result<()> {
    let compares = figures.wants(GROUP, "hook_vs_sh");
    let wants = |figures: &Figures, name: &str| {
        figures.wants(GROUP, name) || (compares && [FRESH, SPAWNED].contains(&name))
    };
    let names = [
        FRESH,
        "hook_fresh_bare",
        "hook_fresh_guard",
        "hook_redactor",
        "hook_trimmer",
        "hook_warm",
        "hook_wasip2",
        "hook_chain5",
        "hook_rotation50",
        "qjs_fresh",
        "starlingmonkey_fresh",
    ];
    if names.iter().any(|name| wants(figures, name)) {
        let place = Place::new()?;
        let sandbox = place.sandbox()?;
        let bench = Bench { place: &place, sandbox: &sandbox };
        for name in names.into_iter().filter(|name| wants(figures, name)).collect::<Vec<_>>() {
            let file = match name {
                FRESH => subject.guests.join("minimal-gate.wasm"),
                "hook_wasip2" => subject.guests.join("wasip2-gate.wasm"),
                "qjs_fresh" => subject.guests.join("javascript-gate-quickjs.wasm"),
                "starlingmonkey_fresh" => subject.guests.join("javascript-gate-starlingmonkey.wasm"),
                "hook_chain5" | "hook_rotation50" => {
                    let many = if name == "hook_chain5" { 5 } else { 50 };
                    let original = subject.guests.join("minimal-gate.wasm");
                    let hooks = runtime()?.block_on(bench.variants(&original, many))?;
                    let times = match name {
                        "hook_chain5" => runtime()?.block_on(in_chain(&hooks))?,
                        _ => runtime()?.block_on(in_rotation(&hooks))?,
                    };
                    let goal = (name == "hook_chain5").then_some(50.0);
                    figures.times(name, Unit::Microseconds, goal, &times);
                    continue;
                }
                "hook_fresh_bare" => bench.place.file("bare.wasm", &bare(Kept::No).build()?)?,
                "hook_redactor" => subject.extensions.join("secret-redactor.wasm"),
                "hook_trimmer" => subject.extensions.join("output-trimmer.wasm"),
                "hook_fresh_guard" => subject.extensions.join("command-guard.wasm"),
                _ => bench.place.file("kept.wasm", &bare(Kept::Yes).build()?)?,
            };
            if name == FRESH {
                runtime()?.block_on(bench.looks_at_arguments(&file))?;
            }
            if name.ends_with("y_fresh") || name == "qjs_fresh" {
                // Built only where npm is installed.
                if !file.is_file() {
                    eprintln!("{name} is left out: {} is not there", file.display());
                    continue;
                }
            }
            let goal = match name {
                FRESH | "hook_fresh_bare" => Some(10.0),
                "hook_wasip2" => Some(35.0),
                "qjs_fresh" => Some(250.0),
                _ => None,
            };
            let times = match name {
                "hook_redactor" | "hook_trimmer" => runtime()?.block_on(bench.results(&file))?,
                _ => runtime()?.block_on(bench.calls(&file))?,
            };
            figures.times(name, Unit::Microseconds, goal, &times);
        }
    }
    if wants(figures, SPAWNED) {
        figures.times(SPAWNED, Unit::Microseconds, None, &spawns(&shell_call())?);
    }
    figures.compare("hook_vs_sh", FRESH, SPAWNED);
    figures.compare("hook_rotation_vs_one", FRESH, "hook_rotation50");
    Ok(())
}

/// Whether an instance lives for the session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

/// The least that a gate can be: it lets everything pass. What it was handed is forgotten, so that an instance that is kept
/// never grows.
fn bare(kept: Kept) -> Guest {
    let (mut guest, answer) = Guest::new("bare").verdict(0, "");
    guest.session_lifetime = kept == Kept::Yes;
    guest.gate(&["bash"], &format!("(global.set $heap (i32.const 65536)) {answer}"))
}

struct Bench<'a> {
    place: &'a Place,
    sandbox: &'a Sandbox,
}

impl Bench<'_> {
    async fn calls(&self, file: &Path) -> Result<Vec<Duration>> {
        let hook = self.hook(file).await?;
        let (context, call) = (context(), shell_call());
        let verdict = hook.before_tool_call(&context, &call).await?;
        ensure!(verdict == GateVerdict::Pass, "{} does not let the call pass: {verdict:?}", file.display());
        for _ in 0..WARM_UP_CALLS {
            hook.before_tool_call(&context, &call).await?;
        }
        let mut times = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let began = Instant::now();
            hook.before_tool_call(&context, &call).await?;
            times.push(began.elapsed());
        }
        Ok(times)
    }

    /// Calls of a hook that rewrites results, each with 50 KB of a test run with a password in it.
    async fn results(&self, file: &Path) -> Result<Vec<Duration>> {
        let hook = self.hook(file).await?;
        let (context, call) = (context(), call("bash", json!({ "command": "cargo test" })));
        let outcome = ToolOutcome::text(test_run());
        let answer = hook.after_tool_call(&context, &call, &outcome).await?;
        ensure!(answer.is_some(), "{} leaves the result as it is", file.display());
        let mut times = Vec::with_capacity(RESULTS);
        for _ in 0..RESULTS {
            let began = Instant::now();
            hook.after_tool_call(&context, &call, &outcome).await?;
            times.push(began.elapsed());
        }
        Ok(times)
    }

    /// Makes sure that the minimal gate is one, and not merely quick.
    async fn looks_at_arguments(&self, file: &Path) -> Result<()> {
        let marked = call("bash", json!({ "command": "echo minimal-gate-must-block-this" }));
        let verdict = self.hook(file).await?.before_tool_call(&context(), &marked).await?;
        ensure!(matches!(verdict, GateVerdict::Block(_)), "{} does not block: {verdict:?}", file.display());
        Ok(())
    }

    /// Extensions with the code of one file, which differ in a section that nobody reads: to the host each is another one.
    async fn variants(&self, original: &Path, many: usize) -> Result<Vec<Arc<dyn Hook>>> {
        let mut hooks = Vec::with_capacity(many);
        for number in 0..many {
            let file = self.place.file(&format!("variant-{number}.wasm"), &variant(original, number)?)?;
            hooks.push(self.hook(&file).await?);
        }
        Ok(hooks)
    }

    async fn hook(&self, file: &Path) -> Result<Arc<dyn Hook>> {
        if !file.is_file() {
            bail!("{} is missing; `cargo xtask setup` builds it", file.display());
        }
        let extension = self.place.extension(self.sandbox, file).await?;
        extension.hook().with_context(|| format!("{} has no hook", file.display()))
    }
}

/// 50 KB, as much as the host lets a command print.
fn test_run() -> String {
    let mut text = "DB_PASSWORD=hunter22\n".to_owned();
    let mut number = 0;
    while text.len() < 50_000 {
        number += 1;
        text.push_str(&format!("test orders::{number:04}::the_token_of_a_request_is_checked ... ok\n"));
    }
    text + "test orders::last ... FAILED\n\ntest result: FAILED. 800 passed; 1 failed\n"
}

/// Times of one call after another of all of them, as a chain asks its members.
async fn in_chain(hooks: &[Arc<dyn Hook>]) -> Result<Vec<Duration>> {
    let (context, call) = (context(), shell_call());
    let mut times = Vec::with_capacity(CALLS / 5);
    for turn in 0..(WARM_UP_CALLS + CALLS) / 5 {
        let began = Instant::now();
        for hook in hooks {
            hook.before_tool_call(&context, &call).await?;
        }
        if turn >= WARM_UP_CALLS / 5 {
            times.push(began.elapsed());
        }
    }
    Ok(times)
}

/// Times of single calls, each of another extension than the one before.
async fn in_rotation(hooks: &[Arc<dyn Hook>]) -> Result<Vec<Duration>> {
    let (context, call) = (context(), shell_call());
    let mut times = Vec::with_capacity(CALLS);
    for (turn, hook) in hooks.iter().cycle().take(WARM_UP_CALLS + CALLS).enumerate() {
        let began = Instant::now();
        hook.before_tool_call(&context, &call).await?;
        if turn >= WARM_UP_CALLS {
            times.push(began.elapsed());
        }
    }
    Ok(times)
}

/// The same gate as a process, as many agents have their hooks: the call as JSON on stdin, the verdict as the exit code.
fn spawns(call: &ToolCall) -> Result<Vec<Duration>> {
    let json = serde_json::to_vec(&json!({
        "session_id": "test",
        "tool_name": call.name,
        "tool_input": call.arguments,
    }))?;
    let shell = PathBuf::from("/bin/sh");
    let mut times = Vec::with_capacity(SPAWNS);
    for _ in 0..SPAWNS {
        let began = Instant::now();
        let mut child =
            Command::new(&shell).args(["-c", "read -r call; exit 0"]).stdin(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take().context("the shell has a stdin")?;
        stdin.write_all(&json)?;
        stdin.write_all(b"\n")?;
        drop(stdin);
        ensure!(child.wait()?.success(), "the shell failed");
        times.push(began.elapsed());
    }
    Ok(times)
}
