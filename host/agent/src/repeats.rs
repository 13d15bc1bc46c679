//! Counts how often one and the same call failed in a run (P16).

use capstan_ports::ToolCall;
use std::collections::HashMap;

/// Failures of each call that has failed, by tool and arguments. A success forgets the call's failures.
#[derive(Default)]
pub(crate) struct Repeats {
    failures: HashMap<(String, String), Failures>,
}

struct Failures {
    times: u32,
    /// Of the latest one. Equal calls of one answer count once: the model could not know better yet.
    round: u32,
}

impl Repeats {
    /// Notes how a call of this round ended, and gives its failures so far.
    pub(crate) fn note(&mut self, call: &ToolCall, round: u32, is_error: bool) -> u32 {
        if !is_error && self.failures.is_empty() {
            // The usual case costs nothing.
            return 0;
        }
        let key = (call.name.clone(), call.malformed.clone().unwrap_or_else(|| call.arguments.to_string()));
        if !is_error {
            self.failures.remove(&key);
            return 0;
        }
        let failures = self.failures.entry(key).or_insert(Failures { times: 1, round });
        if failures.round != round {
            *failures = Failures { times: failures.times + 1, round };
        }
        failures.times
    }
}
