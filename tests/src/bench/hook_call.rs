//! What one gate costs: a component in a fresh instance, one that is kept, and a spawned shell in its place.

use crate::Subject;
use crate::figure::{Figures, Unit};
use crate::sandbox::{Place, context, runtime, shell_call};
use anyhow::{Context, Result, bail, ensure};
use capstan_engine::Sandbox;
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

/// A gate from Rust through the SDK; the figure that `sh` is compared with.
const FRESH: &str = "hook_fresh";
const SPAWNED: &str = "hook_spawn_sh";

/// Measures the group.
pub(crate) fn measure(subject: &Subject, figures: &mut Figures) -> Result<()> {
    let compares = figures.wants(GROUP, "hook_vs_sh");
    let wants = |figures: &Figures, name: &str| {
        figures.wants(GROUP, name) || (compares && [FRESH, SPAWNED].contains(&name))
    };
    let names = [FRESH, "hook_fresh_bare", "hook_fresh_guard", "hook_warm"];
    if names.iter().any(|name| wants(figures, name)) {
        let place = Place::new()?;
        let sandbox = place.sandbox()?;
        let bench = Bench { place: &place, sandbox: &sandbox };
        for name in names.into_iter().filter(|name| wants(figures, name)).collect::<Vec<_>>() {
            let file = match name {
                FRESH => subject.guests.join("minimal-gate.wasm"),
                "hook_fresh_bare" => bench.place.file("bare.wasm", &bare(Kept::No).build()?)?,
                "hook_fresh_guard" => subject.extensions.join("command-guard.wasm"),
                _ => bench.place.file("kept.wasm", &bare(Kept::Yes).build()?)?,
            };
            if name == FRESH {
                runtime()?.block_on(bench.looks_at_arguments(&file))?;
            }
            let goal = matches!(name, FRESH | "hook_fresh_bare").then_some(10.0);
            let times = runtime()?.block_on(bench.calls(&file))?;
            figures.times(name, Unit::Microseconds, goal, &times);
        }
    }
    if wants(figures, SPAWNED) {
        figures.times(SPAWNED, Unit::Microseconds, None, &spawns(&shell_call())?);
    }
    figures.compare("hook_vs_sh", FRESH, SPAWNED);
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

    /// Makes sure that the minimal gate is one, and not merely quick.
    async fn looks_at_arguments(&self, file: &Path) -> Result<()> {
        let marked = call("bash", json!({ "command": "echo minimal-gate-must-block-this" }));
        let verdict = self.hook(file).await?.before_tool_call(&context(), &marked).await?;
        ensure!(matches!(verdict, GateVerdict::Block(_)), "{} does not block: {verdict:?}", file.display());
        Ok(())
    }

    async fn hook(&self, file: &Path) -> Result<Arc<dyn Hook>> {
        if !file.is_file() {
            bail!("{} is missing; `cargo xtask setup` builds it", file.display());
        }
        let extension = self.place.extension(self.sandbox, file).await?;
        extension.hook().with_context(|| format!("{} has no hook", file.display()))
    }
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
