//! Going on with a session of an older format.
//!
//! Its file is not touched: other programs may still want to read it as it is. The conversation goes on in a new file
//! beside it, which says where it came from. Whoever opens the old file again is brought to the new one.

use crate::disk::Disk;
use crate::error::io_failed;
use crate::file::{Notice, SessionFile};
use crate::find::{read_header, session_files};
use crate::header::Header;
use crate::scan::Scan;
use crate::writer::Barrier;
use capstan_ports::SessionError;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The header field that says of what a file is the continuation: the version, and how many bytes of it were there. When
/// the old file has grown since, because the older program went on with it, the continuation is a new one.
const MARK: &str = "migratedFrom";

impl SessionFile {
    /// Continues what was found in the file of an older version at `path`, in a file of the current one.
    pub(crate) fn migrate(path: &Path, disk: Arc<dyn Disk>, found: Scan) -> Result<Self, SessionError> {
        let failed = |error| io_failed(path, "look at the file", error);
        let path = fs::canonicalize(path).map_err(failed)?;
        let version = found.tree.header().version;
        let mark = json!({ "version": version, "bytes": disk.n_bytes().map_err(failed)? });
        let mut old = Self::settle(&path, disk, found, Some(Barrier::Asked))?;
        let continued = match continuation(&path, &mark) {
            Some(continuation) => Self::open(&continuation),
            None => match old.copy_beside(&mark) {
                Ok(new) => Ok(new),
                Err(error) => {
                    old.close(format!(
                        "it has the older format version {version}, and no new file could be written beside it \
                         ({error}); fork it to another place, or start a new session"
                    ));
                    return Ok(old);
                }
            },
        };
        let mut new = continued?;
        let migrated = Notice::Migrated { version, from: path };
        tracing::info!(path = %new.path().display(), "{migrated}");
        new.notices.splice(0..0, old.notices.into_iter().chain([migrated]));
        Ok(new)
    }

    fn copy_beside(&self, mark: &Value) -> Result<Self, SessionError> {
        let folder = self.path().parent().unwrap_or(Path::new("."));
        let (header, entries) = self.look(|tree| {
            let mut header: Header = self.header_of_copy(tree, Path::new(&tree.header().cwd))?;
            header.extra.insert(MARK.into(), mark.clone());
            Ok::<_, SessionError>((header, self.copies_of(tree)?))
        })?;
        Self::create_in(folder, header, entries)
    }
}

/// The file that this session is the continuation of in the current format, if it is one, and how many bytes it had.
pub(crate) fn migrated_from(header: &Header) -> Option<(PathBuf, u64)> {
    let bytes = header.extra.get(MARK)?.get("bytes")?.as_u64()?;
    Some((header.parent_session.as_ref()?.into(), bytes))
}

/// The file beside `path` that continues it, if there is one.
fn continuation(path: &Path, mark: &Value) -> Option<PathBuf> {
    // A folder that cannot be listed cannot be written to either, which is told then.
    let files = session_files(path.parent()?).ok()?;
    let mut found: Vec<_> = files
        .into_iter()
        .filter(|(file, _)| {
            read_header(file).is_ok_and(|header| {
                header.parent_session.as_deref() == path.to_str() && header.extra.get(MARK) == Some(mark)
            })
        })
        .collect();
    found.sort_by_key(|(file, modified)| (*modified, file.clone()));
    found.pop().map(|(file, _)| file)
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;
