//! Output as it comes: what of it is new, and how much of it is worth a line.

use crate::screen::{DIM, brief};
use std::collections::HashMap;

/// Lines of one call's output that are shown while it runs. It is to show that something happens, not what: the model reads
/// the output, and the session holds it.
const MAX_LINES: usize = 10;

/// Characters of one such line.
const MAX_CHARS: usize = 160;

/// Output of which always the last part is told.
#[derive(Default)]
pub(super) struct Followed {
    text: String,
    /// There is more than is told, so that what is new cannot be told from what was there.
    pub(super) is_lost: bool,
}

impl Followed {
    /// What of the output so far is new, if that can be told.
    pub(super) fn take<'t>(&mut self, all: &'t str) -> Option<&'t str> {
        let new = all.strip_prefix(self.text.as_str()).filter(|_| !self.is_lost);
        match new {
            Some(new) => self.text.push_str(new),
            None => self.is_lost = true,
        }
        new
    }
}

/// The output of the calls that run, by their ids.
#[derive(Default)]
pub(super) struct Tails(HashMap<String, Tail>);

#[derive(Default)]
struct Tail {
    followed: Followed,
    n_lines: usize,
}

impl Tails {
    /// The lines that have become complete, as they are shown.
    pub(super) fn update(&mut self, call: &str, output: &str) -> String {
        // No call has as many updates as could make looking it up by a copy of its id cost anything.
        let tail = self.0.entry(call.to_owned()).or_default();
        if tail.n_lines > MAX_LINES {
            return String::new();
        }
        let complete = output.rfind('\n').and_then(|at| output.get(..=at)).unwrap_or_default();
        let mut shown = String::new();
        for line in tail.followed.take(complete).unwrap_or_default().lines() {
            tail.n_lines += 1;
            if tail.n_lines > MAX_LINES {
                shown += &format!("{DIM}  | …{DIM:#}\n");
                break;
            }
            shown += &format!("{DIM}  | {}{DIM:#}\n", brief(line, MAX_CHARS));
        }
        shown
    }

    /// The call is over.
    pub(super) fn end(&mut self, call: &str) {
        self.0.remove(call);
    }
}

#[cfg(test)]
#[path = "tail_tests.rs"]
mod tests;
