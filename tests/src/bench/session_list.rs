//! How long it takes to list the sessions that were kept.

use crate::figure::{Figures, Unit};
use anyhow::Result;
use capstan_ports::Message;
use capstan_ports::entry::EntryKind;
use capstan_session::{SessionFile, list};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const GROUP: &str = "session";
const N_SESSIONS: usize = 1_000;
const N_MESSAGES: usize = 40;
const MESSAGE_BYTES: usize = 1_000;
const TIMES: usize = 30;

/// Measures a list of a thousand sessions of forty messages of a kilobyte, which the system has in its cache, as it has after
/// the first time.
pub(crate) fn measure(figures: &mut Figures) -> Result<()> {
    if !figures.wants(GROUP, "session_list_1000") {
        return Ok(());
    }
    let root = tempfile::tempdir()?;
    let first = SessionFile::create(root.path(), Path::new("/bench"))?;
    for _ in 0..N_MESSAGES {
        first.append_entry(EntryKind::message(Arc::new(Message::user("x".repeat(MESSAGE_BYTES)))))?;
    }
    for _ in 1..N_SESSIONS {
        first.fork(root.path(), first.leaf().as_ref())?;
    }
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let began = Instant::now();
        let listed = list(root.path(), None)?;
        times.push(began.elapsed());
        anyhow::ensure!(
            listed.len() == N_SESSIONS && listed.iter().all(|session| session.n_messages == N_MESSAGES),
            "not all sessions were listed whole"
        );
    }
    figures.times("session_list_1000", Unit::Milliseconds, Some(100.0), &times);
    Ok(())
}
