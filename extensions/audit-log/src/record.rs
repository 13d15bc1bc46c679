//! The record: one key for each entry, in the order of time.

use capstan_sdk::prelude::*;
use capstan_sdk::store;

use crate::entry::Entry;

/// Before the keys of entries.
pub(crate) const PREFIX: &str = "call/";

/// Of a full storage this share of the entries makes room at once.
const MAKE_ROOM: usize = 10;

/// Adds entries, and removes the oldest above `most`.
pub(crate) fn add(entries: Vec<Entry>, most: usize) -> Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    for entry in &entries {
        match store::put(&entry.key(), entry) {
            Ok(()) => {}
            // The user has set more or longer entries than fit.
            Err(_) if drop_oldest(|count| count.div_ceil(MAKE_ROOM))? > 0 => store::put(&entry.key(), entry)?,
            Err(error) => return Err(error),
        }
    }
    drop_oldest(|count| count.saturating_sub(most))?;
    Ok(())
}

/// Removes as many of the oldest entries as `how_many` says for their number.
fn drop_oldest(how_many: impl Fn(usize) -> usize) -> Result<usize> {
    let keys = store::keys(PREFIX)?;
    let count = how_many(keys.len());
    for key in &keys[..count] {
        store::remove(key)?;
    }
    Ok(count)
}

/// The newest entries, the newest last.
pub(crate) fn shown(count: usize) -> Result<String> {
    let keys = store::keys(PREFIX)?;
    if keys.is_empty() {
        return Ok("Nothing is recorded yet.".to_owned());
    }
    let from = keys.len().saturating_sub(count);
    let mut lines = Vec::new();
    for key in &keys[from..] {
        // Another session may have removed it meanwhile.
        if let Some(entry) = store::load::<Entry>(key)? {
            lines.push(entry.line());
        }
    }
    lines.push(format!("{} of {} entries, times in UTC", lines.len(), keys.len()));
    Ok(lines.join("\n"))
}

/// Removes everything; answers how much that was.
pub(crate) fn clear() -> Result<usize> {
    drop_oldest(|count| count)
}
