//! Opening a SQLite file: for the user alone, safe beside other processes, and of a layout that is known.

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a change waits for another process to finish its own.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// What a file holds.
pub(crate) struct Layout {
    /// What makes the tables.
    pub(crate) tables: &'static str,
    /// Counts the layouts; a newer one is not touched.
    pub(crate) version: i32,
    /// `NORMAL`: sound after a power cut, without the changes of the last moment. `FULL`: with them.
    pub(crate) synchronous: &'static str,
}

/// Why a file cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it has layout {found}, this program knows layout {known}")]
    Newer { found: i32, known: i32 },
}

/// Between two questions to a file that is busy.
const PAUSE: Duration = Duration::from_millis(2);

const COMMON: OpenFlags = OpenFlags::SQLITE_OPEN_NO_MUTEX.union(OpenFlags::SQLITE_OPEN_NOFOLLOW);

/// Opens a file for reading and writing, and makes it, its folder and its tables where they are not there.
pub(crate) fn open(path: &Path, layout: &Layout, patience: Duration) -> Result<Connection, OpenError> {
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // SQLite would make the file with the usual rights; so it is made here, and SQLite's side files take over its rights.
    match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(reason) if reason.kind() != io::ErrorKind::AlreadyExists => return Err(reason.into()),
        Ok(_) | Err(_) => {}
    }
    let mut connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | COMMON)?;
    connection.busy_timeout(patience)?;
    write_ahead(&connection, patience)?;
    connection.pragma_update(None, "synchronous", layout.synchronous)?;
    if version(&connection)? == 0 {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have made them in between.
        if version(&transaction)? == 0 {
            transaction.execute_batch(layout.tables)?;
            transaction.pragma_update(None, "user_version", layout.version)?;
        }
        transaction.commit()?;
    }
    known(connection, layout)
}

/// Switches to the write-ahead log. Where two programs do that to a new file at the same time, SQLite answers one of them at once that
/// the file is busy, whatever the patience of its connection: waiting there could wait for ever. So it is asked again.
fn write_ahead(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    let began = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(reason) if is_busy(&reason) && began.elapsed() < patience => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
}

fn is_busy(reason: &rusqlite::Error) -> bool {
    reason.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

/// Opens a file that is there, for reading only: nothing of it can be changed through this connection. `None` while its maker
/// has put nothing into it yet.
pub(crate) fn open_read_only(
    path: &Path,
    layout: &Layout,
    patience: Duration,
) -> Result<Option<Connection>, OpenError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | COMMON)?;
    connection.busy_timeout(patience)?;
    if version(&connection)? == 0 {
        return Ok(None);
    }
    known(connection, layout).map(Some)
}

fn known(connection: Connection, layout: &Layout) -> Result<Connection, OpenError> {
    let found = version(&connection)?;
    if found != layout.version {
        return Err(OpenError::Newer { found, known: layout.version });
    }
    Ok(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
