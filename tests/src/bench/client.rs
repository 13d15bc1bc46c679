//! The product as a process: how soon it asks the model, and how soon it asks again.

use crate::Subject;
use crate::driven::{Installation, bare_shells, read_two_lines, shell_true, synced_appends};
use crate::figure::{Figures, Unit};
use anyhow::Result;

const GROUP: &str = "client";
const STARTS: usize = 30;
const ROUNDS: usize = 100;

/// About what one entry of a session takes.
const LINE_BYTES: usize = 400;

/// Measures the group.
pub(crate) fn measure(subject: &Subject, figures: &mut Figures) -> Result<()> {
    let names = [
        "client_start",
        "client_first_request",
        "client_round_shell",
        "client_round_read",
        "client_round_read_no_session",
        "client_peak_memory",
        "fsync",
    ];
    let wanted = names.map(|name| figures.wants(GROUP, name));
    if !wanted.contains(&true) {
        return Ok(());
    }
    let [start, request, shell, read, unkept, memory, fsync] = wanted;
    let installation = Installation::new(subject)?;
    // The page cache and the cache of compiled code are warm afterwards.
    installation.run(&["--permissions", "all"], "bash", shell_true(), 1)?;
    if start || request {
        let mut starts = Vec::new();
        let mut bytes = Vec::new();
        for _ in 0..STARTS {
            let run = installation.run(&[], "read", read_two_lines(), 0)?;
            starts.extend(run.start());
            bytes.extend(run.first_request_bytes().map(|bytes| bytes as f64));
        }
        figures.times("client_start", Unit::Milliseconds, Some(30.0), &starts);
        figures.values("client_first_request", Unit::Bytes, Some(6_144.0), bytes);
    }
    let mut peaks = Vec::new();
    if shell {
        let run = installation.run(&["--permissions", "all"], "bash", shell_true(), ROUNDS)?;
        figures.times("client_round_shell", Unit::Milliseconds, Some(5.0), &run.rounds());
        figures.times("bare_shell", Unit::Milliseconds, None, &bare_shells(ROUNDS)?);
        peaks.push(run.peak_kib);
    }
    if read || memory {
        let run = installation.run(&[], "read", read_two_lines(), ROUNDS)?;
        figures.times("client_round_read", Unit::Milliseconds, None, &run.rounds());
        peaks.push(run.peak_kib);
    }
    if unkept {
        let run = installation.run(&["--no-session"], "read", read_two_lines(), ROUNDS)?;
        figures.times("client_round_read_no_session", Unit::Milliseconds, Some(1.0), &run.rounds());
        peaks.push(run.peak_kib);
    }
    if read || fsync {
        let times = synced_appends(&installation.home(), LINE_BYTES, ROUNDS)?;
        figures.times("fsync", Unit::Milliseconds, None, &times);
    }
    // Binary megabytes, as `top` shows them.
    let peaks = peaks.into_iter().map(|kib| kib as f64 / 1024.0).collect();
    figures.values("client_peak_memory", Unit::Megabytes, Some(45.0), peaks);
    Ok(())
}
