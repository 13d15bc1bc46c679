//! What hooks did, kept for a person who asks why a call was blocked or changed, or why a hook did not take part.
//!
//! Without a trace nothing here runs. With one, a record costs some small texts: what changed is kept field by field and
//! shortened, and the oldest records are forgotten first.

use capstan_ports::HookStage;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// Enough for the calls of a long turn; older records are forgotten first.
const MAX_RECORDS: usize = 1000;

/// What one hook did at one stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookRecord {
    /// The hook's name.
    pub hook: String,
    /// Where it was asked, or would have been.
    pub stage: HookStage,
    /// The id of the call; empty at stages that are not about one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool_call_id: String,
    /// The tool of the call; empty at stages that are not about one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// From the question to the hook's answer, in whole microseconds when serialized; zero if it was not asked. What a
    /// person took to answer is not in it.
    #[serde(rename = "took_us", with = "microseconds")]
    pub took: Duration,
    /// What it did.
    pub effect: HookEffect,
}

/// What a hook did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookEffect {
    /// Had no objection, or changed nothing.
    Passed,
    /// Changed this in what it was asked about.
    Changed(Vec<FieldChange>),
    /// Refused the call, or objected to a compaction, with this reason.
    Blocked(String),
    /// Put the call off, with this reason.
    Deferred(String),
    /// Had a person asked; true when that person agreed.
    Asked {
        /// The answer.
        allowed: bool,
    },
    /// Ended the turn, with this reason.
    Aborted(String),
    /// Did not answer, or not usably.
    Failed(String),
    /// Was not asked.
    NotAsked(Absence),
}

/// Why a hook was not asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Absence {
    /// It takes part in the stage, but not for this tool.
    OtherTool,
    /// It was switched off before, for this reason.
    Off(String),
    /// The hook of this name had decided already.
    DecidedBy(String),
}

/// One field before and after, each as text that may be shortened around the difference. `None`: there was none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// The name of the argument or the part of the result.
    pub field: String,
    /// As it was.
    pub before: Option<String>,
    /// As the hook left it.
    pub after: Option<String>,
}

/// The latest records of hooks, oldest first. Shared by all chains that it is given to.
#[derive(Debug, Default)]
pub struct HookTrace {
    kept: Mutex<Kept>,
    follower: OnceLock<UnboundedSender<HookRecord>>,
}

#[derive(Debug, Default)]
struct Kept {
    records: VecDeque<HookRecord>,
    n_forgotten: u64,
}

impl HookTrace {
    /// The records so far.
    pub fn records(&self) -> Vec<HookRecord> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).records.iter().cloned().collect()
    }

    /// The records so far and how many older ones were forgotten; the trace is empty afterwards.
    pub fn take(&self) -> (Vec<HookRecord>, u64) {
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        (kept.records.into(), kept.n_forgotten)
    }

    /// Every record from now on, as it comes. `None` when somebody follows already.
    pub fn follow(&self) -> Option<UnboundedReceiver<HookRecord>> {
        let (sender, records) = mpsc::unbounded_channel();
        self.follower.set(sender).is_ok().then_some(records)
    }

    pub(crate) fn push(&self, record: HookRecord) {
        if let Some(follower) = self.follower.get() {
            // Whoever stopped following misses nothing that they want.
            drop(follower.send(record.clone()));
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.records.len() == MAX_RECORDS {
            kept.records.pop_front();
            kept.n_forgotten += 1;
        }
        kept.records.push_back(record);
    }
}

mod microseconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(took.as_micros()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_micros)
    }
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
