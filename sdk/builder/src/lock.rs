//! One process at a time where two would do the same work or overwrite each other's files.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::error::BuilderError;

/// Takes a lock that the operating system releases with the process, whatever happens to it.
pub(crate) fn take_lock(path: &Path, on_wait: impl FnOnce()) -> Result<File, BuilderError> {
    let file = File::create(path).map_err(BuilderError::io("create", path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            on_wait();
            file.lock().map_err(BuilderError::io("lock", path))?;
        }
        Err(TryLockError::Error(source)) => return Err(BuilderError::io("lock", path)(source)),
    }
    Ok(file)
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
