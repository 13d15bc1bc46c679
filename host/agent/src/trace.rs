//! What hooks did, kept for a person who asks why a call was blocked or changed.

use capstan_ports::HookStage;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Enough for the calls of a long turn; older records are forgotten first.
const MAX_RECORDS: usize = 1000;

/// What one hook did at one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRecord {
    /// The hook's name.
    pub hook: String,
    /// Where it was asked.
    pub stage: HookStage,
    /// The id of the call; empty at stages that are not about one.
    pub tool_call_id: String,
    /// What it did.
    pub effect: HookEffect,
}

/// What a hook did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookEffect {
    /// Had no objection, or changed nothing.
    Passed,
    /// Changed what it was asked about.
    Changed,
    /// Refused the call, with this reason.
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
}

/// The latest records of hooks, oldest first. Shared by all chains that it is given to.
#[derive(Debug, Default)]
pub struct HookTrace {
    records: Mutex<VecDeque<HookRecord>>,
}

impl HookTrace {
    /// The records so far.
    pub fn records(&self) -> Vec<HookRecord> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    pub(crate) fn push(&self, record: HookRecord) {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if records.len() == MAX_RECORDS {
            records.pop_front();
        }
        records.push_back(record);
    }
}
