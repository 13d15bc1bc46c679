//! What the hooks of the last run did, kept so that `capstan ext explain --last` can tell in another process.
//!
//! One file below the data folder, for its user's eyes only: arguments and results of tools stand in it, shortened, as they
//! stand whole in the session. It is replaced as a whole, so a reader sees one run or the other, and it is not flushed to
//! the device: a power cut may cost it, and nothing is lost by that.

use crate::catalog::{Catalog, State};
use crate::compose::Composed;
use crate::home::{Home, replace_private};
use crate::live::AbsentNow;
use crate::screen;
use anyhow::{Context, Result, ensure};
use capstan_agent::AgentSession;
use capstan_agent::trace::{HookRecord, HookTrace};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::SystemTime;

/// The form of the file.
const VERSION: u32 = 1;

/// The last run as it is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LastRun {
    /// The session's id.
    pub(crate) session: String,
    /// When the run ended, in UTC.
    pub(crate) time: String,
    /// Older records of the run that were forgotten.
    pub(crate) forgotten: u64,
    /// What hooks did, in order.
    pub(crate) hooks: Vec<HookRecord>,
    /// Extensions that took no part, and why.
    pub(crate) absent: Vec<Absent>,
}

/// An extension that is not in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Absent {
    /// Its id, or its file's name.
    pub(crate) name: String,
    /// One word, as in `capstan ext list`.
    pub(crate) state: String,
    /// What the user can do.
    pub(crate) reason: String,
    /// The tools that it would have; only while the program runs.
    #[serde(skip)]
    pub(crate) tools: Vec<String>,
}

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Line {
    Run { version: u32, session: String, time: String, forgotten: u64 },
    Extension(Absent),
    Hook(HookRecord),
}

/// Keeps the traces of a session's runs.
pub(crate) struct Explanations {
    file: PathBuf,
    session: AgentSession,
    trace: Arc<HookTrace>,
    absent: AbsentNow,
}

impl Explanations {
    /// For the runs of this session, in the user's own place.
    pub(crate) fn of(home: &Home, composed: &Composed) -> Self {
        Self {
            file: file(home),
            session: composed.session.clone(),
            trace: composed.trace.clone(),
            absent: composed.live.absent(),
        }
    }

    /// Writes what was recorded since the last time. A run is not worth less because its explanation cannot be kept, so a
    /// failure is only said.
    pub(crate) fn keep(&self) {
        let (hooks, forgotten) = self.trace.take();
        let time = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let run = Line::Run { version: VERSION, session: self.session.id().to_string(), time, forgotten };
        let absent = self.absent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let lines = std::iter::once(run)
            .chain(absent.into_iter().map(Line::Extension))
            .chain(hooks.into_iter().map(Line::Hook));
        let text: Result<String> = lines.map(|line| Ok(serde_json::to_string(&line)? + "\n")).collect();
        if let Err(error) = text.and_then(|text| replace_private(&self.file, &text)) {
            tracing::warn!("what the hooks did is not kept: {}", screen::whole(&error));
        }
    }
}

/// What is not in force, with the reason.
pub(crate) fn absent(catalog: &Catalog) -> Vec<Absent> {
    let off = catalog.found.iter().filter(|found| found.state != State::Active);
    off.map(|found| {
        let name = found.name();
        let reason = found
            .notice()
            .unwrap_or_else(|| format!("you switched it off. To use it again: capstan ext allow {name}"));
        let about = found.about.iter().flat_map(|about| &about.descriptor.tools);
        let tools = about.map(|tool| tool.name.clone()).collect();
        Absent { state: found.state.word().to_owned(), name, reason, tools }
    })
    .collect()
}

/// The last run; `None` if there was none yet.
///
/// # Errors
/// When the file cannot be read or is of another version.
pub(crate) fn last(home: &Home) -> Result<Option<LastRun>> {
    let path = file(home);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) if text.is_empty() => return Ok(None),
        Ok(text) => text,
        Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(reason) => return Err(reason).with_context(|| format!("{} cannot be read", path.display())),
    };
    parse(&text)
        .with_context(|| format!("{} cannot be understood; the next run replaces it", path.display()))
        .map(Some)
}

fn parse(text: &str) -> Result<LastRun> {
    let mut run = None;
    let (mut hooks, mut absent) = (Vec::new(), Vec::new());
    for line in text.lines() {
        match serde_json::from_str(line)? {
            Line::Run { version, session, time, forgotten } => {
                ensure!(version == VERSION, "it is of version {version}, this program reads {VERSION}");
                run = Some((session, time, forgotten));
            }
            Line::Extension(extension) => absent.push(extension),
            Line::Hook(record) => hooks.push(record),
        }
    }
    let (session, time, forgotten) = run.context("it does not say which run it is of")?;
    Ok(LastRun { session, time, forgotten, hooks, absent })
}

fn file(home: &Home) -> PathBuf {
    home.data.join("explain").join("last.jsonl")
}
