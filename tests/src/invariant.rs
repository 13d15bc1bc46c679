//! What holds after every attack: the process is as it was, and everything else still works.

use crate::guest::Guest;
use crate::sandboxed::{Place, call, tool_context};
use anyhow::{Context, Result, ensure};
use capstan_engine::Extension;
use capstan_ports::message::text_of;
use capstan_ports::tool::ToolError;
use serde_json::json;
use std::time::{Duration, Instant};

/// Bytes by which a process may be larger than before. Its allocators keep some of what a guest made them take.
const GROWTH: u64 = 48 << 20;

/// Threads and open files that may have been added: workers that wait for the next file, and what the runtime opened.
const ADDED: usize = 8;

/// The process before the attack.
#[derive(Debug, Clone, Copy)]
pub struct Before {
    seen: Option<Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    open_files: usize,
    threads: usize,
    resident: u64,
}

impl Before {
    /// Looks at the process, where that tells something: on Linux, in a process that runs this test alone.
    pub fn look() -> Self {
        let alone = std::env::var_os("NEXTEST").is_some();
        Self { seen: alone.then(Seen::now).flatten() }
    }

    /// Checks the process, a call of another extension, and a call of this one, which must come to an answer.
    ///
    /// # Errors
    /// When one of these does not hold.
    pub async fn holds(&self, place: &Place, attacker: &Extension) -> Result<()> {
        let tool = attacker.tools().into_iter().next();
        if let Some(tool) = tool {
            // The probe answers that it has nothing to do, a guest of the test whatever its body says; each gets its instance.
            let name = tool.definition().name.clone();
            let again = tool.execute(&call(&name, json!({ "steps": [] })), &tool_context()).await;
            ensure!(
                !again.as_ref().is_err_and(|error| error.to_string().contains("cannot be started")),
                "the same extension cannot be called again: {again:?}"
            );
        }
        another_works(place).await?;
        let Some(before) = self.seen else { return Ok(()) };
        let began = Instant::now();
        loop {
            let now = Seen::now().context("the process can still be looked at")?;
            let holds = now.open_files <= before.open_files + ADDED
                && now.threads <= before.threads + ADDED
                && now.resident <= before.resident + GROWTH;
            if holds {
                return Ok(());
            }
            // Some things are given back a moment after the answer.
            ensure!(began.elapsed() < Duration::from_secs(5), "{before:?} became {now:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Seen {
    fn now() -> Option<Self> {
        let count = |folder| std::fs::read_dir(folder).ok().map(Iterator::count);
        let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
        let pages: u64 = pages.split_whitespace().nth(1)?.parse().ok()?;
        Some(Self {
            open_files: count("/proc/self/fd")?,
            threads: count("/proc/self/task")?,
            resident: pages * 4096,
        })
    }
}

/// Another extension still works: what one guest does costs only itself.
///
/// # Errors
/// When it does not.
pub async fn another_works(place: &Place) -> Result<()> {
    let (guest, body) = Guest::new("other").text_result("fine");
    let tool = place.load(&guest.tool("greet", &body)).await?.tools().remove(0);
    let outcome = tool.execute(&call("greet", json!({})), &tool_context()).await;
    let outcome = outcome.map_err(|error: ToolError| anyhow::anyhow!("{error}"))?;
    ensure!(text_of(&outcome.content) == "fine", "another extension answered {outcome:?}");
    Ok(())
}
