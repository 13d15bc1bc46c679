//! One writer per file.
//!
//! The model may ask for several edits of one file in one round, and they run at the same time. Each reads, changes
//! and replaces the file; without a lock the last would undo the others. The locks belong to the process rather than
//! to a workspace, because two sessions of one host may work in the same folder.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use tokio::sync::OwnedMutexGuard;

/// Entries above which unused ones are swept out. Bounds the memory of a long session at a few kilobytes.
const SWEEP_ABOVE: usize = 64;

type Locks = HashMap<PathBuf, Weak<tokio::sync::Mutex<()>>>;

static LOCKS: LazyLock<Mutex<Locks>> = LazyLock::new(Mutex::default);

/// Waits until nobody else holds `real_path`. The path must have no links in it, or two names of a file are two files.
pub(crate) async fn lock(real_path: PathBuf) -> OwnedMutexGuard<()> {
    let entry = {
        // The map is whole at every point, so a panic of another holder does not matter.
        let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        if locks.len() > SWEEP_ABOVE {
            locks.retain(|_, lock| lock.strong_count() > 0);
        }
        let slot = locks.entry(real_path).or_default();
        slot.upgrade().unwrap_or_else(|| {
            let fresh = Arc::new(tokio::sync::Mutex::new(()));
            *slot = Arc::downgrade(&fresh);
            fresh
        })
    };
    entry.lock_owned().await
}
