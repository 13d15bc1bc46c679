//! Plan formats.

use crate::notes;
use capstan_sdk::prelude::*;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// One step a line, each after `- `; a heading before them is passed over.
pub(crate) fn list(raw: &str, _goal: &str) -> Result<Plan> {
    let mut steps = Vec::new();
    for (at, line) in raw.lines().enumerate() {
        match line.strip_prefix("- ") {
            Some(step) => steps.push(step.to_owned()),
            None if steps.is_empty() || line.is_empty() => {}
            None => return Err(Error::new(format!("line {} is no step: {line}", at + 1))),
        }
    }
    Ok(steps.into_iter().collect())
}

/// Everything that could differ between two runs, one step each.
pub(crate) fn surroundings(_raw: &str, goal: &str) -> Result<Plan> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let begin = Instant::now();
    let passed = (0..1_000).map(|_| begin.elapsed()).max().unwrap_or_default();
    let variables: Vec<_> = std::env::vars().collect();
    let steps = [
        format!("goal: {goal}"),
        format!("time: {now:?}, {passed:?} passed"),
        format!("random: {}", RandomState::new().hash_one(0)),
        format!("environment: {variables:?}"),
        format!("files: {}", std::fs::read_dir(notes::FOLDER).is_ok()),
        format!("storage: {:?}", capstan_sdk::store::keys("")),
    ];
    Ok(steps.into_iter().collect())
}
