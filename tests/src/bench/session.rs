//! What the file of a session costs: an entry that is kept, and a long session that is opened.

use crate::driven::synced_appends;
use crate::figure::{Figures, Unit};
use crate::sandbox::runtime;
use anyhow::{Context, Result, ensure};
use capstan_ports::message::ToolResultMessage;
use capstan_ports::{AssistantMessage, Content, Message, SessionLog, StopReason, ToolCall};
use capstan_session::SessionFile;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const GROUP: &str = "session";
/// Entries of a session that a person had for months, and a tenth of them.
const MANY: usize = 100_000;
const FEW: usize = MANY / 10;
/// So that many entries are about 200 MB.
const TEXT_BYTES: usize = 1_700;

const APPENDS: usize = 200;
const OPENS: usize = 10;
/// The first ones bring the file into the system's cache.
const WARM_UP_OPENS: usize = 2;
const PROCESSES: usize = 3;

/// Opening and building the context, in milliseconds, on two cores.
const MAX_OPEN_MS: f64 = 500.0;
/// The memory that grows by opening, in terms of the file's size.
const MAX_MEMORY: f64 = 2.0;
/// Ten times the entries may take a little more than ten times as long: their index no longer fits the nearest cache.
const MAX_GROWTH: f64 = 12.0;

/// Measures the group.
pub(crate) fn measure(figures: &mut Figures) -> Result<()> {
    if figures.wants(GROUP, "session_append_fsync") {
        append_fsync(figures)?;
    }
    let names = ["session_open_10k", "session_open_100k", "session_open_growth", "session_open_memory"];
    let [few, many, growth, memory] = names.map(|name| figures.wants(GROUP, name));
    if !(few || many || growth || memory) {
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let long = long_session(&folder, MANY)?;
    if few || many || growth {
        open(figures, &long_session(&folder, FEW)?, &long)?;
    }
    if memory {
        open_memory(figures, &long)?;
    }
    Ok(())
}

/// One entry and the wait until it is durable; beside it the device alone, with lines of about the same length.
fn append_fsync(figures: &mut Figures) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let session = SessionFile::create(folder.path(), Path::new("/bench"))?;
    let runtime = runtime()?;
    let mut times = Vec::with_capacity(APPENDS);
    for number in 0..APPENDS {
        let message = message(number);
        let began = Instant::now();
        runtime.block_on(async {
            session.append_message(message).await?;
            session.commit().await
        })?;
        times.push(began.elapsed());
    }
    figures.times("session_append_fsync", Unit::Milliseconds, None, &times);
    let bytes = std::fs::metadata(session.path())?.len() as usize / APPENDS;
    let alone = synced_appends(folder.path(), bytes, APPENDS)?;
    figures.times("session_fsync_alone", Unit::Milliseconds, None, &alone);
    Ok(())
}

/// Opening for writing and building the context, of few and of many entries in turn, so that both see the same machine.
fn open(figures: &mut Figures, few: &Path, many: &Path) -> Result<()> {
    let (mut short, mut long, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..WARM_UP_OPENS + OPENS {
        let one = opened(few, FEW)?;
        let other = opened(many, MANY)?;
        if n >= WARM_UP_OPENS {
            short.push(one);
            long.push(other);
            ratios.push(other.as_secs_f64() / one.as_secs_f64());
        }
    }
    figures.times("session_open_10k", Unit::Milliseconds, None, &short);
    figures.times("session_open_100k", Unit::Milliseconds, Some(MAX_OPEN_MS), &long);
    figures.ratios("session_open_growth", "session_open_10k", Some(MAX_GROWTH), ratios);
    Ok(())
}

/// Closing is not part of the time: whoever goes on with a session keeps it.
fn opened(path: &Path, n_entries: usize) -> Result<Duration> {
    let began = Instant::now();
    let session = SessionFile::open(path)?;
    let context = session.context()?;
    let took = began.elapsed();
    ensure!(
        context.messages.len() == n_entries && session.notices().is_empty(),
        "the session is not what was written"
    );
    Ok(took)
}

/// By how much the largest resident memory of a process grows that opens the session, in terms of the file's size.
fn open_memory(figures: &mut Figures, path: &Path) -> Result<()> {
    let counter = std::env::current_exe()?.with_file_name("capstan-count");
    let size = std::fs::metadata(path)?.len() as f64;
    let mut ratios = Vec::new();
    for _ in 0..PROCESSES {
        let output =
            Command::new(&counter).arg("open").arg(path).output().with_context(|| {
                format!("{} cannot be run; `cargo xtask bench` builds it", counter.display())
            })?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{} failed: {complaint}", counter.display());
        let kib: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
        ratios.push(kib * 1024.0 / size);
    }
    figures.values("session_open_memory", Unit::Times, Some(MAX_MEMORY), ratios);
    Ok(())
}

/// A closed session of so many entries, written by the product.
fn long_session(folder: &TempDir, n_entries: usize) -> Result<PathBuf> {
    let runtime: Runtime = runtime()?;
    let session = SessionFile::create(folder.path(), Path::new("/bench"))?;
    runtime.block_on(async {
        for number in 0..n_entries {
            session.append_message(message(number)).await?;
        }
        session.commit().await
    })?;
    Ok(session.path().to_owned())
}

/// Of four messages one is of the user, two are answers with thinking and a call, and one is the content of a file.
fn message(number: usize) -> Arc<Message> {
    let prose = |bytes: usize| "some words of it ".repeat(bytes / 17);
    Arc::new(match number % 4 {
        0 => Message::user(prose(TEXT_BYTES)),
        2 => Message::ToolResult(ToolResultMessage {
            tool_call_id: format!("call_{}", number - 1),
            tool_name: "read".into(),
            content: vec![Content::text("    let value = \"of a line\";\n".repeat(TEXT_BYTES / 29))],
            details: None,
            is_error: false,
            timestamp: 1,
        }),
        _ => Message::Assistant(AssistantMessage {
            content: vec![
                Content::Thinking {
                    thinking: prose(TEXT_BYTES / 2),
                    thinking_signature: Some("c".repeat(200)),
                    redacted: false,
                },
                Content::text(prose(TEXT_BYTES / 2)),
                Content::ToolCall(ToolCall {
                    id: format!("call_{number}"),
                    name: "read".into(),
                    arguments: json!({ "path": "src/main.rs" }),
                    malformed: None,
                }),
            ],
            api: "anthropic-messages".into(),
            provider: "anthropic".into(),
            model: "model".into(),
            stop_reason: StopReason::ToolUse,
            timestamp: 1,
            ..AssistantMessage::default()
        }),
    })
}
